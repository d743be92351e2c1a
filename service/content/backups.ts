/** What the operator wrote and another edit won over, kept beside the file. */
import { readdir, unlink, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const PREFIX = 'content.json.lost-';
const MOST_BACKUPS = 10;

export interface Backups {
  /** File names, the oldest first. */
  list(): Promise<string[]>;
  /**
   * Keeps a text that lost, for good once this resolves, and drops the oldest of too many.
   * @returns the name of its file
   * @throws the system's error
   */
  keep(text: Uint8Array, lostAt: Date): Promise<string>;
}

export const createBackups = (dataDir: string): Backups => {
  // Where the folder can't be read there is nothing to list; whoever writes to it is told why.
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
      for (const old of taken.slice(0, 1 - MOST_BACKUPS)) await unlink(join(dataDir, old));
      return name;
    },
  };
};
