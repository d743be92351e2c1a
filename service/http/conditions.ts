/** Conditional requests (RFC 9110, 13.1). Entity tags of this service are strong and hold no commas. */

const tagsOf = (list: string): string[] => list.split(',').map((tag) => tag.trim());

/** Weak comparison (RFC 9110, 8.8.3.2) of `If-None-Match` with the current entity tag. */
export const matchesWeakly = (list: string, etag: string): boolean =>
  list === etag || tagsOf(list).some((tag) => ['*', etag].includes(tag.replace(/^W\//, '')));

/** Strong comparison of `If-Match` with the current entity tag. */
const matchesStrongly = (list: string, etag: string): boolean => tagsOf(list).some((tag) => ['*', etag].includes(tag));

export interface Conditions {
  /** `If-Match`; empty: the header is absent. */
  match: string;
  /** `If-None-Match`; empty: the header is absent. */
  noneMatch: string;
}

/**
 * Whether the conditions of a state-changing request hold.
 * @param etag of the current representation, including the quotes; null: the resource does not exist
 */
export const areMet = ({ match, noneMatch }: Conditions, etag: string | null): boolean =>
  (match === '' || (etag !== null && matchesStrongly(match, etag))) &&
  (noneMatch === '' || etag === null || !matchesWeakly(noneMatch, etag));
