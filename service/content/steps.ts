/** Bounds the work of a check, which grows with the product of what a document names: the box does nothing else meanwhile. */

/** Far more than documents of people need, and a second or two of a small machine. */
const MOST_STEPS = 5_000_000;

class TooManySteps extends Error {}

/** Adds steps that are about to be done. */
export type CountSteps = (steps: number) => void;

/** Checks whose steps are counted together. */
export const createSteps = () => {
  let done = 0;
  return {
    /** @throws TooManySteps, which `within` expects */
    count: (steps: number): void => {
      done += steps;
      if (done > MOST_STEPS) throw new TooManySteps();
    },
    /** What `check` returns; where that would take too many steps, what `refuse` makes of the reason. */
    within: <Result>(check: () => Result, refuse: (message: string) => Result): Result => {
      done = 0;
      try {
        return check();
      } catch (error) {
        if (!(error instanceof TooManySteps)) throw error;
        return refuse(
          'there are too many combinations of screens, programmes and nested playlists to check: nest fewer playlists in each other, or have fewer programmes for each screen',
        );
      }
    },
  };
};
