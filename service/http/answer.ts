/** Responses written without Koa: errors, and prepared playlist payloads. */
import type { IncomingMessage, ServerResponse } from 'node:http';
import type { SignResponse } from '../auth/access.ts';
import { CodedError } from '../contract/errors.ts';
import { syncHeader } from '../contract/playlist.ts';
import { answerHeader } from '../domain/request-signature.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { isUnavailable } from '../platform/store/disk.ts';
import { matchesWeakly } from './conditions.ts';
import { securityHeaders } from './headers.ts';

interface Answer {
  status: number;
  headers: Record<string, string | number>;
  body: string;
}

/** Codes of the client errors that Koa and its libraries throw, by status. Any other error is internal. */
const codeByStatus = {
  400: 'invalid_request',
  404: 'not_found',
  408: 'request_timeout',
  412: 'precondition_failed',
  413: 'payload_too_large',
  416: 'range_not_satisfiable',
} as const;

/** Converts an error to one that is safe to send. Internal errors are logged in full. */
export const toCodedError = (error: unknown, log: Pick<SourceLog, 'error'>): CodedError => {
  if (error instanceof CodedError) return error;
  const { status, expose } = error as { status?: number; expose?: boolean };
  const code = expose ? codeByStatus[status as keyof typeof codeByStatus] : undefined;
  if (code !== undefined) return new CodedError(code, undefined, { cause: error });
  log.error({ err: error }, 'a request failed');
  return new CodedError(isUnavailable(error) ? 'storage_unavailable' : 'internal_error');
};

/** Whether a request target (path and query) belongs to an API, whose errors are JSON. */
export const isApiPath = (path: string): boolean => /^\/(console\/)?api(\/|\?|$)/.test(path);

/** The response for an error: JSON for API paths, plain text elsewhere. */
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

/** A serialized playlist payload. */
export interface PreparedPayload {
  /** Entity tag (RFC 9110, 8.8.3), including the quotes. */
  etag: string;
  body: Buffer;
  /** Whether all pages of the screen show the same slide at the same time. */
  sync: boolean;
}

/**
 * Answers a playlist request from its prepared payload: one comparison and one write.
 * @param signResponse null where the request is not signed
 */
export const sendPayload = (
  { method, headers }: IncomingMessage,
  response: ServerResponse,
  { etag, body, sync }: PreparedPayload,
  signResponse: SignResponse | null,
): void => {
  const condition = headers['if-none-match'];
  const isKnown = condition !== undefined && matchesWeakly(condition, etag);
  const status = isKnown ? 304 : 200;
  const ready = [...payloadHeaders, 'ETag', etag];
  if (sync) ready.push(syncHeader, '1');
  if (signResponse !== null) ready.push(answerHeader, signResponse(status, isKnown ? '' : body));
  if (!isKnown) ready.push('Content-Length', String(body.length));
  response.writeHead(status, ready).end(isKnown || method === 'HEAD' ? undefined : body);
};
