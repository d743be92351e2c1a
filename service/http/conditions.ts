/** Conditional requests (RFC 9110, 13.1). Entity tags of this service are strong and hold no commas. */

const tagsOf = (list: string): string[] => list.split(',').map((tag) => tag.trim());

/** Weak comparison (RFC 9110, 8.8.3.2) of `If-None-Match` with the entity tag of what is there. */
export const matchesWeakly = (list: string, etag: string): boolean =>
  list === etag || tagsOf(list).some((tag) => ['*', etag].includes(tag.replace(/^W\//, '')));

/** Strong comparison of `If-Match` with the entity tag of what is there. */
const matchesStrongly = (list: string, etag: string): boolean => tagsOf(list).some((tag) => ['*', etag].includes(tag));

export interface Conditions {
  /** `If-Match`; empty: there is none. */
  match: string;
  /** `If-None-Match`; empty: there is none. */
  noneMatch: string;
}

/**
 * Whether a request that changes something may be carried out.
 * @param etag with its quotes, of what is there; null: there is nothing
 */
export const areMet = ({ match, noneMatch }: Conditions, etag: string | null): boolean =>
  (match === '' || (etag !== null && matchesStrongly(match, etag))) &&
  (noneMatch === '' || etag === null || !matchesWeakly(noneMatch, etag));
