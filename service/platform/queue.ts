/** Does one job at a time, in the order in which they are asked for, whatever becomes of those before. */
export const createQueue = (): (<Result>(job: () => Promise<Result>) => Promise<Result>) => {
  let last: Promise<unknown> = Promise.resolve();
  return (job) => {
    const done = last.then(job);
    last = done.catch(() => undefined);
    return done;
  };
};
