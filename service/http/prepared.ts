/** Preserialized responses: one comparison and one write each, without Koa. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SignResponse } from '../auth/access.ts';
import { matchesWeakly } from './conditions.ts';
import { securityHeaders, untransformed } from './headers.ts';

/** A JSON answer with an entity tag, its headers ready for `writeHead`. */
export interface PreparedAnswer {
  /** Entity tag (RFC 9110, 8.8.3), including the quotes. */
  readonly etag: string;
  readonly body: Buffer;
  /** Alternating names and values: of the 304, and of the 200. */
  readonly notModifiedHeaders: readonly string[];
  readonly headers: readonly string[];
}

const common = Object.entries({ ...securityHeaders, 'Content-Type': 'application/json; charset=utf-8' }).flat();

/**
 * @param bodyOf called once, when the body is first requested
 * @param headers further headers, alternating names and values
 */
export const prepareAnswer = (etag: string, bodyOf: () => Buffer, headers: readonly string[]): PreparedAnswer => {
  const notModifiedHeaders = [...common, ...headers, 'ETag', etag];
  let built: Pick<PreparedAnswer, 'body' | 'headers'> | undefined;
  const full = () => {
    if (built !== undefined) return built;
    const body = bodyOf();
    built = { body, headers: [...notModifiedHeaders, 'Content-Length', String(body.length)] };
    return built;
  };
  return {
    etag,
    notModifiedHeaders,
    get body() {
      return full().body;
    },
    get headers() {
      return full().headers;
    },
  };
};

/** The answer with further headers. @param more alternating names and values */
export const extendPrepared = (answer: PreparedAnswer, more: readonly string[]): PreparedAnswer => {
  let headers: readonly string[] | undefined;
  return {
    etag: answer.etag,
    notModifiedHeaders: [...answer.notModifiedHeaders, ...more],
    get body() {
      return answer.body;
    },
    get headers() {
      headers ??= [...answer.headers, ...more];
      return headers;
    },
  };
};

/** Whether the client has this answer already (RFC 9110, 13.1.2). */
export const isKnownTo = ({ headers }: IncomingMessage, { etag }: PreparedAnswer): boolean => {
  const condition = headers['if-none-match'];
  return condition !== undefined && matchesWeakly(condition, etag);
};

/** An item of a header list in which names and values alternate. */
const asProven = (item: string, index: number, items: readonly string[]): string =>
  index % 2 === 1 && items[index - 1] === 'Cache-Control' ? untransformed(item) : item;

/** @param signResponse null if the request is not signed */
export const sendPrepared = (
  request: IncomingMessage,
  response: ServerResponse,
  answer: PreparedAnswer,
  signResponse: SignResponse | null,
): void => {
  const isKnown = isKnownTo(request, answer);
  const hasBody = !isKnown && request.method !== 'HEAD';
  const status = isKnown ? 304 : 200;
  const ready = isKnown ? answer.notModifiedHeaders : answer.headers;
  const proof = Object.entries(signResponse?.(status, hasBody ? answer.body : '') ?? {}).flat();
  // Node only reads the array.
  response.writeHead(status, signResponse === null ? (ready as string[]) : [...ready.map(asProven), ...proof]);
  response.end(hasBody ? answer.body : undefined);
};
