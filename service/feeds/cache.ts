import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';

const entry = z.object({
  /** Hash of kind, id, URL and `select`, so that the file contains no URLs and no credentials. */
  key: z.string(),
  /** ISO 8601, UTC, ms. */
  fetchedAt: z.string(),
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  /** Network scope of the servers. Default for files of older versions: the Internet. */
  nearness: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  digest: z.string(),
  /** Title of the feed. Default for files of older versions: null until the feed changes. */
  title: z.string().nullable().default(null),
  data: z.unknown(),
});
/** The last valid answer of a feed or source, parsed. */
export type CacheEntry = z.infer<typeof entry>;

const schema = z.object({ entries: z.array(entry) });

/** Minimum time between writes: some feeds change every few seconds. */
const WRITE_INTERVAL_MS = 60_000;
/** Debounce of writes: after a start the answers arrive one by one. */
const DEBOUNCE_MS = 1_000;

/** Opens `feeds.kept.json`, so that a box without network has data to show after a restart. */
export const openCache = async ({ dataDir, log }: { dataDir: string; log: Logger }) => {
  const durable = await createDurable({
    path: join(dataDir, 'feeds.kept.json'),
    schema,
    initial: { entries: [] },
    log,
    disk: systemDisk,
    now: Date.now,
  });
  const closing = new AbortController();
  let unsaved: (() => CacheEntry[]) | null = null;
  let saving: Promise<void> | undefined;

  const write = async (): Promise<void> => {
    const entries = unsaved;
    unsaved = null;
    if (entries !== null) await durable.update(() => ({ entries: entries() })).catch(() => {});
  };
  const pause = (ms: number) => delay(ms, undefined, { signal: closing.signal, ref: false }).catch(() => {});
  const work = async (): Promise<void> => {
    await pause(DEBOUNCE_MS);
    while (unsaved !== null) {
      await write();
      await pause(WRITE_INTERVAL_MS);
    }
    saving = undefined;
  };

  return {
    read: (): CacheEntry[] => durable.read().entries,
    /** Schedules a write, at most one a minute; `entries` is called when the write starts. */
    save(entries: () => CacheEntry[]): void {
      unsaved = entries;
      saving ??= work();
    },
    faults: durable.faults,
    writes: durable.writes,
    /** Writes pending entries. */
    async close(): Promise<void> {
      closing.abort();
      await saving;
      await write();
      await durable.close();
    },
  };
};
export type Cache = Awaited<ReturnType<typeof openCache>>;
