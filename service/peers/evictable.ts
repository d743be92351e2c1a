/** Which files of the media directory are copies of peers' media: they alone may be given up for want of room. */
import { stat, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import type { Content } from '../content/content.ts';
import type { Folders } from '../media/folders.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';

const schema = z.object({ names: z.array(z.string()) });

interface Options {
  /** The file that keeps the names. Where it is lost, nothing is given up. */
  path: string;
  mediaDir: string;
  folders: Pick<Folders, 'changed'>;
  /** What is played now: it makes way for nothing. */
  content: Pick<Content, 'mediaNames'>;
  log: Logger;
}

export type Mirrored = Awaited<ReturnType<typeof openMirrored>>;

export const openMirrored = async ({ path, mediaDir, folders, content, log }: Options) => {
  const durable = await createDurable({
    path,
    schema,
    initial: { names: [] },
    log,
    disk: systemDisk,
    now: Date.now,
  });
  const names = new Set(durable.read().names);
  const save = (): Promise<void> =>
    durable
      .update(() => ({ names: [...names] }))
      .catch((error: unknown) => log.warn({ err: error }, 'which media are copies could not be kept'));

  return {
    /** Before a copy comes: one that nobody knows of would stay for ever. */
    async add(name: string): Promise<void> {
      if (names.has(name)) return;
      names.add(name);
      await save();
    },

    /** Removes copies that the content names no more, the first that came first; answers how many bytes that freed. */
    async evict(bytes: number): Promise<number> {
      const needed = content.mediaNames();
      let freed = 0;
      for (const name of [...names]) {
        if (freed >= bytes) break;
        if (needed.has(name)) continue;
        const file = join(mediaDir, name);
        freed += await stat(file).then(
          ({ size }) => size,
          () => 0,
        );
        await unlink(file).catch(() => undefined);
        await folders.changed(file);
        names.delete(name);
        log.info({ name }, 'a copy that the content names no more made way');
      }
      await save();
      return freed;
    },

    faults: durable.faults,
    close: () => durable.close(),
  };
};
