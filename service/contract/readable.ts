/** Letters and digits that can't be confused with each other. */
const readable = '23456789abcdefghjkmnpqrstuvwxyz';

const inGroups = (letters: string): string => letters.replace(/.{4}(?=.)/g, '$&-');

/** Encodes bytes as an id that a person can read and type: 12 bytes become `k7qm-3x9f-t2wd`, which has 59 bits. */
export const readableId = (bytes: Iterable<number>): string =>
  inGroups(Array.from(bytes, (byte) => readable.charAt(byte % readable.length)).join(''));

/**
 * The key for comparing device ids. Case, spaces and dashes are ignored in ids of {@link readableId}, which people type;
 * every other id is its own key.
 */
export const deviceKey = (deviceId: string): string => {
  const letters = deviceId.replace(/[\s-]/g, '').toLowerCase();
  return /^[2-9a-hjkmnp-z]{12}$/.test(letters) ? inGroups(letters) : deviceId;
};
