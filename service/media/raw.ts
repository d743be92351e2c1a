/** The pictures that cameras put into raw files for viewers: TIFF files (TIFF 6.0, TIFF/EP) with JPEGs in them. */
import { readAt, type Source } from './headers/header.ts';
import { openTiff, orientationIn } from './headers/tiff.ts';

/** A JPEG inside a file. */
export interface Preview {
  /** Bytes from the beginning of the file. */
  offset: number;
  length: number;
  /** How it is turned to be upright (Exif), 1 to 8. */
  orientation: number;
}

const MAX_DIRECTORIES = 32;
/** How much of a JPEG is searched for the beginning of its picture. */
const HEAD_BYTES = 64 * 1024;
const MAX_BYTES = 64 * 1024 ** 2;

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
/** Tags of TIFF 6.0 and of TIFF/EP. */
const tag = {
  panasonicJpeg: 0x2e,
  compression: 0x103,
  strips: 0x111,
  stripBytes: 0x117,
  directories: 0x14a,
  jpeg: 0x201,
  jpegBytes: 0x202,
};

/** The largest picture for viewers in a raw file; null: there is none. */
export const findPreview = async (source: Source): Promise<Preview | null> => {
  const head = await readAt(source, 0, 92);
  const found: { offset: number; length: number }[] = [];
  let orientation = 1;
  if (head.toString('latin1', 0, 16) === FUJIFILM.magic && head.length === 92) {
    found.push({ offset: head.readUInt32BE(FUJIFILM.at), length: head.readUInt32BE(FUJIFILM.at + 4) });
  } else {
    const tiff = await openTiff(source);
    const queue = tiff === null ? [] : [tiff.first];
    const seen = new Set<number>();
    for (let offset = queue.shift(); tiff && offset !== undefined; offset = queue.shift()) {
      if (offset === 0 || seen.has(offset) || seen.size >= MAX_DIRECTORIES) continue;
      seen.add(offset);
      const directory = await tiff.directory(offset);
      if (directory === null) continue;
      const { entries, next } = directory;
      const of = (name: keyof typeof tag): number => entries.get(tag[name])?.value ?? 0;
      if (seen.size === 1) orientation = orientationIn(directory);
      found.push({ offset: of('jpeg'), length: of('jpegBytes') });
      if ([6, 7].includes(of('compression')) && entries.get(tag.strips)?.count === 1) {
        found.push({ offset: of('strips'), length: of('stripBytes') });
      }
      found.push({ offset: of('panasonicJpeg'), length: entries.get(tag.panasonicJpeg)?.count ?? 0 });
      const inner = entries.get(tag.directories);
      if (inner?.count === 1) queue.push(inner.value);
      else if (inner !== undefined) {
        queue.push(...(await tiff.longs(inner.value, Math.min(inner.count, MAX_DIRECTORIES))));
      }
      queue.push(next);
    }
  }
  const sorted = found
    .filter(({ offset, length }) => offset > 0 && length > 0 && length <= MAX_BYTES)
    .toSorted((a, b) => b.length - a.length);
  for (const each of sorted) {
    const jpeg = await readAt(source, each.offset, Math.min(HEAD_BYTES, each.length));
    if (isShown(jpeg)) return { ...each, orientation };
  }
  return null;
};

/** The bytes of a preview. */
export const readPreview = (source: Source, { offset, length }: Preview): Promise<Buffer> =>
  readAt(source, offset, length);
