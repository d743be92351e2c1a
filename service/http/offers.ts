import type { IncomingMessage, Server } from 'node:http';
import type { Duplex } from 'node:stream';

const ofTheOffer = /^(upgrade|http2-settings)$/i;

/**
 * Ignores the offer of another protocol (RFC 9110, 7.8), as Java's client and curl make it of HTTP/2: Node has taken the
 * socket out of its server's hands by then, so the request is put back on it, without the offer, and read once more.
 */
export const ignoreOffer = (server: Server, request: IncomingMessage, socket: Duplex, head: Buffer): void => {
  const { method, url, httpVersion, rawHeaders } = request;
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!ofTheOffer.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
};
