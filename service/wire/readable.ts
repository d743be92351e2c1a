/** Letters and digits that nobody takes for one another. */
const readable = '23456789abcdefghjkmnpqrstuvwxyz';

/** Bytes as an id that a person can read off a screen and type: `k7qm-3x9f-t2wd` of twelve, which is 59 bits. */
export const readableId = (bytes: Iterable<number>): string =>
  Array.from(bytes, (byte) => readable.charAt(byte % readable.length))
    .join('')
    .replace(/.{4}(?=.)/g, '$&-');
