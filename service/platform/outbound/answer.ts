/** What the headers of an answer say for the next time. */
import type { IncomingHttpHeaders } from 'node:http';

/** What tells whether something is still the same (RFC 9110, 8.8); null where the server doesn't say. */
export interface Validators {
  etag: string | null;
  lastModified: string | null;
}

/** What an answer says by which it is known again: its `ETag` and `Last-Modified`. */
export const validatorsOf = ({ etag, 'last-modified': lastModified }: IncomingHttpHeaders): Validators => ({
  etag: etag ?? null,
  lastModified: lastModified ?? null,
});

/** The headers of a request for what is another than that (RFC 9110, 13.1); the date is for servers that know no ETag. */
export const unlessSame = ({ etag, lastModified }: Validators): Record<string, string> => ({
  ...(etag === null ? {} : { 'If-None-Match': etag }),
  ...(lastModified === null ? {} : { 'If-Modified-Since': lastModified }),
});

/** The `Retry-After` of an answer, seconds or a date (RFC 9110, 10.2.3), in ms; 0 where it says none. */
export const pauseOf = ({ 'retry-after': said = '' }: IncomingHttpHeaders): number =>
  Math.max(0, (/^\d+$/.test(said) ? Number(said) * 1000 : Date.parse(said) - Date.now()) || 0);
