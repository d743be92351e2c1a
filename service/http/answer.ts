/** What goes out where Koa is not, or no longer, in charge: errors, and answers that are ready to be written. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Vouch } from '../auth/access.ts';
import { answerHeader } from '../auth/sign.ts';
import { CodedError } from '../contract/errors.ts';
import { syncHeader } from '../contract/playlist.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { isUnavailable } from '../platform/store/disk.ts';
import { matchesWeakly } from './conditions.ts';
import { securityHeaders } from './headers.ts';

interface Answer {
  status: number;
  headers: Record<string, string | number>;
  body: string;
}

/** Errors that Koa and its libraries throw, by status: those that a client caused keep it, the rest are ours. */
const codeByStatus = {
  400: 'invalid_request',
  404: 'not_found',
  408: 'request_timeout',
  412: 'precondition_failed',
  413: 'payload_too_large',
  416: 'range_not_satisfiable',
} as const;

/** Makes an error one that a client may see; what is the service's own fault goes to the log in full. */
export const toCodedError = (error: unknown, log: Pick<SourceLog, 'error'>): CodedError => {
  if (error instanceof CodedError) return error;
  const { status, expose } = error as { status?: number; expose?: boolean };
  const code = expose ? codeByStatus[status as keyof typeof codeByStatus] : undefined;
  if (code !== undefined) return new CodedError(code, undefined, { cause: error });
  log.error({ err: error }, 'a request failed');
  return new CodedError(isUnavailable(error) ? 'storage_unavailable' : 'internal_error');
};

/** Whether a path, with its query, belongs to an API, whose errors are JSON. */
export const isApiPath = (path: string): boolean => /^\/(console\/)?api(\/|\?|$)/.test(path);

/** An error's answer: JSON under /api, a sentence elsewhere. */
export const errorAnswer = (path: string, error: CodedError): Answer => {
  const isApi = isApiPath(path);
  const body = isApi ? JSON.stringify(error) : `${error.message}\n`;
  return {
    status: error.status,
    headers: {
      ...securityHeaders,
      ...error.headers,
      'Content-Type': isApi ? 'application/json; charset=utf-8' : 'text/plain; charset=utf-8',
      'Content-Length': Buffer.byteLength(body),
      'Cache-Control': 'no-store',
    },
    body,
  };
};

const payloadHeaders = Object.entries({
  ...securityHeaders,
  'Content-Type': 'application/json; charset=utf-8',
  'Cache-Control': 'no-cache',
}).flat();

/**
 * Answers a playlist request from what is prepared: a comparison and one write.
 * @param vouch signs the answer; null: nobody asked
 */
/** A playlist payload that is ready to be written. */
export interface PreparedPayload {
  /** RFC 9110 entity tag, with its quotes. */
  etag: string;
  body: Buffer;
  /** Every page of the screen shows the same slide at the same time. */
  sync: boolean;
}

export const sendPayload = (
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { etag, body, sync }: PreparedPayload,
  vouch: Vouch | null,
): void => {
  const condition = headers['if-none-match'];
  const isKnown = condition !== undefined && matchesWeakly(condition, etag);
  const status = isKnown ? 304 : 200;
  const ready = [...payloadHeaders, 'ETag', etag];
  if (sync) ready.push(syncHeader, '1');
  if (vouch !== null) ready.push(answerHeader, vouch(status, isKnown ? '' : body));
  if (!isKnown) ready.push('Content-Length', String(body.length));
  response.writeHead(status, ready).end(isKnown || method === 'HEAD' ? undefined : body);
};
