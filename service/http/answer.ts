import { CodedError } from '../contract/errors.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { unavailability } from '../platform/store/disk.ts';
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
  const sentence = unavailability(error);
  return sentence === null ? new CodedError('internal_error') : new CodedError('storage_unavailable', sentence);
};

/**
 * Whether a request target, in absolute form where the gate has refused it, belongs to an API, whose errors are JSON, as
 * are those of the files of the root, which programs fetch.
 */
export const isApiPath = (target: string): boolean =>
  /^(?:[A-Za-z][A-Za-z\d+.-]*:\/\/[^/?#]*)?\/((console\/)?api([/?#]|$)|trust\/)/.test(target);

/**
 * The response for an error: JSON for API paths, plain text elsewhere.
 * @param isNavigation whether a person opens the address in a browser
 */
export const errorAnswer = (path: string, error: CodedError, isNavigation = false): Answer => {
  // Programs tell by its code that a medium is on its way, or that there is no root.
  const isCoded = error.code === 'media_not_ready' || (error.code === 'trust_unavailable' && !isNavigation);
  const isApi = isApiPath(path) || isCoded;
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
