interface Limits {
  /** Most at a time. */
  total: number;
  /** Most at a time of one host. */
  perHost: number;
}

interface Turn {
  url: string;
  start(): void;
}

/** Lets downloads begin in the order in which they were asked for: a few at a time, and never two of one address. */
export const createTurns = ({ total, perHost }: Limits) => {
  const running: Turn[] = [];
  const waiting: Turn[] = [];

  const isFree = ({ url }: Turn): boolean => {
    const { host } = new URL(url);
    const atHost = running.filter((turn) => new URL(turn.url).host === host);
    return running.length < total && atHost.length < perHost && !atHost.some((turn) => turn.url === url);
  };
  const advance = (): void => {
    for (let next = waiting.find(isFree); next !== undefined; next = waiting.find(isFree)) {
      waiting.splice(waiting.indexOf(next), 1);
      running.push(next);
      next.start();
    }
  };

  return {
    /** Does the work once it is the address's turn. */
    async take<Result>(url: string, work: () => Promise<Result>): Promise<Result> {
      let turn: Turn | undefined;
      await new Promise<void>((start) => {
        turn = { url, start };
        waiting.push(turn);
        advance();
      });
      try {
        return await work();
      } finally {
        running.splice(running.indexOf(turn as Turn), 1);
        advance();
      }
    },
  };
};
