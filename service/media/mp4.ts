import type { FileHandle } from 'node:fs/promises';

interface Box {
  type: string;
  /** Where its content begins and ends in the file. */
  from: number;
  to: number;
}

/** Boxes looked at before giving up: far more than any film has before the ones that are wanted. */
const mostBoxes = 1000;

const read = async (handle: FileHandle, at: number, length: number): Promise<Buffer> => {
  const { buffer, bytesRead } = await handle.read(Buffer.alloc(length), 0, length, at);
  return buffer.subarray(0, bytesRead);
};

/** The boxes between two offsets, one level deep (ISO/IEC 14496-12, 4.2). */
async function* boxes(handle: FileHandle, from: number, to: number): AsyncGenerator<Box> {
  for (let at = from, count = 0; at + 8 <= to && count < mostBoxes; count += 1) {
    const head = await read(handle, at, 16);
    if (head.length < 8) return;
    const short = head.readUInt32BE(0);
    const long = short === 1 && head.length === 16;
    const length = long ? Number(head.readBigUInt64BE(8)) : short || to - at;
    const header = long ? 16 : 8;
    if (length < header) return;
    yield { type: head.toString('latin1', 4, 8), from: at + header, to: Math.min(at + length, to) };
    at += length;
  }
}

const find = async (handle: FileHandle, type: string, { from, to }: Omit<Box, 'type'>): Promise<Box | undefined> => {
  for await (const box of boxes(handle, from, to)) if (box.type === type) return box;
  return undefined;
};

/** Seconds, from a movie header; null where it is not known yet, as in a fragmented file. */
const durationOf = (header: Buffer): number | null => {
  const wide = header[0] === 1;
  if (header.length < (wide ? 32 : 20)) return null;
  const scale = header.readUInt32BE(wide ? 20 : 12);
  const units = wide ? Number(header.readBigUInt64BE(24)) : header.readUInt32BE(16);
  return scale > 0 && units > 0 ? units / scale : null;
};

/** The picture's size as it is shown, from a track header; null for a track that has none. */
const sizeOf = (header: Buffer): { width: number; height: number } | null => {
  const matrix = header[0] === 1 ? 52 : 40;
  if (header.length < matrix + 44) return null;
  const [width, height] = [header.readUInt32BE(matrix + 36) / 65536, header.readUInt32BE(matrix + 40) / 65536];
  if (width === 0 || height === 0) return null;
  // A phone held upright films lying down and says so in the matrix: nothing on its diagonal is a quarter turn.
  const turned = header.readInt32BE(matrix) === 0 && header.readInt32BE(matrix + 16) === 0;
  return turned ? { width: height, height: width } : { width, height };
};

/** What a film of the ISO base media family says of itself; nulls for what it doesn't. Bad files are never thrown on. */
export const movieFacts = async (
  handle: FileHandle,
  length: number,
): Promise<{ width: number | null; height: number | null; duration: number | null }> => {
  const movie = await find(handle, 'moov', { from: 0, to: length });
  if (!movie) return { width: null, height: null, duration: null };
  let duration: number | null = null;
  for await (const box of boxes(handle, movie.from, movie.to)) {
    if (box.type === 'mvhd') duration = durationOf(await read(handle, box.from, 32));
    if (box.type !== 'trak') continue;
    const header = await find(handle, 'tkhd', box);
    const size = header && sizeOf(await read(handle, header.from, 96));
    if (size) return { ...size, duration };
  }
  return { width: null, height: null, duration };
};
