import type { IncomingMessage, Server } from 'node:http';

const upgradeHeaders = /^(upgrade|http2-settings)$/i;

/** Socket events whose listeners Node's HTTP server leaves behind when it hands over a socket for an upgrade. */
const leftoverEvents = ['timeout', 'pause', 'resume'];

/**
 * Ignores an upgrade to another protocol (RFC 9110, 7.8), such as the HTTP/2 upgrade that Java's client and curl request.
 * Node has detached the socket from the server by then, so the request is pushed back without its upgrade headers and the
 * socket is handed to the server again. All earlier responses on it must be finished: the server has forgotten them.
 */
export const ignoreUpgrade = (
  server: Server,
  { method, url, httpVersion, rawHeaders, socket }: IncomingMessage,
  head: Buffer,
): void => {
  const lines = [`${method} ${url} HTTP/${httpVersion}`];
  for (let at = 0; at < rawHeaders.length; at += 2) {
    const name = rawHeaders[at] ?? '';
    if (!upgradeHeaders.test(name)) lines.push(`${name}: ${rawHeaders[at + 1]}`);
  }
  for (const event of leftoverEvents) socket.removeAllListeners(event);
  socket.unshift(Buffer.concat([Buffer.from(`${lines.join('\r\n')}\r\n\r\n`, 'latin1'), head]));
  server.emit('connection', socket);
};
