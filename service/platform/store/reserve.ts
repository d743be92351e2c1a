import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { createQueue } from '../queue.ts';
import { type Disk, isFull } from './disk.ts';
import { writeDurably } from './file.ts';

/** Disk space that is reserved for the state, so that it can be written to a full disk. */
export type Reserve = ReturnType<typeof createReserve>;

interface Options {
  path: string;
  disk: Disk;
  log: Pick<Logger, 'warn'>;
  /** Default 4 MiB. */
  bytes?: number | undefined;
}

/** How often a released reserve is taken again. */
const RETAKE_MS = 60_000;

/** In the data directory. */
export const reserveFile = 'state.reserve';

const randomFill = promisify(randomBytes);

/**
 * Writes once more, with the space that is reserved, what a full disk has not taken.
 * @param reserve absent: it is written once
 * @throws what `write` throws
 */
export const writeWithReserve = async (
  reserve: Pick<Reserve, 'release'> | undefined,
  write: () => Promise<void>,
): Promise<void> => {
  try {
    await write();
  } catch (error) {
    if (reserve === undefined || !isFull(error)) throw error;
    await reserve.release();
    await write();
  }
};

export function createReserve({ path, disk, log, bytes = 4 * 1024 * 1024 }: Options) {
  let fault: string | null = null;
  let timer: NodeJS.Timeout | undefined;
  const enqueue = createQueue();

  const lose = (reason: string, err?: unknown): void => {
    if (fault !== reason) log.warn({ err }, reason);
    fault = reason;
  };

  async function make(): Promise<void> {
    const { size } = await disk.stat(path).catch(() => ({ size: 0 }));
    if (size !== bytes) {
      // Other programs need the last bytes of a disk more.
      if ((await disk.free(dirname(path))) < 2 * bytes) return lose('the disk is nearly full: no room to set aside');
      // Random, because a compressing file system would reserve nothing for zeros.
      await writeDurably(disk, path, 'w', await randomFill(bytes));
    }
    fault = null;
  }

  const take = (): Promise<void> =>
    enqueue(async () => {
      try {
        await make();
      } catch (error) {
        await disk.unlink(path).catch(() => {});
        lose('no room could be set aside on the disk', error);
      }
    });

  return {
    /** Reserves the space, unless it is reserved already or the disk is nearly full. Never rejects. */
    take,
    /** Releases the space for a write that needs it. Never rejects. */
    release: (): Promise<void> =>
      enqueue(async () => {
        lose('the disk is full: the room that was set aside for the state is in use');
        await disk.unlink(path).catch(() => {});
        // Some file systems reuse freed blocks only once the removal is durable.
        await disk.syncFolder(dirname(path)).catch(() => {});
      }),
    /** Takes the space now, and again every minute, in case it was released, here or by another part of the player. */
    hold: (): void => {
      void take();
      timer = setInterval(() => void take(), RETAKE_MS).unref();
    },
    faults: (): string[] => (fault === null ? [] : [fault]),
    /** Ends {@link hold}; resolves when no operation of the disk is in progress. */
    close: (): Promise<void> => {
      clearInterval(timer);
      return enqueue(async () => {});
    },
  };
}
