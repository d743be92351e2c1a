/** Letters and digits that nobody takes for one another. */
const readable = '23456789abcdefghjkmnpqrstuvwxyz';

const inGroups = (letters: string): string => letters.replace(/.{4}(?=.)/g, '$&-');

/** Bytes as an id that a person can read off a screen and type: `k7qm-3x9f-t2wd` of twelve, which is 59 bits. */
export const readableId = (bytes: Iterable<number>): string =>
  inGroups(Array.from(bytes, (byte) => readable.charAt(byte % readable.length)).join(''));

/**
 * The key that a device id is compared by. Case, spaces and dashes do not count in an id of {@link readableId}, which
 * people read off a screen and type; any other id is its own key.
 */
export const deviceKey = (deviceId: string): string => {
  const letters = deviceId.replace(/[\s-]/g, '').toLowerCase();
  return /^[2-9a-hjkmnp-z]{12}$/.test(letters) ? inGroups(letters) : deviceId;
};
