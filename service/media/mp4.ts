import type { ReadAt } from './budget.ts';

/** A box's type, and the file offsets of its content. */
interface Box {
  type: string;
  from: number;
  to: number;
}

interface MovieFacts {
  width: number | null;
  height: number | null;
  duration: number | null;
}

/** The boxes between two offsets, one level deep (ISO/IEC 14496-12, 4.2). */
async function* boxes(readAt: ReadAt, from: number, to: number): AsyncGenerator<Box> {
  for (let at = from; at + 8 <= to; ) {
    const head = await readAt(at, 16);
    if (head.length < 8) return;
    const short = head.readUInt32BE(0);
    const isLong = short === 1 && head.length === 16;
    const length = isLong ? Number(head.readBigUInt64BE(8)) : short || to - at;
    const headLength = isLong ? 16 : 8;
    if (length < headLength) return;
    yield { type: head.toString('latin1', 4, 8), from: at + headLength, to: Math.min(at + length, to) };
    at += length;
  }
}

const find = async (readAt: ReadAt, type: string, within: Omit<Box, 'type'>): Promise<Box | undefined> => {
  for await (const box of boxes(readAt, within.from, within.to)) if (box.type === type) return box;
  return undefined;
};

/** The duration in seconds from a movie header (8.2.2); null if unknown, as in a fragmented file. */
const durationOf = (header: Buffer): number | null => {
  const isWide = header[0] === 1;
  if (header.length < (isWide ? 32 : 20)) return null;
  const unitsPerSecond = header.readUInt32BE(isWide ? 20 : 12);
  const units = isWide ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return unitsPerSecond > 0 && units > 0 ? units / unitsPerSecond : null;
};

/** The displayed size from a track header (8.3.2); null for a track without a picture. */
const pictureOf = (header: Buffer): { width: number; height: number } | null => {
  const matrix = header[0] === 1 ? 52 : 40;
  if (header.length < matrix + 44) return null;
  const width = header.readUInt32BE(matrix + 36) / 65536;
  const height = header.readUInt32BE(matrix + 40) / 65536;
  if (width === 0 || height === 0) return null;
  // Phones store portrait video as landscape plus a rotation matrix; a zero diagonal means a rotation by 90 degrees.
  const isTurned = header.readInt32BE(matrix) === 0 && header.readInt32BE(matrix + 16) === 0;
  return isTurned ? { width: height, height: width } : { width, height };
};

/**
 * Reads the metadata of an ISO base media file; null for values that are not found within the reader's budget.
 * @param length size of the file in bytes
 */
export const movieFacts = async (readAt: ReadAt, length: number): Promise<MovieFacts> => {
  const facts: MovieFacts = { width: null, height: null, duration: null };
  const movie = await find(readAt, 'moov', { from: 0, to: length });
  if (!movie) return facts;
  for await (const box of boxes(readAt, movie.from, movie.to)) {
    if (box.type === 'mvhd') facts.duration = durationOf(await readAt(box.from, 32));
    const track = box.type === 'trak' ? await find(readAt, 'tkhd', box) : undefined;
    const picture = track && pictureOf(await readAt(track.from, 96));
    if (picture) return { ...facts, ...picture };
  }
  return facts;
};
