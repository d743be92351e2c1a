/** Returns a function that runs one job at a time, in the order of the calls; a failed job does not stop the next. */
export const createQueue = (): (<Result>(job: () => Promise<Result>) => Promise<Result>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
};
