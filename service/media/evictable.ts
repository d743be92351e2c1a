/** Records which files of the media directory are copies of peers' media. Only these may be removed to free space. */
import { rm, stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import type { Content } from '../content/index.ts';
import { isMissing, systemDisk } from '../platform/store/disk.ts';
import { openDurable } from '../platform/store/durable.ts';
import type { MediaContext } from './context.ts';
import { dateOf } from './folders.ts';

const schema = z.object({ names: z.array(z.string()) });

/** @param content names media, which are never evicted */
export const openEvictableMedia = async (
  context: Pick<MediaContext, 'dirs' | 'folders' | 'log' | 'now'>,
  content: Pick<Content, 'mediaNames'>,
) => {
  const { dirs, folders, log } = context;
  const mediaDir = dirs.media;
  // If it is lost, nothing is evicted.
  const durable = await openDurable(context, 'mirrored.json', { schema, initial: { names: [] } });
  const names = new Set(durable.read().names);
  const save = (): Promise<void> =>
    durable
      .update(() => ({ names: [...names] }))
      .catch((error: unknown) => log.warn({ err: error }, 'the list of evictable media could not be saved'));

  const record = async (name: string): Promise<void> => {
    if (names.has(name)) return;
    names.add(name);
    await save();
  };

  return {
    /** Records a copy before it is written: one that is not recorded would never be evicted. @throws what `write` throws */
    async add(name: string, write: () => Promise<unknown>): Promise<void> {
      await record(name);
      await write();
      // An older copy may have been removed meanwhile, and its record with it.
      await record(name);
    },

    has: (name: string): boolean => names.has(name),

    /** Called before an upload takes the place of a copy. */
    async forget(name: string): Promise<void> {
      if (names.delete(name)) await save();
    },

    /** Removes a file of the media directory. @throws the system's error */
    async remove(name: string): Promise<void> {
      // First: another copy may arrive meanwhile, and record the name again.
      const wasCopy = names.delete(name);
      try {
        await rm(join(mediaDir, name), { force: true });
      } catch (error) {
        if (wasCopy) names.add(name);
        throw error;
      }
      await systemDisk.syncFolder(mediaDir);
      await folders.changed(join(mediaDir, name));
      if (wasCopy) await save();
    },

    /**
     * Removes copies that are not served, oldest first: the content no longer names them, or a newer upload has their name.
     * @returns the number of bytes freed
     */
    async evict(bytes: number): Promise<number> {
      const needed = content.mediaNames();
      const found = await folders.read();
      const dateIn = (folder: string, name: string): number => dateOf(found.get(folder)?.get(name) ?? { mtimeMs: 0 });
      let freed = 0;
      for (const name of [...names]) {
        if (freed >= bytes) break;
        if (needed.has(name) && dateIn(dirs.uploads, name) <= dateIn(mediaDir, name)) continue;
        const file = join(mediaDir, name);
        const { size } = await stat(file).catch(() => ({ size: 0 }));
        try {
          await unlink(file);
          log.info({ name }, 'evicted a copy that is not served');
        } catch (error) {
          if (!isMissing(error)) {
            log.warn({ err: error, name }, 'a copy could not be evicted');
            continue;
          }
        }
        freed += size;
        await folders.changed(file);
        names.delete(name);
      }
      await save();
      return freed;
    },

    faults: durable.faults,
    writes: durable.writes,
    close: () => durable.close(),
  };
};
