import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemDisk } from '../platform/store/disk.ts';
import { renamePatiently } from '../platform/store/file.ts';

const note = z.object({
  url: z.string(),
  validator: z.string().nullable().describe('for If-Range; null: the bytes are of use only where their hash is known'),
  total: z.number().nullable().describe('bytes of the whole, where it was said'),
  bytes: z.number().describe('so many are on the disk for good'),
});
export type PartNote = z.infer<typeof note>;

const NAME = /^\.part-[0-9a-f]{40}(?:\.json(?:\.new)?)?$/;

/** Whether a file of this name is a part, or the note beside one. */
export const isPart = (name: string): boolean => NAME.test(name);

/** The beginning of a file that is being fetched: hidden, and with a note beside it of what it is the beginning of. */
export const createPart = (folder: string, key: string) => {
  const path = join(folder, `.part-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`);
  const notePath = `${path}.json`;

  const write = async (of: PartNote): Promise<void> => {
    // Neither synced nor whole after a power cut, as may be: then the file is fetched from its beginning.
    await writeFile(`${notePath}.new`, JSON.stringify(of));
    await rename(`${notePath}.new`, notePath);
  };
  const discard = async (): Promise<void> => {
    for (const file of [notePath, path]) await rm(file, { force: true });
  };

  return {
    path,
    write,
    discard,

    /** What is there to go on from, cut back to what is certain; null: nothing. */
    async resume(): Promise<PartNote | null> {
      try {
        const of = note.parse(JSON.parse(await readFile(notePath, 'utf8')));
        const { size } = await systemDisk.stat(path);
        if (of.bytes < 1 || size < of.bytes) return null;
        // A server that is asked for what comes after the last byte can only refuse.
        const bytes = Math.min(of.bytes, (of.total ?? Number.POSITIVE_INFINITY) - 1);
        await truncate(path, bytes);
        return { ...of, bytes };
      } catch {
        return null;
      }
    },

    /** Makes certain of what has come so far. */
    async keep(of: PartNote): Promise<void> {
      const handle = await open(path, 'r+');
      try {
        await handle.datasync();
        await write({ ...of, bytes: (await handle.stat()).size });
      } finally {
        await handle.close();
      }
    },

    /** Gives the file, which is whole and on the disk for good, its name. */
    async finish(target: string): Promise<void> {
      await renamePatiently(systemDisk, path, target);
      await systemDisk.syncFolder(dirname(target));
      await rm(notePath, { force: true });
    },
  };
};
export type Part = ReturnType<typeof createPart>;
