import type { IncomingMessage, Server } from 'node:http';

const ofTheOffer = /^(upgrade|http2-settings)$/i;

/** Events that Node's HTTP server listens for on a connection, and goes on listening for when it gives the socket away. */
const leftListeners = ['timeout', 'pause', 'resume'];

/**
 * Ignores the offer of another protocol (RFC 9110, 7.8), as Java's client and curl make it of HTTP/2. Node has taken the
 * socket out of its server's hands by then, so the request is put back on it without the offer, and read once more.
 * Every response before it must be over: the server does not remember them.
 */
export const ignoreOffer = (
  server: Server,
  { method, url, httpVersion, rawHeaders, socket }: IncomingMessage,
  head: Buffer,
): void => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!ofTheOffer.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  for (const event of leftListeners) socket.removeAllListeners(event);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
};
