/** The pictures that cameras put into raw files for viewers: TIFF files (TIFF 6.0, TIFF/EP) with JPEGs in them. */
import type { FileHandle } from 'node:fs/promises';

/** A JPEG inside a file. */
export interface Preview {
  /** Bytes from the beginning of the file. */
  offset: number;
  length: number;
  /** How it is turned to be upright (Exif), 1 to 8. */
  orientation: number;
}

const MAX_DIRECTORIES = 32;
const MAX_ENTRIES = 512;
/** How much of a JPEG is searched for the beginning of its picture. */
const HEAD_BYTES = 64 * 1024;
const MAX_BYTES = 64 * 1024 ** 2;

const read = async (handle: FileHandle, offset: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, offset);
  return buffer.subarray(0, bytesRead);
};

/** Whether it is a JPEG that viewers show (ITU-T T.81, B.1.1.3): the raw picture itself is often a lossless one. */
const isShown = (head: Buffer): boolean => {
  if (head[0] !== 0xff || head[1] !== 0xd8) return false;
  for (let at = 2; at + 4 <= head.length && head[at] === 0xff; at += 2 + head.readUInt16BE(at + 2)) {
    const marker = head[at + 1] ?? 0;
    if (marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker)) return marker <= 0xc2;
  }
  return false;
};

/** Offset and length of the JPEG of Fujifilm, which is in front of everything else. */
const FUJIFILM = { magic: 'FUJIFILMCCD-RAW ', at: 84 };
/** A TIFF, or what Olympus and Panasonic have made of its number. */
const MAGIC: readonly number[] = [42, 0x4f52, 0x5352, 0x55];

/** Tags of TIFF 6.0 and of TIFF/EP. */
const tag = {
  panasonicJpeg: 0x2e,
  compression: 0x103,
  strips: 0x111,
  orientation: 0x112,
  stripBytes: 0x117,
  directories: 0x14a,
  jpeg: 0x201,
  jpegBytes: 0x202,
};

/** The largest picture for viewers in a raw file; null: there is none. */
export const findPreview = async (handle: FileHandle): Promise<Preview | null> => {
  const head = await read(handle, 0, 92);
  const found: { offset: number; length: number }[] = [];
  let orientation = 1;
  if (head.toString('latin1', 0, 16) === FUJIFILM.magic && head.length === 92) {
    found.push({ offset: head.readUInt32BE(FUJIFILM.at), length: head.readUInt32BE(FUJIFILM.at + 4) });
  } else if (head.length >= 8) {
    const isLittle = head.toString('latin1', 0, 2) === 'II';
    const u16 = (bytes: Buffer, at: number): number => (isLittle ? bytes.readUInt16LE(at) : bytes.readUInt16BE(at));
    const u32 = (bytes: Buffer, at: number): number => (isLittle ? bytes.readUInt32LE(at) : bytes.readUInt32BE(at));
    if (!MAGIC.includes(u16(head, 2))) return null;
    const queue = [u32(head, 4)];
    const seen = new Set<number>();
    for (let offset = queue.shift(); offset !== undefined; offset = queue.shift()) {
      if (offset === 0 || seen.has(offset) || seen.size >= MAX_DIRECTORIES) continue;
      seen.add(offset);
      const counted = await read(handle, offset, 2);
      if (counted.length < 2) continue;
      const count = Math.min(MAX_ENTRIES, u16(counted, 0));
      const entries = await read(handle, offset + 2, count * 12 + 4);
      const values = new Map<number, { count: number; value: number }>();
      for (let at = 0; at + 12 <= entries.length && at < count * 12; at += 12) {
        const isShort = u16(entries, at + 2) === 3;
        const value = isShort ? u16(entries, at + 8) : u32(entries, at + 8);
        values.set(u16(entries, at), { count: u32(entries, at + 4), value });
      }
      const of = (name: keyof typeof tag): number => values.get(tag[name])?.value ?? 0;
      if (seen.size === 1) orientation = of('orientation') || 1;
      found.push({ offset: of('jpeg'), length: of('jpegBytes') });
      if ([6, 7].includes(of('compression')) && values.get(tag.strips)?.count === 1) {
        found.push({ offset: of('strips'), length: of('stripBytes') });
      }
      found.push({ offset: of('panasonicJpeg'), length: values.get(tag.panasonicJpeg)?.count ?? 0 });
      const inner = values.get(tag.directories);
      if (inner?.count === 1) queue.push(inner.value);
      else if (inner !== undefined) {
        const list = await read(handle, inner.value, 4 * Math.min(inner.count, MAX_DIRECTORIES));
        for (let at = 0; at + 4 <= list.length; at += 4) queue.push(u32(list, at));
      }
      if (entries.length === count * 12 + 4) queue.push(u32(entries, count * 12));
    }
  }
  const sorted = found
    .filter(({ offset, length }) => offset > 0 && length > 0 && length <= MAX_BYTES)
    .toSorted((a, b) => b.length - a.length);
  for (const each of sorted) {
    const jpeg = await read(handle, each.offset, Math.min(HEAD_BYTES, each.length));
    if (isShown(jpeg)) return { ...each, orientation };
  }
  return null;
};

/** The bytes of a preview. @param most of them, from its beginning */
export const readPreview = (handle: FileHandle, { offset, length }: Preview, most = MAX_BYTES): Promise<Buffer> =>
  read(handle, offset, Math.min(length, most));
