import { createHash } from 'node:crypto';

/** Letters and digits that nobody takes for one another. */
const readable = '23456789abcdefghjkmnpqrstuvwxyz';

/** The box's device id, made of its node id: as lasting, and such that a person can read it off the screen and type it. */
export const boxIdOf = (nodeId: string): string =>
  [...createHash('sha256').update(nodeId).digest().subarray(0, 12)]
    .map((byte) => readable.charAt(byte % readable.length))
    .join('')
    .replace(/.{4}(?=.)/g, '$&-');
