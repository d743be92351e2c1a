/** Colour profiles in the chunks of PNG (W3C, 11.3.2.3) and WebP files (RFC 9649, 2.7.1.4), which are in front of the picture. */
import { inflateSync } from 'node:zlib';
import { MAX_PROFILE_BYTES } from './header.ts';

/** @param head the first bytes of a file @returns null: it has none */
const pngProfile = (head: Buffer): Buffer | null => {
  for (let at = 8; at + 12 <= head.length; at += 12 + head.readUInt32BE(at)) {
    if (head.toString('latin1', at + 4, at + 8) !== 'iCCP') continue;
    const chunk = head.subarray(at + 8, at + 8 + head.readUInt32BE(at));
    // Behind its name and the number of the only compression.
    const packed = chunk.subarray(chunk.indexOf(0) + 2);
    return inflateSync(packed, { maxOutputLength: MAX_PROFILE_BYTES });
  }
  return null;
};

const webpProfile = (head: Buffer): Buffer | null => {
  for (let at = 12; at + 8 <= head.length; ) {
    const length = head.readUInt32LE(at + 4);
    if (head.toString('latin1', at, at + 4) === 'ICCP') return head.subarray(at + 8, at + 8 + length);
    at += 8 + length + (length % 2);
  }
  return null;
};

/** The profile in the first bytes of a file; null: it has no profile, or a damaged one. */
export const profileIn = (head: Buffer): Buffer | null => {
  try {
    if (head.toString('latin1', 1, 4) === 'PNG') return pngProfile(head);
    return head.toString('latin1', 8, 12) === 'WEBP' ? webpProfile(head) : null;
  } catch {
    return null;
  }
};
