/** The stored copies: files named by their SHA-256, and a durable index from address to copy. */
import { readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createEmitter } from '../../domain/emitter.ts';
import { createQueue } from '../../platform/queue.ts';
import { removeLeftover, statIfTold } from '../../platform/store/disk.ts';
import { openDurable } from '../../platform/store/durable.ts';
import { makeFolder } from '../../platform/store/file.ts';
import { type Loudness, loudness } from '../catalog.ts';
import type { MediaContext } from '../context.ts';
import type { Part } from '../download.ts';

const copy = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().describe('bytes'),
  mediaType: z.string(),
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  life: z.number().describe('freshness lifetime, ms'),
  checkedAt: z.number().describe('when the origin last confirmed it, ms since the epoch'),
  verifiedAt: z.number().describe('when its hash was last verified, ms since the epoch'),
  usedAt: z.number().describe('when it was last requested or named, ms since the epoch'),
  loudness: loudness.nullable().optional().describe('null: it has no sound; absent: not measured'),
});
export type Copy = z.infer<typeof copy>;

const schema = z.object({ copies: z.array(z.tuple([z.string().describe('address'), copy])) });

/** The folder of the copies. */
export const copiesFolderOf = (mediaDir: string): string => join(mediaDir, 'copies');

export type Ledger = Awaited<ReturnType<typeof openLedger>>;

