/** Response headers that control the next request. */
import type { IncomingHttpHeaders } from 'node:http';

/** Validators (RFC 9110, 8.8); null if the server sends none. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

export const validatorsOf = ({ etag, 'last-modified': lastModified }: IncomingHttpHeaders): Validators => ({
  etag: etag ?? null,
  lastModified: lastModified ?? null,
});

/** The headers of a conditional request (RFC 9110, 13.1); the date is for servers without ETag. */
export const unlessSame = ({ etag, lastModified }: Validators): Record<string, string> => ({
  ...(etag === null ? {} : { 'If-None-Match': etag }),
  ...(lastModified === null ? {} : { 'If-Modified-Since': lastModified }),
});

/** `Retry-After`, seconds or a date (RFC 9110, 10.2.3), in ms; 0 if it is absent. */
export const pauseOf = ({ 'retry-after': said = '' }: IncomingHttpHeaders): number =>
  Math.max(0, (/^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now()) || 0);

interface Details {
  /** Further attempts fail too until the operator changes something. Default: false. */
  lasting?: boolean;
  /** The pause that the server demands before the next attempt, ms. */
  pause?: number;
  cause?: unknown;
}

/** A failed fetch. The message is a clause for the operator, without the URL. */
export class FetchFault extends Error {
  override readonly name = 'FetchFault';
  readonly lasting: boolean;
  readonly pause: number;

  constructor(message: string, { lasting = false, pause = 0, cause }: Details = {}) {
    super(message, { cause });
    this.lasting = lasting;
    this.pause = pause;
  }
}
