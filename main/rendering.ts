/**
 * Whether the box renders with its GPU. After too many crashes of the GPU process it renders in software for a day, across
 * restarts. Stored in a file, because it must be known before Electron is ready and a supervisor passes no arguments on.
 */
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { dirname } from 'node:path';

/** How often the rest of the day is saved, in ms. */
export const STEP_MS = 10 * 60_000;
const DAY_STEPS = 144;

export interface Rendering {
  readonly isSoftware: boolean;
  /** Renders in software for a day, from the next start. @throws the system's error */
  disableGpu(): void;
  /**
   * Counts down by a step that the box ran; a clock may be years wrong until it is set.
   * @returns whether the day is over, so that the next start uses the GPU
   * @throws the system's error
   */
  step(): boolean;
}

/** @param path the file that holds the number of remaining steps */
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
  let remaining = read();
  return {
    isSoftware: remaining > 0,
    disableGpu: () => write(DAY_STEPS),
    step: () => {
      remaining -= 1;
      if (remaining > 0) write(remaining);
      else rmSync(path, { force: true });
      return remaining <= 0;
    },
  };
};
