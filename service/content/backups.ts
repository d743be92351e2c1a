/** Backups of edits of `content.json` that a peer's edit replaced. */
import { readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'content.json.lost-';
const MAX_BACKUPS = 10;

export interface Backups {
  /** File names, oldest first. */
  list(): Promise<string[]>;
  /**
   * Writes a backup, durable once this resolves, and deletes the oldest beyond {@link MAX_BACKUPS}.
   * @returns the file name
   * @throws the system's error
   */
  keep(text: Uint8Array, lostAt: Date): Promise<string>;
}

export const createBackups = (dataDir: string): Backups => {
  // An unreadable folder lists nothing; writing a backup reports the error.
  const list = async (): Promise<string[]> =>
    (await readdir(dataDir).catch((): string[] => [])).filter((name) => name.startsWith(PREFIX)).toSorted();

  return {
    list,
    async keep(text, lostAt) {
      const taken = await list();
      let at = lostAt.getTime();
      const nameAt = () => PREFIX + new Date(at).toISOString().replaceAll(/[-:.]/g, '');
      while (taken.includes(nameAt())) at += 1;
      const name = nameAt();
      await writeFile(join(dataDir, name), text, { flag: 'wx', flush: true });
      for (const old of taken.slice(0, 1 - MAX_BACKUPS)) await unlink(join(dataDir, old));
      return name;
    },
  };
};
