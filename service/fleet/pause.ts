/** Pauses of a loop that can be cut short. */
export const createPause = () => {
  let isWoken = false;
  let end = (): void => undefined;
  return {
    /** Ends the pause, or the next one if there is none. */
    wake: (): void => {
      isWoken = true;
      end();
    },
    /** Forgets a wake for which no pause has ended yet. */
    clear: (): void => {
      isWoken = false;
    },
    /** Resolves after `ms`, when it is woken, or when `ended` is aborted. */
    wait: (ms: number, ended: AbortSignal): Promise<void> =>
      new Promise((resolve) => {
        const finish = (): void => {
          clearTimeout(timer);
          ended.removeEventListener('abort', finish);
          isWoken = false;
          end = () => undefined;
          resolve();
        };
        const timer = setTimeout(finish, ms);
        timer.unref();
        end = finish;
        ended.addEventListener('abort', finish);
        if (isWoken || ended.aborted) finish();
      }),
  };
};