/** Opens the index. Drops entries whose file is missing or truncated, and deletes files that are not in the index. */
export const openLedger = async (context: Pick<MediaContext, 'dirs' | 'folders' | 'log' | 'now'>) => {
  const { dirs, folders, log } = context;
  const folder = copiesFolderOf(dirs.media);
  // On a disk that takes no writes the service starts without it.
  await makeFolder(folder).catch((err: unknown) => log.warn({ err, folder }, 'a folder could not be created'));
  const durable = await openDurable(context, 'copies.json', { schema, initial: { copies: [] } });
  const copies = new Map<string, Copy>();
  let named: ReadonlySet<string> = new Set();
  /** Replaced copies by hash, with their address: a page may still be playing them. */
  const replaced = new Map<string, { url: string; copy: Copy; at: number }>();

  const news = createEmitter();
  /** Serializes renames and removals, so that a file that has just been stored is not removed. */
  const enqueue = createQueue();

  const fileOf = ({ sha256 }: Pick<Copy, 'sha256'>): string => join(folder, sha256);
  const save = (): Promise<void> =>
    durable
      .update(() => ({ copies: [...copies] }))
      .catch((error: unknown) => log.warn({ err: error }, 'the index of copies could not be saved'));
  /** Deletes a file unless an address still refers to it. @returns the bytes freed */
  const removeUnused = async (sha256: string): Promise<number> => {
    replaced.delete(sha256);
    const users = [...copies.values()].filter((each) => each.sha256 === sha256);
    if (users.length > 0) return 0;
    const file = fileOf({ sha256 });
    const { size } = await stat(file).catch(() => ({ size: 0 }));
    try {
      await rm(file, { force: true });
      await folders.changed(file);
      return size;
    } catch (error) {
      // The next start deletes files that are not in the index.
      log.warn({ err: error, sha256 }, 'a copy could not be removed');
      return 0;
    }
  };
  const forget = async (url: string): Promise<number> => {
    const before = copies.get(url);
    copies.delete(url);
    return before === undefined ? 0 : removeUnused(before.sha256);
  };

  /** Removes copies that were replaced before `at`, until `bytes` are freed. @returns the bytes freed */
  const removeReplaced = async (at: number, bytes = Number.POSITIVE_INFINITY): Promise<number> => {
    let freed = 0;
    for (const [sha256, { at: since }] of replaced) {
      if (freed < bytes && since < at) freed += await removeUnused(sha256);
    }
    return freed;
  };

  for (const [url, known] of durable.read().copies) {
    const stats = await statIfTold(fileOf(known));
    if (stats === undefined || (stats?.isFile() && stats.size === known.size)) copies.set(url, known);
    else log.warn({ sha256: known.sha256 }, 'a copy is missing or truncated and is fetched again');
  }
  const used = new Set([...copies.values()].map(({ sha256 }) => sha256));
  const found = await readdir(folder).catch((): string[] => []);
  for (const name of found) if (!used.has(name)) await removeLeftover(join(folder, name), log);

  return {
    fileOf,
    /** The copy of an address, or the recently replaced copy with that hash. */
    get(url: string, sha256?: string): Copy | undefined {
      const before = replaced.get(sha256 ?? '');
      return before?.url === url ? before.copy : copies.get(url);
    },
    /** All current copies with an address of each, each file once: those first that the content names. */
    all(): { url: string; copy: Copy; isNamed: boolean }[] {
      const found = new Map<string, { url: string; copy: Copy; isNamed: boolean }>();
      for (const url of [...named, ...copies.keys()]) {
        const copy = copies.get(url);
        if (copy !== undefined && !found.has(copy.sha256))
          found.set(copy.sha256, { url, copy, isNamed: named.has(url) });
      }
      return [...found.values()];
    },
    /** The current copy with that hash. */
    withHash: (sha256: string): Copy | undefined => [...copies.values()].find((each) => each.sha256 === sha256),
    /** The number of files and their total size in bytes. */
    measure(): { count: number; bytes: number } {
      const sizes = new Map([...copies.values()].map(({ sha256, size }) => [sha256, size]));
      return { count: sizes.size, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
    },
    faults: durable.faults,
    writes: durable.writes,
    /** Calls `listener` when a copy is stored. */
    onPut: news.on,

    /** Stores a fetched file as the copy of an address, replacing the previous copy. */
    async put(url: string, next: Copy, part: Part): Promise<void> {
      await enqueue(async () => {
        const before = copies.get(url);
        // Somebody may have removed it by hand.
        await makeFolder(folder);
        await part.finish(fileOf(next));
        await folders.changed(fileOf(next));
        copies.set(url, next);
        news.emit();
        if (before === undefined || before.sha256 === next.sha256) return;
        replaced.set(before.sha256, { url, copy: before, at: Date.now() });
      });
      await save();
    },

    /** Records when a copy was revalidated or verified. */
    async note(url: string, facts: Partial<Pick<Copy, 'checkedAt' | 'verifiedAt'>>): Promise<void> {
      const before = copies.get(url);
      if (before === undefined) return;
      copies.set(url, { ...before, ...facts });
      await save();
    },

    /** Records how loud the copies of a hash are. */
    async measured(sha256: string, found: Loudness | null): Promise<void> {
      for (const [url, copy] of copies) if (copy.sha256 === sha256) copies.set(url, { ...copy, loudness: found });
      await save();
    },

    /** Records that a copy is in use. Saved with the next change, because it only affects the eviction order. */
    use(url: string, usedAt: number): void {
      const before = copies.get(url);
      if (before !== undefined) copies.set(url, { ...before, usedAt });
    },

    /** Removes a copy whose file is missing or corrupt, unless it was replaced meanwhile. */
    async drop(url: string, { sha256 }: Copy): Promise<void> {
      await enqueue(async () => {
        if (copies.get(url)?.sha256 === sha256) await forget(url);
      });
      await save();
    },

    /** Sets the addresses that the content names: their copies are not evicted. */
    protect(urls: ReadonlySet<string>): void {
      const now = Date.now();
      for (const url of named) {
        const before = copies.get(url);
        if (before !== undefined && !urls.has(url)) copies.set(url, { ...before, usedAt: now });
      }
      named = urls;
    },

    /** Removes copies replaced before `replacedAt`, and copies that are not named and were not used since `usedAt`. */
    async expire(usedAt: number, replacedAt: number): Promise<void> {
      const count = copies.size;
      await enqueue(async () => {
        await removeReplaced(replacedAt);
        for (const [url, copy] of copies) if (!named.has(url) && copy.usedAt < usedAt) await forget(url);
      });
      if (copies.size < count) await save();
    },

    /**
     * Frees up to `bytes` bytes: replaced copies first, then the least recently used. Copies that the content names are
     * kept by default.
     * @returns the number of bytes freed
     */
    async evict(bytes: number, policy: 'keep used' | 'evict used' = 'keep used'): Promise<number> {
      if (bytes <= 0) return 0;
      const freed = await enqueue(async () => {
        const order = [...copies]
          .filter(([url]) => policy === 'evict used' || !named.has(url))
          .sort(([a, { usedAt }], [b, other]) => Number(named.has(a)) - Number(named.has(b)) || usedAt - other.usedAt);
        let sum = await removeReplaced(Number.POSITIVE_INFINITY, bytes);
        for (const [url] of order) {
          if (sum >= bytes) break;
          sum += await forget(url);
        }
        return sum;
      });
      await save();
      return freed;
    },

    async close(): Promise<void> {
      await save();
      await durable.close();
    },
  };
};
