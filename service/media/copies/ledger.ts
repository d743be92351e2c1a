/** The copies that are here: the files, by their hashes, and the durable index of what each is a copy of. */
import { mkdir, readdir, rm, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { createQueue } from '../../platform/queue.ts';
import { systemDisk } from '../../platform/store/disk.ts';
import { createDurable } from '../../platform/store/durable.ts';
import type { Folders } from '../folders.ts';
import type { Part } from '../part.ts';

const copy = z.object({
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().describe('bytes'),
  mediaType: z.string(),
  etag: z.string().nullable(),
  lastModified: z.string().nullable(),
  life: z.number().describe('for so long it is taken for the same as its original, ms'),
  checkedAt: z.number().describe('when the origin last said that it is the same, ms since the epoch'),
  verifiedAt: z.number().describe('when its bytes last had their hash, ms since the epoch'),
  usedAt: z.number().describe('when it was last asked for or named, ms since the epoch'),
});
export type Copy = z.infer<typeof copy>;

const schema = z.object({ copies: z.array(z.tuple([z.string().describe('address'), copy])) });

interface Options {
  /** The file of the index. */
  path: string;
  /** The folder of the copies; made where it isn't there. */
  folder: string;
  folders: Pick<Folders, 'changed'>;
  log: Logger;
}

export type Ledger = Awaited<ReturnType<typeof openLedger>>;

/** Opens the index; what it names and is not there, or is cut, is forgotten, and files that it does not name go. */
export const openLedger = async ({ path, folder, folders, log }: Options) => {
  await mkdir(folder, { recursive: true });
  const durable = await createDurable({
    path,
    schema,
    initial: { copies: [] },
    log,
    disk: systemDisk,
    now: Date.now,
  });
  const copies = new Map<string, Copy>();
  let named: ReadonlySet<string> = new Set();
  /** What was replaced a while ago may still be playing: by hash, with the address that it was a copy of. */
  const replaced = new Map<string, { url: string; copy: Copy; at: number }>();

  /** Files are renamed and removed one after the other, so that none is removed that has just come. */
  const inTurn = createQueue();

  const fileOf = ({ sha256 }: Pick<Copy, 'sha256'>): string => join(folder, sha256);
  const save = (): Promise<void> =>
    durable
      .update(() => ({ copies: [...copies] }))
      .catch((error: unknown) => log.warn({ err: error }, 'the index of copies could not be kept'));
  /** Two addresses may have the same bytes. */
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
      // The next start removes what the index does not name.
      log.warn({ err: error, sha256 }, 'a copy could not be removed');
      return 0;
    }
  };
  const forget = async (url: string): Promise<number> => {
    const before = copies.get(url);
    copies.delete(url);
    return before === undefined ? 0 : removeUnused(before.sha256);
  };

  /** Removes what was replaced before `at`, up to so many bytes; answers how many. */
  const clear = async (at: number, bytes = Number.POSITIVE_INFINITY): Promise<number> => {
    let freed = 0;
    for (const [sha256, { at: since }] of replaced) {
      if (freed < bytes && since < at) freed += await removeUnused(sha256);
    }
    return freed;
  };

  for (const [url, known] of durable.read().copies) {
    const stats = await stat(fileOf(known)).catch(() => null);
    if (stats?.isFile() && stats.size === known.size) copies.set(url, known);
    else log.warn({ sha256: known.sha256 }, 'a copy is gone or cut; it is fetched anew');
  }
  const used = new Set([...copies.values()].map(({ sha256 }) => sha256));
  for (const name of await readdir(folder)) if (!used.has(name)) await rm(join(folder, name), { force: true });

  return {
    fileOf,
    /** The copy of an address; the one with that hash, where it was replaced not long ago. */
    get(url: string, sha256?: string): Copy | undefined {
      const before = replaced.get(sha256 ?? '');
      return before?.url === url ? before.copy : copies.get(url);
    },
    /** How many files there are, and their bytes. */
    measure(): { count: number; bytes: number } {
      const sizes = new Map([...copies.values()].map(({ sha256, size }) => [sha256, size]));
      return { count: sizes.size, bytes: [...sizes.values()].reduce((sum, size) => sum + size, 0) };
    },
    faults: durable.faults,

    /** Takes in what has come for an address, in place of what was there. */
    async put(url: string, next: Copy, part: Part): Promise<void> {
      await inTurn(async () => {
        const before = copies.get(url);
        await part.finish(fileOf(next));
        await folders.changed(fileOf(next));
        copies.set(url, next);
        if (before === undefined || before.sha256 === next.sha256) return;
        replaced.set(before.sha256, { url, copy: before, at: Date.now() });
      });
      await save();
    },

    /** Notes what has been found out of a copy. */
    async note(url: string, facts: Partial<Pick<Copy, 'checkedAt' | 'verifiedAt'>>): Promise<void> {
      const before = copies.get(url);
      if (before === undefined) return;
      copies.set(url, { ...before, ...facts });
      await save();
    },

    /** Notes that a copy is shown. Kept with the next change: it decides only about the order in which copies go. */
    use(url: string, usedAt: number): void {
      const before = copies.get(url);
      if (before !== undefined) copies.set(url, { ...before, usedAt });
    },

    /** Forgets a copy whose file is not what it was, unless another has come meanwhile. */
    async drop(url: string, { sha256 }: Copy): Promise<void> {
      await inTurn(async () => {
        if (copies.get(url)?.sha256 === sha256) await forget(url);
      });
      await save();
    },

    /** These addresses are what is played now: their copies make way for nothing. */
    protect(urls: ReadonlySet<string>): void {
      const now = Date.now();
      for (const url of named) {
        const before = copies.get(url);
        if (before !== undefined && !urls.has(url)) copies.set(url, { ...before, usedAt: now });
      }
      named = urls;
    },

    /** Lets go of what was replaced before `replacedAt`, and of what is not played and was not used since `usedAt`. */
    async expire(usedAt: number, replacedAt: number): Promise<void> {
      const count = copies.size;
      await inTurn(async () => {
        await clear(replacedAt);
        for (const [url, copy] of copies) if (!named.has(url) && copy.usedAt < usedAt) await forget(url);
      });
      if (copies.size < count) await save();
    },

    /**
     * Frees so many bytes, or as many as can be: by what was replaced, then by what was used least recently. What is
     * played now stays, unless it is told to go.
     */
    async evict(bytes: number, played: 'stays' | 'goes too' = 'stays'): Promise<void> {
      if (bytes <= 0) return;
      await inTurn(async () => {
        const order = [...copies]
          .filter(([url]) => played === 'goes too' || !named.has(url))
          .sort(([a, { usedAt }], [b, other]) => Number(named.has(a)) - Number(named.has(b)) || usedAt - other.usedAt);
        let freed = await clear(Number.POSITIVE_INFINITY, bytes);
        for (const [url] of order) {
          if (freed >= bytes) break;
          freed += await forget(url);
        }
      });
      await save();
    },

    async close(): Promise<void> {
      await save();
      await durable.close();
    },
  };
};
