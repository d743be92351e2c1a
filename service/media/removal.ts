/** Removes the files of deleted media, and tries again what could not be removed. */
import type { Logger } from 'pino';
import type { MediaDeletion } from '../contract/peer-media.ts';
import type { Deletions } from './deletions.ts';

interface Dependencies {
  deletions: Pick<Deletions, 'due' | 'done'>;
  /** Removes the files that the deletion of a name covers. @throws the system's error */
  remove(name: string): Promise<void>;
  log: Pick<Logger, 'warn'>;
}

export interface Removal {
  /** Removes what is due; resolves when all of it was tried. Never rejects. */
  run(): Promise<void>;
  /** Resolves when nothing is being removed any more. */
  close(): Promise<void>;
}

/** How often a file is tried that could not be removed: Windows may have it open. */
const RETRY_MS = 30_000;

export const createRemoval = ({ deletions, remove, log }: Dependencies): Removal => {
  let running: Promise<void> | null = null;
  let again = false;
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const retryLater = (names: readonly string[], err: unknown): void => {
    log.warn({ err, names: names.slice(0, 10), count: names.length }, 'files of deleted media could not be removed');
    if (!closed) timer = setTimeout(() => void run(), RETRY_MS).unref();
  };

  const removeDue = async (): Promise<void> => {
    clearTimeout(timer);
    const removed: MediaDeletion[] = [];
    const failed: string[] = [];
    let reason: unknown;
    for (const deletion of deletions.due()) {
      if (closed) break;
      await remove(deletion.name).then(
        () => removed.push(deletion),
        (error: unknown) => {
          failed.push(deletion.name);
          reason = error;
        },
      );
    }
    // One write for all: a site may delete thousands at once.
    if (removed.length > 0) await deletions.done(removed);
    if (failed.length > 0) retryLater(failed, reason);
  };

  const removeUntilCurrent = async (): Promise<void> => {
    while (again && !closed) {
      again = false;
      await removeDue().catch((error: unknown) => retryLater([], error));
    }
  };

  const run = (): Promise<void> => {
    again = true;
    running ??= removeUntilCurrent().finally(() => {
      running = null;
    });
    return running;
  };

  return {
    run,
    close: async () => {
      closed = true;
      clearTimeout(timer);
      await running;
    },
  };
};
