/** Derives a page's client id from a key that the page shows only to its own service. */

/** Prefix of every id that was derived from a key. */
export const keyedIdPrefix = 'key-';

/** @param sha256 returns the hex SHA-256 of a UTF-8 text */
export const clientIdOf = (clientKey: string, sha256: (text: string) => string): string =>
  keyedIdPrefix + sha256(clientKey).slice(0, 32);
