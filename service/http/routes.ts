import type { IncomingMessage } from 'node:http';
import type { RouterContext } from '@koa/router';
import type { WebSocket } from 'ws';
import type { Vouch } from '../auth/access.ts';
import type { OperationName, SocketName } from '../contract/operations/index.ts';
import type { SourceLog } from '../platform/source-log.ts';

export interface RequestState {
  /** Where the request comes from; behind a trusted proxy, the forwarded address. */
  clientIp: string;
  /** Of the client's address; names the request in each line. */
  log: SourceLog;
  /** What the body of a signed request must hash to (SHA-256, hex); null where the request is not signed. */
  bodySha256: string | null;
  /** Signs the answer; null where the request is not signed. */
  vouch: Vouch | null;
}

export type Context = RouterContext<RequestState>;

/** The names of the parameters in a path. */
type ParameterOf<Path extends string> = Path extends `${string}${':' | '*'}${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}${':' | '*'}${infer Name}`
    ? Name
    : never;

/** A request for an operation: its path's parameters are there. */
export type ContextOf<Name extends OperationName> = Context & { params: Record<ParameterOf<Name>, string> };

/** Answers a request for any operation. */
export type Handler = (ctx: Context) => unknown;

/** What a module answers: handlers of operations, by their names. */
export type Routes = { readonly [Name in OperationName]?: (ctx: ContextOf<Name>) => unknown };

/** Takes over a socket that has been upgraded. */
export type AcceptSocket = (socket: WebSocket) => void;

/**
 * The sockets that a module takes, by their paths: what becomes of an upgrade request, given the parameter in its path.
 * A CodedError refuses it.
 */
export type Sockets = Partial<Record<SocketName, (request: IncomingMessage, parameter: string) => AcceptSocket>>;
