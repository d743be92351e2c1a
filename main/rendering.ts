/**
 * How the box draws. One whose GPU process was lost too often draws without it for a day, over restarts too: that is kept
 * in a file, since whoever starts the app anew passes no arguments on, and it must be known before Electron is ready.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

const DAY_MS = 24 * 60 * 60_000;

export interface Rendering {
  /** How long the box goes on without the GPU, ms; null: it has it. */
  readonly softwareMs: number | null;
  /** Draws without the GPU for a day, from the next start on. @throws the system's error */
  giveUpGpu(): void;
  /** Tries the GPU again, from the next start on. */
  tryGpu(): void;
}

/** What is left of a day that ends at `until`; null where it is over. A clock that was set back must not make it long. */
const leftOf = (until: number, now: number): number | null => (until > now ? Math.min(until - now, DAY_MS) : null);

/** @param path of the file, which holds the end of that day in ms since the epoch */
export const openRendering = (path: string, now = Date.now): Rendering => {
  const read = (): number => {
    try {
      return Number(readFileSync(path, 'utf8'));
    } catch {
      return 0;
    }
  };
  return {
    softwareMs: leftOf(read(), now()),
    giveUpGpu: () => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, String(now() + DAY_MS));
    },
    tryGpu: () => rmSync(path, { force: true }),
  };
};
