/** How a page makes its client id from a key that it shows to its service alone. */

/** What every id begins with that was made from a key. */
export const keyedIdPrefix = 'key-';

/** @param sha256 the hash of a text in UTF-8, as hex */
export const clientIdOf = (clientKey: string, sha256: (text: string) => string): string =>
  keyedIdPrefix + sha256(clientKey).slice(0, 32);
