import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { systemDisk } from '../platform/store/disk.ts';
import { renamePatiently } from '../platform/store/file.ts';

const note = z.object({
  url: z.string(),
  validator: z
    .string()
    .nullable()
    .describe('for If-Range; null: the bytes can be continued only if their hash is known'),
  total: z.number().nullable().describe('size of the whole file in bytes; null: not stated'),
  bytes: z.number().describe('bytes that are synced to disk'),
});
export type PartNote = z.infer<typeof note>;

const NAME = /^\.part-[0-9a-f]{40}(?:\.json(?:\.new)?)?$/;

/** Whether a file of this name is a partial file or its note. */
export const isPart = (name: string): boolean => NAME.test(name);

/** The hidden partial file of a download, with a JSON file that identifies its source. */
export const createPart = (folder: string, key: string) => {
  const path = join(folder, `.part-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`);
  const notePath = `${path}.json`;

  const write = async (of: PartNote): Promise<void> => {
    // Not synced: if a power cut loses the note, the file is fetched from its beginning.
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

    /** Truncates the file to its synced bytes and returns the note; null: nothing to continue. */
    async resume(): Promise<PartNote | null> {
      try {
        const of = note.parse(JSON.parse(await readFile(notePath, 'utf8')));
        const { size } = await systemDisk.stat(path);
        if (of.bytes < 1 || size < of.bytes) return null;
        // A range that begins after the last byte would be answered with 416.
        const bytes = Math.min(of.bytes, (of.total ?? Number.POSITIVE_INFINITY) - 1);
        await truncate(path, bytes);
        return { ...of, bytes };
      } catch {
        return null;
      }
    },

    /** Syncs the bytes received so far and writes the note. */
    async keep(of: PartNote): Promise<void> {
      const handle = await open(path, 'r+');
      try {
        await handle.datasync();
        await write({ ...of, bytes: (await handle.stat()).size });
      } finally {
        await handle.close();
      }
    },

    /** Moves the complete, synced file to `target`. */
    async finish(target: string): Promise<void> {
      await renamePatiently(systemDisk, path, target);
      await systemDisk.syncFolder(dirname(target));
      await rm(notePath, { force: true });
    },
  };
};
export type Part = ReturnType<typeof createPart>;
