import type { FileHandle } from 'node:fs/promises';
import { inflateSync } from 'node:zlib';

/** What headers are read from. */
export type Source = Pick<FileHandle, 'read'>;

/** @returns shorter at the end of the file */
export const readAt = async (source: Source, offset: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await source.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
};

/** What the header of a picture tells. */
export interface PictureHeader {
  /** Pixels as stored; null: not known. */
  width: number | null;
  height: number | null;
  /** How it is turned to be upright (Exif), 1 to 8. */
  orientation: number;
  isCmyk: boolean;
  isAnimated: boolean;
  /** Its colour profile (ICC.1:2022); null: it has none, or a longer one than {@link MAX_PROFILE_BYTES}. */
  icc: Buffer | null;
}

export const unknownHeader: PictureHeader = {
  width: null,
  height: null,
  orientation: 1,
  isCmyk: false,
  isAnimated: false,
  icc: null,
};

/** Profiles of tables, which printers need, are larger. */
export const MAX_PROFILE_BYTES = 256 * 1024;

/** In the chunks of PNG (W3C, 11.3.2.3), which are in front of the picture. @param head the first bytes of a file @returns null: it has none */
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

/** The same of WebP (RFC 9649, 2.7.1.4). */
const webpProfile = (head: Buffer): Buffer | null => {
  for (let at = 12; at + 8 <= head.length; ) {
    const length = head.readUInt32LE(at + 4);
    if (head.toString('latin1', at, at + 4) === 'ICCP') return head.subarray(at + 8, at + 8 + length);
    at += 8 + length + (length % 2);
  }
  return null;
};

/** The colour profile in the first bytes of a PNG or WebP file; null: it has no profile, or a damaged one. */
export const profileIn = (head: Buffer): Buffer | null => {
  try {
    if (head.toString('latin1', 1, 4) === 'PNG') return pngProfile(head);
    return head.toString('latin1', 8, 12) === 'WEBP' ? webpProfile(head) : null;
  } catch {
    return null;
  }
};
