import type { IncomingMessage, ServerResponse } from 'node:http';
import type { RouterContext } from '@koa/router';
import type { WebSocket } from 'ws';
import type { Admission, SignResponse } from '../auth/access.ts';
import type { Signer } from '../auth/person-keys.ts';
import type { Seal } from '../auth/seal.ts';
import type { BoundSignature } from '../auth/signatures.ts';
import type { OperationName, SocketName } from '../contract/operations/index.ts';
import type { SourceLog } from '../platform/source-log.ts';

export interface RequestState {
  /** The client address; behind a trusted proxy, the forwarded one. */
  clientIp: string;
  /** Rate-limited by client address; each line carries the request id. */
  log: SourceLog;
  /** The signed SHA-256 of the request body, hex; null if the request is not signed. */
  bodySha256: string | null;
  /** Null where the request is not signed. */
  signResponse: SignResponse | null;
  /** SHA-256 (hex) of a streamed body, if it is known before it is sent; such an answer is signed, too. */
  streamedSha256?: string;
  /** Encrypts and decrypts bodies; null if no box has signed the request. */
  seal: Seal | null;
  /** Null where the request is not signed, or names no recipient. */
  boundSignature: BoundSignature | null;
  /** Whether another box relays the request; it is carried out here alone, whichever box it is. */
  isRelayed: boolean;
  /** The person who has signed it with a key; null: the secret, a page, or nobody. */
  signer: Signer | null;
  /** Whether it may do what pages may, and no more. */
  isPage: boolean;
  /** Judges the person again; absent: none has signed it. */
  judgeAgain?: Admission['judgeAgain'];
  /** Whether the client uses https. */
  isSecure: boolean;
  /** Whether it comes from the box itself, by the token of this start. */
  isLocal: boolean;
  /** Whether the body of the request was encrypted. */
  isSealed: boolean;
  /** Called with the JSON object in the body, before it is acted on. */
  onBody?: (body: Readonly<Record<string, unknown>>) => Promise<void>;
}

export type Context = RouterContext<RequestState>;

/** The names of the parameters in a path pattern. */
type ParameterOf<Path extends string> = Path extends `${string}${':' | '*'}${infer Name}/${infer Rest}`
  ? Name | ParameterOf<`/${Rest}`>
  : Path extends `${string}${':' | '*'}${infer Name}`
    ? Name
    : never;

/** The context of an operation, with the parameters of its path typed. */
export type ContextOf<Name extends OperationName> = Context & { params: Record<ParameterOf<Name>, string> };

export type Handler = (ctx: Context) => unknown;

/** The handlers of a module, by operation. */
export type Routes = { readonly [Name in OperationName]?: (ctx: ContextOf<Name>) => unknown };

/**
 * Answers a GET or HEAD that needs no credentials, without the full application. @returns false if it is left to the
 * routes
 */
export type AnswerOpen = (request: IncomingMessage, response: ServerResponse) => boolean;

/** Takes ownership of a WebSocket after the upgrade. */
export type AcceptSocket = (socket: WebSocket) => void;

/**
 * The upgrade handlers of a module, by path. A handler receives the parameter of the path, and throws a CodedError to
 * reject the upgrade.
 */
export type Sockets = Partial<Record<SocketName, (request: IncomingMessage, parameter: string) => AcceptSocket>>;
