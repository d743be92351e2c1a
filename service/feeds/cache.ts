import { z } from 'zod';
import type { ServiceContext } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';

const entry = z.object({
  /** Hash of kind, id, URL and `select`, so that the file contains no URLs and no credentials. */
  key: z.string(),
  /** ISO 8601, UTC, ms. */
  fetchedAt: z.string(),
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  /** Network scope of the servers. */
  nearness: z.union([z.literal(0), z.literal(1), z.literal(2)]),
  digest: z.string(),
  /** Version of the player that parsed the data; absent: one that did not say. */
  version: z.string().optional(),
  /** Title of the feed; null: it has none. */
  title: z.string().nullable(),
  data: z.unknown(),
});
/** The last valid answer of a feed or source, parsed. */
export type CacheEntry = z.infer<typeof entry>;

const schema = z.object({ entries: z.array(entry) });

/** Opens `feeds.kept.json`, so that a box without network has data to show after a restart. */
export const openCache = async (context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'tempo'>) => {
  const durable = await openDurable(context, 'feeds.kept.json', { schema, initial: { entries: [] } });
  const { write: writeMs, rewrite: rewriteMs } = context.tempo.feeds;
  let unsaved: (() => CacheEntry[]) | null = null;
  let writtenAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;

  const write = async (): Promise<void> => {
    clearTimeout(timer);
    dueAt = Number.POSITIVE_INFINITY;
    const entries = unsaved;
    unsaved = null;
    if (entries === null) return;
    writtenAt = performance.now();
    await durable.update(() => ({ entries: entries() })).catch(() => {});
  };

  return {
    read: (): CacheEntry[] => durable.read().entries,
    /**
     * Schedules a write: soon if a source has nothing on the disk yet, else at most one a minute, because some feeds
     * change every few seconds. An urgent one is written soon, too. `entries` is called when the write starts.
     */
    save(entries: () => CacheEntry[], isUrgent = false): void {
      unsaved = entries;
      const stored = new Set(durable.read().entries.map(({ key }) => key));
      const isNew = entries().some(({ key }) => !stored.has(key));
      const time = performance.now();
      const at = Math.max(time + writeMs, isNew || isUrgent ? 0 : writtenAt + rewriteMs);
      if (at >= dueAt) return;
      dueAt = at;
      clearTimeout(timer);
      timer = setTimeout(() => void write(), at - time).unref();
    },
    faults: durable.faults,
    writes: durable.writes,
    /** Writes pending entries. */
    async close(): Promise<void> {
      await write();
      await durable.close();
    },
  };
};
export type Cache = Awaited<ReturnType<typeof openCache>>;
