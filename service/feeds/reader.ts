import type { NetworkScope } from '../domain/network-scope.ts';
import { createWorker } from '../platform/worker.ts';
import type { Question, ReadFeed } from './thread.ts';

const TIMEOUT_MS = 10_000;
const IDLE_MS = 30_000;

/**
 * Parses feeds and JSON in a worker thread: 5 MB of XML take a second, a hostile expression in a JSON path never ends.
 */
export const createReader = ({ patienceMs = TIMEOUT_MS } = {}) => {
  const worker = createWorker<Question>({
    bundle: 'feeds-thread',
    source: 'feeds/thread.ts',
    patienceMs,
    idleMs: IDLE_MS,
  });

  return {
    /**
     * Parses a feed into its title and items.
     * @param base URL of the feed
     * @param nearness network scope of the feed; its pictures must not be nearer
     * @throws UnreadableError
     */
    feed: (text: string, base: string, nearness: NetworkScope) =>
      worker.ask({ kind: 'rss', text, base, nearness }) as Promise<ReadFeed>,
    /**
     * Parses JSON. With `select` (RFC 9535), returns the value of a singular query, else the list of matches.
     * @throws UnreadableError
     */
    data: (text: string, select: string | null) => worker.ask({ kind: 'api', text, select }),
    close: worker.close,
  };
};
export type Reader = ReturnType<typeof createReader>;
