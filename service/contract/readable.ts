/** Ids, codes and texts that people read and type. */

/** At most `limit` UTF-16 code units of a text, cut between two code points. */
export const cutBetween = (text: string, limit: number): string =>
  text.length <= limit ? text : text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '');

const inGroups = (letters: string): string => letters.replace(/.{4}(?=.)/g, '$&-');

/** Douglas Crockford's base 32: no I, L, O and U. */
const crockfordDigits = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

/** Encodes bytes in Crockford's base 32; their bits should be a multiple of five. */
export const crockford = (bytes: Iterable<number>): string => {
  const bits = Array.from(bytes, (byte) => byte.toString(2).padStart(8, '0')).join('');
  return (bits.match(/.{5}/g) ?? []).map((five) => crockfordDigits.charAt(Number.parseInt(five, 2))).join('');
};

/** An id that is derived from the key of a page, as it is or in groups of four, as people see it. */
const provableId = /^(?:[0-9A-HJKMNP-TV-Z]{4}[\s-]*){4}$/i;

/** Whether the id is derived from the key of a page, so that only that page can prove that it is the device. */
export const isProvableId = (deviceId: string): boolean => provableId.test(deviceId);

/**
 * The form of a device id in records, answers, signatures and comparisons. Case, spaces and dashes are ignored in ids that
 * are derived from a key, which people type; every other id is as it is.
 */
export const canonicalDeviceId = (deviceId: string): string =>
  isProvableId(deviceId) ? deviceId.replace(/[\s-]/g, '').toUpperCase() : deviceId;

/** A device id as people see it: those that are derived from a key in groups of four, `4K7Q-M3X9-FT2W-D0AZ`. */
export const shownDeviceId = (deviceId: string): string =>
  isProvableId(deviceId) ? inGroups(canonicalDeviceId(deviceId)) : deviceId;

/** A claim code as a person types it, in its canonical form: no spaces and dashes, upper case, and O, I and L as digits. */
export const canonicalClaim = (typed: string): string =>
  typed.replace(/[\s-]/g, '').toUpperCase().replaceAll('O', '0').replace(/[IL]/g, '1');

/** A claim code as people see it: `4K7Q-M3X9-FT`. */
export const shownClaim = (code: string): string => inGroups(canonicalClaim(code));
