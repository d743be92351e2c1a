/** Runs at most `limit` jobs at a time; further ones wait, first in first out. */
export const createSlots = (limit: number) => {
  const waiting: (() => void)[] = [];
  let taken = 0;

  return {
    async run<Result>(job: () => Promise<Result>): Promise<Result> {
      if (taken < limit) taken += 1;
      else await new Promise<void>((resolve) => waiting.push(resolve));
      try {
        return await job();
      } finally {
        const next = waiting.shift();
        // The slot passes on to the next job.
        if (next === undefined) taken -= 1;
        else next();
      }
    },
  };
};
