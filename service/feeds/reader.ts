import type { Nearness } from '../domain/network-scope.ts';
import { createWorker } from '../platform/worker.ts';
import type { Question, ReadFeed } from './thread.ts';

const PATIENCE_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * Reads feeds and JSON in a thread: five megabytes of XML take a second, a hostile expression in a path takes for ever.
 */
export const createReader = ({ patienceMs = PATIENCE_MS } = {}) => {
  const worker = createWorker<Question>({
    bundle: 'feeds-thread',
    source: 'feeds/thread.ts',
    patienceMs,
    idleMs: IDLE_MS,
  });

  return {
    /**
     * A feed: its title and its items.
     * @param base where it came from
     * @param nearness how near that is: its pictures may be as near
     * @throws UnreadableError
     */
    feed: (text: string, base: string, nearness: Nearness) =>
      worker.ask({ kind: 'rss', text, base, nearness }) as Promise<ReadFeed>,
    /**
     * The JSON, or what `select` (RFC 9535) finds in it: the value itself for a singular query, else the list.
     * @throws UnreadableError
     */
    data: (text: string, select: string | null) => worker.ask({ kind: 'api', text, select }),
    close: worker.close,
  };
};
export type Reader = ReturnType<typeof createReader>;
