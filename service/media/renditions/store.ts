/** The stored renditions: files named by the SHA-256 of their originals, and a durable index. */
import { readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { createQueue } from '../../platform/queue.ts';
import { removeLeftover, statIfTold, systemDisk } from '../../platform/store/disk.ts';
import { openDurable } from '../../platform/store/durable.ts';
import { makeFolder } from '../../platform/store/file.ts';
import type { MediaContext } from '../context.ts';
import { profiles } from './profile.ts';

const rendition = z.object({
  profile: z.enum(profiles),
  sha256: z.string().regex(/^[0-9a-f]{64}$/),
  size: z.number().describe('bytes'),
  mediaType: z.string(),
});
/** A rendition that is here. */
export type Rendition = z.infer<typeof rendition>;

/** Of an original that cannot be converted: `reason` is a sentence for people. */
const failure = z.object({ profile: z.enum(profiles), reason: z.string() });
export type Failure = z.infer<typeof failure>;

const schema = z.object({ renditions: z.array(z.tuple([z.string(), z.union([rendition, failure])])) });

/** The folder of the renditions. */
export const renditionsFolderOf = (mediaDir: string): string => join(mediaDir, 'renditions');

const WORK = '.work-';

/** Opens the index. Drops entries whose file is missing or truncated, and deletes files that are not in the index. */
export const openRenditionStore = async (context: Pick<MediaContext, 'dirs' | 'folders' | 'log' | 'now'>) => {
  const { dirs, folders, log } = context;
  const folder = renditionsFolderOf(dirs.media);
  // On a disk that takes no writes the service starts without it.
  await makeFolder(folder).catch((err: unknown) => log.warn({ err, folder }, 'a folder could not be created'));
  // If it is lost, they are made again.
  const durable = await openDurable(context, 'renditions.json', { schema, initial: { renditions: [] } });
  /** By the hash of the original. */
  const entries = new Map<string, Rendition | Failure>();
  const enqueue = createQueue();
  const fileOf = (original: string): string => join(folder, original);
  const save = (): Promise<void> =>
    durable
      .update(() => ({ renditions: [...entries] }))
      .catch((error: unknown) => log.warn({ err: error }, 'the index of renditions could not be saved'));

  for (const [original, entry] of durable.read().renditions) {
    const stats = await statIfTold(fileOf(original));
    if ('reason' in entry || stats === undefined || stats?.size === entry.size) entries.set(original, entry);
  }
  for (const name of await readdir(folder).catch((): string[] => [])) {
    const entry = entries.get(name);
    if (entry === undefined || 'reason' in entry) await removeLeftover(join(folder, name), log);
  }

  /** @returns the bytes freed */
  const remove = async (original: string): Promise<number> => {
    const entry = entries.get(original);
    entries.delete(original);
    if (entry === undefined || 'reason' in entry) return 0;
    await rm(fileOf(original), { force: true }).catch((error: unknown) => {
      // The next start deletes files that are not in the index.
      log.warn({ err: error, original }, 'a rendition could not be removed');
    });
    await folders.changed(fileOf(original));
    return entry.size;
  };

  return {
    fileOf,
    faults: durable.faults,
    writes: durable.writes,
    /** The rendition of an original, or why there is none; undefined: it was not made yet. */
    get: (original: string): Rendition | Failure | undefined => entries.get(original),
    /** The rendition that has the hash itself. */
    withHash(sha256: string): (Rendition & { file: string }) | undefined {
      for (const [original, entry] of entries) {
        if ('sha256' in entry && entry.sha256 === sha256) return { ...entry, file: fileOf(original) };
      }
      return;
    },
    originals: (): string[] => [...entries.keys()],
    /** An empty folder for the making of one. */
    async workFolder(original: string): Promise<string> {
      const path = join(folder, `${WORK}${original}`);
      await rm(path, { recursive: true, force: true });
      await makeFolder(path);
      return path;
    },
    /** The size of the files in a folder of {@link workFolder}. */
    async bytesIn(path: string): Promise<number> {
      const names = await readdir(path).catch((): string[] => []);
      const found = await Promise.all(names.map((name) => statIfTold(join(path, name))));
      return found.reduce((sum, stats) => sum + (stats?.size ?? 0), 0);
    },
    /** Stores a complete, synced file. */
    async put(original: string, file: string, entry: Rendition): Promise<void> {
      await enqueue(async () => {
        // Somebody may have removed it by hand.
        await makeFolder(folder);
        await rename(file, fileOf(original));
        await systemDisk.syncFolder(folder);
        await folders.changed(fileOf(original));
        entries.set(original, entry);
      });
      await save();
    },
    /** The next start knows it, too, and does not try again. */
    async fail(original: string, entry: Failure): Promise<void> {
      entries.set(original, entry);
      await save();
    },
    async remove(originals: readonly string[]): Promise<void> {
      if (originals.length === 0) return;
      await enqueue(async () => {
        for (const original of originals) await remove(original);
      });
      await save();
    },
    /** Removes renditions of originals that are not needed until `bytes` are freed. @returns the bytes freed */
    async evict(bytes: number, isNeeded: (original: string) => boolean): Promise<number> {
      let freed = 0;
      await enqueue(async () => {
        for (const [original, entry] of [...entries]) {
          if (freed >= bytes) break;
          if ('sha256' in entry && !isNeeded(original)) freed += await remove(original);
        }
      });
      if (freed > 0) await save();
      return freed;
    },
    close: () => durable.close(),
  };
};
export type RenditionStore = Awaited<ReturnType<typeof openRenditionStore>>;
