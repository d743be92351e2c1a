import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { z } from 'zod';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';

const entry = z.object({
  /** Of the kind and id, and of what was asked for: neither an address nor its credentials stand in the file. */
  key: z.string(),
  /** ISO 8601, UTC, ms. */
  fetchedAt: z.string(),
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  /** How near its servers are; of one that was kept before this was: the Internet. */
  nearness: z.union([z.literal(0), z.literal(1), z.literal(2)]).default(0),
  digest: z.string(),
  /** What a feed calls itself; of one that was kept before this was: nothing, until it has news. */
  title: z.string().nullable().default(null),
  data: z.unknown(),
});
/** The last good answer of a feed or source, read. */
export type CacheEntry = z.infer<typeof entry>;

const schema = z.object({ entries: z.array(entry) });

/** Some feeds change every few seconds; a disk must not be written as often. */
const REST_MS = 60_000;
/** The first answers after a start arrive one after the other. */
const GATHER_MS = 1_000;

/** Opens what keeps the last good data, so that a box without its network has something to show after a restart. */
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
    await pause(GATHER_MS);
    while (unsaved !== null) {
      await write();
      await pause(REST_MS);
    }
    saving = undefined;
  };

  return {
    read: (): CacheEntry[] => durable.read().entries,
    /** Keeps the entries as they are when it comes to writing: soon, and not more than once a minute. */
    save(entries: () => CacheEntry[]): void {
      unsaved = entries;
      saving ??= work();
    },
    faults: durable.faults,
    /** Writes what is not written yet. */
    async close(): Promise<void> {
      closing.abort();
      await saving;
      await write();
      await durable.close();
    },
  };
};
export type Cache = Awaited<ReturnType<typeof openCache>>;
