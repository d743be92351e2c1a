/** The header of a JPEG (ITU-T T.81), wherever in the file it ends: profiles and previews may be in front of the size. */
import { MAX_PROFILE_BYTES, type PictureHeader, readAt, type Source, unknownHeader } from './header.ts';
import { openTiff, orientationIn } from './tiff.ts';

/** A profile of 16 MiB has 256; each takes a read. */
const MAX_SEGMENTS = 1_024;
const EXIF = 'Exif\0\0';
/** In front of the number of a piece of a profile, and of how many there are (ICC.1:2022, B.4). */
const ICC = 'ICC_PROFILE\0';

const isFrame = (marker: number): boolean => marker >= 0xc0 && marker <= 0xcf && ![0xc4, 0xc8, 0xcc].includes(marker);

/** @param base where it begins in the file */
export const readJpeg = async (source: Source, base = 0): Promise<PictureHeader> => {
  const header = { ...unknownHeader };
  const pieces: { at: number; length: number }[] = [];
  let orientation: number | undefined;
  let at = base + 2;
  for (let count = 0; count < MAX_SEGMENTS; count++) {
    const head = await readAt(source, at, 18);
    // Any number of fill bytes may be in front of a marker.
    if (head[0] === 0xff && head[1] === 0xff) {
      at += 1;
      continue;
    }
    const marker = head[1] ?? 0;
    if (head.length < 10 || head[0] !== 0xff || marker === 0xda) break;
    const length = head.readUInt16BE(2);
    if (isFrame(marker)) {
      header.height = head.readUInt16BE(5) || null;
      header.width = head.readUInt16BE(7) || null;
      header.isCmyk = head[9] === 4;
      break;
    }
    const name = head.toString('latin1', 4);
    if (marker === 0xe1 && orientation === undefined && name.startsWith(EXIF)) {
      const tiff = await openTiff(source, at + 10);
      orientation = orientationIn(await tiff?.directory(tiff.first));
    }
    // They stand in their order.
    if (marker === 0xe2 && name.startsWith(ICC)) pieces.push({ at: at + 18, length: Math.max(0, length - 16) });
    at += 2 + length;
  }
  header.orientation = orientation ?? 1;
  const total = pieces.reduce((sum, { length }) => sum + length, 0);
  if (total > 0 && total <= MAX_PROFILE_BYTES) {
    header.icc = Buffer.concat(await Promise.all(pieces.map((piece) => readAt(source, piece.at, piece.length))));
  }
  return header;
};
