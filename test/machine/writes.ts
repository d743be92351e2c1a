/** What was written to a disk, in its order: the log of QEMU's blklogwrites, in the format of the kernel's dm-log-writes. */
import { closeSync, openSync, readSync } from 'node:fs';

const MAGIC = 0x6a736677736872n;
const SECTOR = 512;
const DISCARD = 4n;

export interface Write {
  /** Byte on the disk. */
  at: number;
  /** Null: zeros, as a discard leaves them. */
  bytes: Buffer | null;
  length: number;
}

/** @throws Error if it is no such log */
export const readWrites = function* (log: string): Generator<Write> {
  const file = openSync(log, 'r');
  const read = (at: number, length: number): Buffer => {
    const bytes = Buffer.alloc(length);
    return bytes.subarray(0, readSync(file, bytes, 0, length, at));
  };
  try {
    const head = read(0, SECTOR);
    if (head.readBigUInt64LE(0) !== MAGIC || head.readUInt32LE(24) !== SECTOR)
      throw new Error(`${log} is no log of writes`);
    let at = SECTOR;
    for (let left = head.readBigUInt64LE(16); left > 0n; left -= 1n) {
      const entry = read(at, SECTOR);
      const [sector, count, flags] = [0, 8, 16].map((offset) => entry.readBigUInt64LE(offset)) as [
        bigint,
        bigint,
        bigint,
      ];
      at += SECTOR;
      const length = Number(count) * SECTOR;
      const isDiscard = (flags & DISCARD) !== 0n;
      if (length > 0) yield { at: Number(sector) * SECTOR, length, bytes: isDiscard ? null : read(at, length) };
      if (!isDiscard) at += length;
    }
  } finally {
    closeSync(file);
  }
};
