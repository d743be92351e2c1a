/** The configuration of a machine, which its administrator writes, and what a box takes from it. */
import { createHash } from 'node:crypto';
import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { isMissing } from '../store/disk.ts';
import { writePrivate } from '../store/rewrite.ts';
import { changeConfig, type Environment, readConfig, secretIn, settingOf, withoutSecret } from './file.ts';
import { readOptions } from './index.ts';

type Config = Readonly<Record<string, unknown>>;

/** The settings of a box with those of a file in their place; what the file does not name stays, as a secret does. Pure. */
export const withImported = (own: Config, given: Config): Record<string, unknown> => {
  const imported = secretIn(given) === undefined ? withoutSecret(given) : given;
  const named = new Set(Object.keys(imported).map(settingOf));
  const kept = Object.entries(own).filter(([key]) => !named.has(settingOf(key)));
  return { ...Object.fromEntries(kept), ...imported };
};

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
    // As sha256sum prints it.
    const sum = `${createHash('sha256')
      .update(await readFile(path))
      .digest('hex')}  -`;
    if ((await readFile(mark, 'utf8').catch(() => '')).trim() === sum) return null;
    const given = readConfig(path);
    await changeConfig(target, async () => {
      const config = `${JSON.stringify(withImported(readConfig(target), given), null, 2)}\n`;
      await check(config, env);
      return config;
    });
    await writePrivate(mark, `${sum}\n`);
    return null;
  } catch (error) {
    if (isMissing(error) && (error as NodeJS.ErrnoException).path === path) return null;
    return `${path} could not be imported: ${(error as Error).message}`;
  }
};
