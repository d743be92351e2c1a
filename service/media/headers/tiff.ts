/** TIFF files (TIFF 6.0), which Exif (CIPA DC-008) is inside other files, and what cameras have made of them. */
import { MAX_PROFILE_BYTES, type PictureHeader, readAt, type Source, unknownHeader } from './header.ts';

/** `value`: the number itself, or where several are, from the beginning of the TIFF. */
export interface Entry {
  count: number;
  value: number;
}

interface Directory {
  entries: ReadonlyMap<number, Entry>;
  /** Where the next one is; 0: there is none. */
  next: number;
}

/** A TIFF, or what Olympus and Panasonic have made of its number. */
const MAGIC: readonly number[] = [42, 0x4f52, 0x5352, 0x55];
const MAX_ENTRIES = 512;
const SHORT = 3;

/** Tags of TIFF 6.0, and of ICC.1:2022, B.3. */
const tag = { width: 0x100, height: 0x101, orientation: 0x112, profile: 0x8773 };

/** @param base where the TIFF begins in the file @returns null: it is none */
export const openTiff = async (source: Source, base = 0) => {
  const head = await readAt(source, base, 8);
  if (head.length < 8) return null;
  const isLittle = head.toString('latin1', 0, 2) === 'II';
  const u16 = (bytes: Buffer, at: number): number => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
  const u32 = (bytes: Buffer, at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
  if (!MAGIC.includes(u16(head, 2))) return null;
  return {
    /** Where the first directory is. */
    first: u32(head, 4),
    /** @returns null: it is behind the end of the file */
    async directory(offset: number): Promise<Directory | null> {
      const counted = await readAt(source, base + offset, 2);
      if (counted.length < 2) return null;
      const length = 12 * Math.min(MAX_ENTRIES, u16(counted, 0));
      const bytes = await readAt(source, base + offset + 2, length + 4);
      const entries = new Map<number, Entry>();
      for (let at = 0; at + 12 <= Math.min(length, bytes.length); at += 12) {
        const value = u16(bytes, at + 2) === SHORT ? u16(bytes, at + 8) : u32(bytes, at + 8);
        entries.set(u16(bytes, at), { count: u32(bytes, at + 4), value });
      }
      return { entries, next: bytes.length === length + 4 ? u32(bytes, length) : 0 };
    },
    /** Numbers of 32 bits. */
    async longs(offset: number, count: number): Promise<number[]> {
      const bytes = await readAt(source, base + offset, 4 * count);
      return Array.from({ length: Math.floor(bytes.length / 4) }, (_, index) => u32(bytes, 4 * index));
    },
  };
};

/** How the picture of a directory is turned to be upright (Exif), 1 to 8. */
export const orientationIn = (directory: Directory | null | undefined): number => {
  const { value = 1 } = directory?.entries.get(tag.orientation) ?? {};
  return value >= 1 && value <= 8 ? value : 1;
};

/** Wherever its directory and its profile lie. */
export const readTiff = async (source: Source): Promise<PictureHeader> => {
  const tiff = await openTiff(source);
  const directory = await tiff?.directory(tiff.first);
  const numberOf = (name: number): number | null => directory?.entries.get(name)?.value || null;
  const icc = directory?.entries.get(tag.profile);
  return {
    ...unknownHeader,
    width: numberOf(tag.width),
    height: numberOf(tag.height),
    orientation: orientationIn(directory),
    icc: icc === undefined || icc.count > MAX_PROFILE_BYTES ? null : await readAt(source, icc.value, icc.count),
  };
};
