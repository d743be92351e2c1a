/**
 * Media that were superseded by a newer file of their name on another box, or that the site no longer has: `.lost` in
 * the upload directory keeps each for 30 days, under the time of its loss and its name. The leading dot keeps it apart
 * from all media.
 */
import { copyFile, mkdir, readdir, rename, rm } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';
import { fileTime, isOlder, isTrusted } from '../domain/time.ts';
import { codeOf, systemDisk } from '../platform/store/disk.ts';
import { syncFile } from '../platform/store/file.ts';
import type { MediaContext } from './context.ts';

const KEEP_MS = 30 * 86_400_000;
const MAX_NAME_BYTES = 255;
const STAMPED = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/;

/** The folder of lost uploads. */
export const lostFolderOf = (uploadDir: string): string => join(uploadDir, '.lost');

/** `20261122T101530123Z-hall.jpg`; of a name that is too long the end is kept. */
export const lostNameOf = (name: string, lostAt: number): string => {
  const stamp = `${fileTime(lostAt)}-`;
  const letters = [...name];
  while (Buffer.byteLength(stamp + letters.join('')) > MAX_NAME_BYTES) letters.shift();
  return stamp + letters.join('');
};

/** When a kept upload was lost, ms since the epoch; null: {@link lostNameOf} did not make the name. */
export const lostAtOf = (name: string): number | null => {
  const [found, year, month, day, hour, minute, second, ms] = STAMPED.exec(name) ?? [];
  return found === undefined ? null : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
};

/** Moves a file, to another file system too. @throws the system's error; then the file is where it was */
const move = async (from: string, to: string): Promise<void> => {
  try {
    await rename(from, to);
  } catch (error) {
    if (codeOf(error) !== 'EXDEV') throw error;
    try {
      await copyFile(from, to);
      await syncFile(to);
    } catch (failure) {
      await rm(to, { force: true });
      throw failure;
    }
    await rm(from);
  }
};

export type LostUploads = ReturnType<typeof createLostUploads>;

export const createLostUploads = ({
  dirs,
  folders,
  now,
  log,
}: Pick<MediaContext, 'dirs' | 'folders' | 'now' | 'log'>) => {
  const folder = lostFolderOf(dirs.uploads);

  return {
    /** Names of the kept files, oldest first. */
    list: async (): Promise<string[]> =>
      (await readdir(folder).catch((): string[] => [])).filter((name) => lostAtOf(name) !== null).toSorted(),

    /** Moves a medium to the folder. @throws the system's error; then the medium is where it was */
    async keep(from: string, reason: string): Promise<void> {
      const name = basename(from);
      await mkdir(folder, { recursive: true });
      const to = join(folder, lostNameOf(name, now()));
      await move(from, to);
      await systemDisk.syncFolder(folder);
      await systemDisk.syncFolder(dirname(from));
      await folders.changed(from);
      log.warn({ name, file: to }, `${reason}; it is kept for 30 days`);
    },

    /** Deletes what was kept for 30 days; nothing while the clock is not trusted. */
    async prune(): Promise<void> {
      if (!isTrusted(now())) return;
      for (const name of await this.list()) {
        const lostAt = lostAtOf(name) ?? now();
        if (!isTrusted(lostAt)) {
          // Lost while the clock was not set: its days begin now.
          const to = join(folder, lostNameOf(name.replace(STAMPED, ''), now()));
          await rename(join(folder, name), to);
        }
        if (!isOlder(lostAt, KEEP_MS, now())) continue;
        await rm(join(folder, name), { force: true });
        log.info({ name }, 'deleted a lost upload after 30 days');
      }
    },
  };
};
