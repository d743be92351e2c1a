import type { IncomingMessage } from 'node:http';
import type { RouterContext } from '@koa/router';
import type { Logger } from 'pino';
import type { WebSocket } from 'ws';
import type { Vouch } from '../auth/access.ts';
import type { RouteName, SocketName } from '../auth/policy.ts';

export interface RequestState {
  /** Where the request comes from; behind a trusted proxy, the forwarded address. */
  clientIp: string;
  /** Names the request in every line that it causes. */
  log: Logger;
  /** What the body of a signed request must hash to (SHA-256, hex); null where the request is not signed. */
  bodySha256: string | null;
  /** Signs the answer; null where the request is not signed. */
  vouch: Vouch | null;
}

export type Context = RouterContext<RequestState>;

/** What a room of the house answers: its routes, by their names in the policy. */
export type Routes = Partial<Record<RouteName, (ctx: Context) => unknown>>;

/** Takes over a socket that has been upgraded. */
export type AcceptSocket = (socket: WebSocket) => void;

/**
 * The sockets that a room takes, by their names in the policy: what becomes of an upgrade request, given what stands in
 * its path. A CodedError refuses it.
 */
export type Sockets = Partial<Record<SocketName, (request: IncomingMessage, parameter: string) => AcceptSocket>>;
