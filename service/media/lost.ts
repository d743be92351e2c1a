/**
 * Uploads that lost against a newer file of their name on another box: `.lost` in the upload directory keeps each for 30
 * days, under the time of its loss and its name. The leading dot keeps it apart from all media.
 */
import { mkdir, readdir, rename, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { isTrusted } from '../domain/clock-trust.ts';
import { systemDisk } from '../platform/store/disk.ts';
import type { Folders } from './folders.ts';

const KEEP_MS = 30 * 86_400_000;
const MAX_NAME_BYTES = 255;
const STAMPED = /^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z-/;

/** The folder of lost uploads. */
export const lostFolderOf = (uploadDir: string): string => join(uploadDir, '.lost');

/** `20261122T101530123Z-hall.jpg`; of a name that is too long the end is kept. */
export const lostNameOf = (name: string, lostAt: number): string => {
  const stamp = `${new Date(lostAt).toISOString().replaceAll(/[-:.]/g, '')}-`;
  const letters = [...name];
  while (Buffer.byteLength(stamp + letters.join('')) > MAX_NAME_BYTES) letters.shift();
  return stamp + letters.join('');
};

/** When a kept upload was lost, ms since the epoch; null: {@link lostNameOf} did not make the name. */
export const lostAtOf = (name: string): number | null => {
  const [found, year, month, day, hour, minute, second, ms] = STAMPED.exec(name) ?? [];
  return found === undefined ? null : Date.parse(`${year}-${month}-${day}T${hour}:${minute}:${second}.${ms}Z`);
};

interface Options {
  uploadDir: string;
  folders: Pick<Folders, 'changed'>;
  /** The site's time, ms since the epoch. */
  now(): number;
  log: Logger;
}

export type LostUploads = ReturnType<typeof createLostUploads>;

export const createLostUploads = ({ uploadDir, folders, now, log }: Options) => {
  const folder = lostFolderOf(uploadDir);

  return {
    /** Names of the kept files, oldest first. */
    list: async (): Promise<string[]> =>
      (await readdir(folder).catch((): string[] => [])).filter((name) => lostAtOf(name) !== null).toSorted(),

    /** Moves an upload to the folder. @throws the system's error */
    async keep(name: string): Promise<void> {
      await mkdir(folder, { recursive: true });
      const [from, to] = [join(uploadDir, name), join(folder, lostNameOf(name, now()))];
      await rename(from, to);
      await systemDisk.syncFolder(folder);
      await systemDisk.syncFolder(uploadDir);
      await folders.changed(from, to);
      log.warn(
        { name, file: to },
        'an upload lost against a newer file or deletion of its name; it is kept for 30 days',
      );
    },

    /** Deletes what was kept for 30 days; nothing while the clock is not trusted. */
    async prune(): Promise<void> {
      if (!isTrusted(now())) return;
      for (const name of await this.list()) {
        if (now() - (lostAtOf(name) ?? now()) < KEEP_MS) continue;
        await rm(join(folder, name), { force: true });
        await folders.changed(join(folder, name));
        log.info({ name }, 'deleted a lost upload after 30 days');
      }
    },
  };
};
