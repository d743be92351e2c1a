/** Files on the disk of the uploads that become uploads of now, all of them or none. */
import { copyFile, link, readdir, rename, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import type { EpochMs } from '../domain/time.ts';
import { codeOf, systemDisk } from '../platform/store/disk.ts';
import { renamePatiently } from '../platform/store/file.ts';
import type { Catalog } from './catalog.ts';
import type { MediaContext } from './context.ts';
import { fingerprint } from './folders.ts';
import { inspect } from './inspect.ts';
import type { LostUploads } from './lost.ts';
import { fileAt } from './serve.ts';

interface Dependencies {
  catalog: Pick<Catalog, 'record'>;
  /** The modification time of the newest file of a name, here or on a peer; 0: there is none. */
  newest(name: string): EpochMs;
  lost: Pick<LostUploads, 'keep'>;
  /** Puts an upload in its place. */
  place(temporary: string, name: string): Promise<void>;
  /** Serializes changes of the uploads. */
  enqueue<Result>(job: () => Promise<Result>): Promise<Result>;
}

interface Adopted {
  name: string;
  /** Where it lies. */
  path: string;
  /** Hex. */
  sha256: string;
}

/** What an adoption has replaced, by the place of its file in the list. */
const BEFORE = /^before-(\d+)$/;

export type Adoption = ReturnType<typeof createAdoption>;

export const createAdoption = (
  { dirs: { uploads: uploadDir }, folders, now }: Pick<MediaContext, 'dirs' | 'folders' | 'now'>,
  { catalog, newest, lost, place, enqueue }: Dependencies,
) => {
  /** Ends a replacement. @param before where the file lies that was there; null: there was none */
  const takeBack = async (before: string | null, target: string): Promise<void> => {
    await rm(target, { force: true });
    if (before !== null) await renamePatiently(systemDisk, before, target);
    await folders.changed(target);
  };

  return {
    /**
     * Makes files that lie on the disk of the upload directory uploads of now. The files stay, so that this can be done again
     * after an interruption.
     * @returns puts back what was there before
     * @throws the system's error, and then everything is as it was
     */
    async adopt(files: readonly Adopted[], folder: string): Promise<() => Promise<void>> {
      const undone: (() => Promise<void>)[] = [];
      const undo = async (): Promise<void> => {
        for (const each of undone.toReversed()) await each();
        await systemDisk.syncFolder(uploadDir);
      };
      const left = new Map<string, number>();
      for (const { path } of files) left.set(path, (left.get(path) ?? 0) + 1);
      const adoptOne = async ({ name, path, sha256 }: Adopted, index: number): Promise<void> => {
        const target = join(uploadDir, name);
        const before = join(folder, `before-${index}`);
        const uses = left.get(path) ?? 1;
        left.set(path, uses - 1);
        const source = join(folder, `copy-${index}`);
        await rm(source, { force: true });
        // Names of one file would share their date; some file systems have no second names.
        await (uses === 1 ? link(path, source).catch(() => copyFile(path, source)) : copyFile(path, source));
        const time = new Date(Math.max(now(), newest(name) + 1));
        await utimes(source, time, time);
        const facts = await inspect(source, name);
        await enqueue(async () => {
          const kept = (await fileAt(folder, `before-${index}`)) === null ? rename(target, before) : Promise.resolve();
          const isKept = await kept.then(
            () => true,
            (error: unknown) => (codeOf(error) === 'ENOENT' ? false : Promise.reject(error)),
          );
          undone.push(() => takeBack(isKept ? before : null, target));
          await place(source, name);
        });
        await folders.changed(target);
        const stats = await stat(target);
        catalog.record(target, { ...facts, fingerprint: fingerprint(stats), sha256 });
      };
      try {
        for (const [index, file] of files.entries()) await adoptOne(file, index);
        await systemDisk.syncFolder(uploadDir);
      } catch (error) {
        await undo();
        throw error;
      }
      return undo;
    },

    /**
     * Puts back what an adoption that was interrupted has replaced; what it had brought for names without a file stays.
     * @param names of what was adopted, in its order; what was replaced under a name that is not there goes to `.lost`
     * @throws the system's error, and then it can be done again
     */
    async endAdoption(folder: string, names: readonly string[]): Promise<void> {
      for (const found of await readdir(folder)) {
        const index = BEFORE.exec(found)?.[1];
        if (index === undefined) continue;
        const [before, name] = [join(folder, found), names[Number(index)]];
        const reason = 'a file that an interrupted restore had replaced has lost its name';
        await enqueue(() => (name === undefined ? lost.keep(before, reason) : takeBack(before, join(uploadDir, name))));
      }
      await systemDisk.syncFolder(uploadDir);
    },
  };
};
