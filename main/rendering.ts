/**
 * How the box draws. One whose GPU process was lost too often draws without it for a day, over restarts too: that is kept
 * in a file, since whoever starts the app anew passes no arguments on, and it must be known before Electron is ready.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** How often what is left of the day is written down, ms. */
export const STEP_MS = 10 * 60_000;
const DAY_STEPS = 144;

export interface Rendering {
  /** Whether it draws without the GPU. */
  readonly isSoftware: boolean;
  /** Draws without the GPU for a day, from the next start on. @throws the system's error */
  giveUpGpu(): void;
  /**
   * Counts down by a step that the box ran: not by a clock, which may be years wrong until it is set.
   * @returns whether the day is over: the GPU is tried again with the next start
   * @throws the system's error
   */
  step(): boolean;
}

/** @param path of the file, which holds the steps that are left of that day */
export const openRendering = (path: string): Rendering => {
  const read = (): number => {
    try {
      return Math.min(DAY_STEPS, Math.floor(Number(readFileSync(path, 'utf8')))) || 0;
    } catch {
      return 0;
    }
  };
  const write = (steps: number): void => {
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, String(steps));
  };
  let left = read();
  return {
    isSoftware: left > 0,
    giveUpGpu: () => write(DAY_STEPS),
    step: () => {
      left -= 1;
      if (left > 0) write(left);
      else rmSync(path, { force: true });
      return left <= 0;
    },
  };
};
