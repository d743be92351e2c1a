/** Reads files of lines of any size in pieces. */
import { createReadStream } from 'node:fs';
import { isMissing } from '../../platform/store/disk.ts';

/** A line of a file, without its line end. */
export interface Line {
  text: string;
  /** Bytes from the start of the file. */
  offset: number;
  /** Bytes. */
  length: number;
}

const NEWLINE = 0x0a;

/** The whole lines of a file between two offsets, a few at a time. A deleted file has none. */
export async function* readLines(path: string, start: number, end: number): AsyncGenerator<Line[]> {
  if (end <= start) return;
  let rest = Buffer.alloc(0);
  let offset = start;
  try {
    for await (const chunk of createReadStream(path, { start, end: end - 1, highWaterMark: 64 * 1024 })) {
      const bytes = Buffer.concat([rest, chunk as Buffer]);
      const lines: Line[] = [];
      let from = 0;
      for (let to = bytes.indexOf(NEWLINE); to !== -1; to = bytes.indexOf(NEWLINE, from)) {
        lines.push({ text: bytes.toString('utf8', from, to), offset: offset + from, length: to - from });
        from = to + 1;
      }
      rest = bytes.subarray(from);
      offset += from;
      yield lines;
    }
  } catch (error) {
    if (!isMissing(error)) throw error;
  }
}
