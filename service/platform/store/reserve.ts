import { randomBytes } from 'node:crypto';
import { dirname } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { createQueue } from '../queue.ts';
import type { Disk } from './disk.ts';
import { writeDurably } from './file.ts';

/** Room on the disk that is set aside for the state, so that a full disk does not stop it from being written. */
export interface Reserve {
  /** Takes the room, unless it is held already or the disk has little left. Never rejects. */
  take(): Promise<void>;
  /** Gives the room back, for the write that needs it now. Never rejects. */
  release(): Promise<void>;
  faults(): string[];
}

interface Options {
  path: string;
  disk: Disk;
  log: Pick<Logger, 'warn'>;
  /** Default 4 MiB. */
  bytes?: number;
}

const randomFill = promisify(randomBytes);

export function createReserve({ path, disk, log, bytes = 4 * 1024 * 1024 }: Options): Reserve {
  let held = false;
  let fault: string | null = null;
  const inTurn = createQueue();

  const lose = (reason: string, err?: unknown): void => {
    held = false;
    if (fault !== reason) log.warn({ err }, reason);
    fault = reason;
  };

  async function make(): Promise<void> {
    const { size } = await disk.stat(path).catch(() => ({ size: 0 }));
    if (size !== bytes) {
      // The last bytes of a disk are of more use to others.
      if ((await disk.free(dirname(path))) < 2 * bytes) return lose('the disk is nearly full: no room to set aside');
      // Random, because a file system that compresses would set nothing aside for zeros.
      await writeDurably(disk, path, 'w', await randomFill(bytes));
    }
    held = true;
    fault = null;
  }

  return {
    take: () =>
      inTurn(async () => {
        if (held) return;
        try {
          await make();
        } catch (error) {
          await disk.unlink(path).catch(() => {});
          lose('no room could be set aside on the disk', error);
        }
      }),
    release: () =>
      inTurn(async () => {
        lose('the disk is full: the room that was set aside for the state is in use');
        await disk.unlink(path).catch(() => {});
        // Some file systems hand out freed blocks only once the removal is on disk.
        await disk.syncFolder(dirname(path)).catch(() => {});
      }),
    faults: () => (fault === null ? [] : [fault]),
  };
}
