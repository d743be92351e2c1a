import { pageAuthHeader } from '../contract/page.ts';
import { tokenProtocol } from '../contract/socket.ts';
import type { HeaderLines } from './signatures.ts';

/**
 * The headers of an upgrade request, with its page token in the header that other requests use. A browser cannot set
 * headers on a WebSocket, so it sends the token as a second subprotocol, `token.TOKEN` (RFC 6455, 4.1).
 */
export const upgradeHeaders = (headers: HeaderLines): HeaderLines => {
  const tokens = (headers['sec-websocket-protocol'] ?? [])
    .flatMap((line) => line.split(','))
    .map((protocol) => protocol.trim())
    .filter((protocol) => protocol.startsWith(tokenProtocol))
    .map((protocol) => protocol.slice(tokenProtocol.length));
  return tokens.length === 0
    ? headers
    : { ...headers, [pageAuthHeader]: [...(headers[pageAuthHeader] ?? []), ...tokens] };
};
