/** The configuration of a machine, which its administrator writes, and what a box takes from it. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '../store/disk.ts';
import { writePrivate, writeTwice } from '../store/rewrite.ts';
import { type Environment, keepSecret, readConfig } from './file.ts';
import { readOptions } from './index.ts';

type Config = Readonly<Record<string, unknown>>;

/** What the settings of a box become: those of the file, and the box's secret where it has none; an empty file says nothing. Pure. */
export const withImported = (own: Config, given: Config): Config =>
  Object.keys(given).length === 0 ? own : keepSecret(own, given);

const sumOf = (bytes: Uint8Array | string): string => createHash('sha256').update(bytes).digest('hex');

/** @throws OptionsError if the settings are not valid */
const check = async (config: string, env: Environment): Promise<void> => {
  const folder = await mkdtemp(join(tmpdir(), 'signage-config-'));
  try {
    await writeFile(join(folder, 'config.json'), config, { mode: 0o600 });
    readOptions({ env: { ...env, SIGNAGE_DATA_DIR: folder } });
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
};

/**
 * Imports a file into the `config.json` of a data directory once, and again when it is changed.
 * @returns why it could not be imported, as a sentence; null: it was, or need not be
 */
export const importConfig = async (
  path: string,
  dataDir: string,
  env: Environment = process.env,
): Promise<string | null> => {
  const mark = join(dataDir, 'config.imported');
  const target = join(dataDir, 'config.json');
  try {
    const sum = sumOf(await readFile(path));
    const before = sumOf(await readFile(target).catch(() => ''));
    const marks = (await readFile(mark, 'utf8').catch(() => '')).split('\n');
    // A kiosk, whose data these may be, writes the sum alone.
    if (marks.some((line) => line.replace(/ +-$/, '') === sum)) return null;
    // Where the settings are others since, it was imported, although the last mark could not be written.
    const pending = `pending ${sum} over `;
    if (!marks.some((line) => line.startsWith(pending) && line !== `${pending}${before}`)) {
      const config = `${JSON.stringify(withImported(readConfig(target), readConfig(path)), null, 2)}\n`;
      await check(config, env);
      await writePrivate(mark, `${pending}${before}\n`);
      await writeTwice(target, config).catch(async (error: unknown) => {
        await rm(mark);
        throw error;
      });
    }
    // As sha256sum prints it.
    await writePrivate(mark, `${sum}  -\n`);
    return null;
  } catch (error) {
    if (isMissing(error) && (error as NodeJS.ErrnoException).path === path) return null;
    return `${path} could not be imported: ${(error as Error).message}`;
  }
};
