/** Limits concurrent work on the network: in total, per host, and with a gap between starts for one host. */

interface Limits {
  /** The limit of concurrent work. */
  total: number;
  /** The limit of concurrent work for one host. */
  perHost: number;
  /** The minimum time between two starts for one host, in ms. */
  gapMs: number;
}

interface Waiting {
  host: string;
  go: () => void;
}

/**
 * A limiter for work that calls hosts. Work starts in the order of the calls, but work that waits for its own host does not
 * block work for other hosts.
 */
export const createTurns = ({ total, perHost, gapMs }: Limits) => {
  const running = new Map<string, number>();
  const startedAt = new Map<string, number>();
  let waiting: Waiting[] = [];
  let timer: NodeJS.Timeout | undefined;

  const count = (): number => [...running.values()].reduce((sum, each) => sum + each, 0);
  const ready = (host: string): number => (startedAt.get(host) ?? Number.NEGATIVE_INFINITY) + gapMs;

  /** Starts the work that may start, in order, and schedules the next attempt. */
  const advance = (): void => {
    clearTimeout(timer);
    const now = performance.now();
    waiting = waiting.filter(({ host, go }) => {
      if (count() >= total || (running.get(host) ?? 0) >= perHost || ready(host) > now) return true;
      running.set(host, (running.get(host) ?? 0) + 1);
      startedAt.set(host, now);
      go();
      return false;
    });
    for (const host of startedAt.keys()) if (!running.has(host) && ready(host) <= now) startedAt.delete(host);
    const moments = waiting.map(({ host }) => ready(host)).filter((moment) => moment > now);
    if (moments.length > 0) timer = setTimeout(advance, Math.min(...moments) - now + 1).unref();
  };

  const release = (host: string): void => {
    const left = (running.get(host) ?? 0) - 1;
    if (left > 0) running.set(host, left);
    else running.delete(host);
    advance();
  };

  return {
    /**
     * Runs the work within the limits.
     * @throws what the work throws, and the reason of `signal` if it is aborted before the start
     */
    take: <T>(host: string, signal: AbortSignal, work: () => Promise<T>): Promise<T> =>
      new Promise((resolve, reject) => {
        const leave = (): void => {
          waiting = waiting.filter((each) => each !== mine);
          reject(signal.reason);
        };
        const mine: Waiting = {
          host,
          go: () => {
            signal.removeEventListener('abort', leave);
            void work()
              .then(resolve, reject)
              .finally(() => release(host));
          },
        };
        if (signal.aborted) return leave();
        signal.addEventListener('abort', leave, { once: true });
        waiting.push(mine);
        advance();
      }),
  };
};
export type Turns = ReturnType<typeof createTurns>;
