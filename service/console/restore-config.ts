/** The settings of a backup: judged together with those of this box, then written into its `config.json`. */
import { randomUUID } from 'node:crypto';
import { mkdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import type { ServiceContext } from '../module.ts';
import { changeConfig, OptionsError, readConfig, readOptions } from '../platform/options/index.ts';
import { settingOf, withPortable } from '../platform/options/portable.ts';
import type { SettingName } from '../platform/options/settings.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { keepCopy } from '../platform/store/file.ts';

interface BackedUp {
  /** The `config.json` of the backup. */
  given: Readonly<Record<string, unknown>>;
  /** Names of settings whose passwords are not in the backup. */
  stripped: readonly string[];
}

/** Settings that may contradict each other, as the site of a fleet has a rule of its own. */
const related: readonly SettingName[] = ['fleetUrl', 'site'];
/** What is left out of a backup until its settings fit those of the box. */
const omissions: readonly (readonly SettingName[])[] = [[], ['fleetUrl'], ['site']];

const spell = (config: object): Buffer => Buffer.from(`${JSON.stringify(config, null, 2)}\n`);

export const createRestoreConfig = ({ options, dirs }: Pick<ServiceContext, 'options' | 'dirs'>) => {
  const configPath = join(dirs.data, 'config.json');
  /** The configuration of this box with what is restored of the one in the backup. */
  const configWith = ({ given, stripped }: BackedUp) => withPortable(readConfig(configPath), given, stripped);

  return {
    /**
     * Judges the settings with those of this box and its environment, as its next start does.
     * @param folder for what is read and removed again
     * @returns those that fit, and the names of the others
     * @throws OptionsError if a setting is not valid
     */
    judge: async (backedUp: BackedUp, folder: string): Promise<BackedUp & { misfits: string[] }> => {
      // Apart from the members of the backup, one of which has the name of the file.
      const trial = join(folder, 'trial');
      const read = async (candidate: BackedUp, env: Record<string, string>): Promise<void> => {
        await keepCopy(systemDisk, join(trial, 'config.json'), spell(configWith(candidate).config));
        readOptions({ env: { ...env, SIGNAGE_DATA_DIR: trial } });
      };
      // It may stand in the environment, from which it was removed.
      const secret = options.sharedSecret === null ? {} : { SIGNAGE_SHARED_SECRET: randomUUID() };
      const fits = (candidate: BackedUp): Promise<boolean> =>
        read(candidate, { ...options.variables, ...secret }).then(
          () => true,
          (error: unknown) => (error instanceof OptionsError ? false : Promise.reject(error)),
        );
      const without = (names: readonly SettingName[]): BackedUp & { misfits: string[] } => {
        const isLeft = (key: string): boolean => names.some((name) => settingOf(key) === name);
        return {
          given: Object.fromEntries(Object.entries(backedUp.given).filter(([key]) => !isLeft(key))),
          stripped: backedUp.stripped,
          misfits: Object.keys(backedUp.given).filter(isLeft),
        };
      };
      await mkdir(trial, { recursive: true, mode: 0o700 });
      try {
        // Each one by itself, also where the environment has another value: the baseline has no rules between settings.
        await read(backedUp, { SIGNAGE_VARIANT: 'baseline' });
        for (const names of omissions) {
          const candidate = without(names);
          if (await fits(candidate)) return candidate;
        }
        // The box has both alone.
        return without(related);
      } finally {
        // It has the secrets of this box.
        await rm(trial, { recursive: true, force: true });
      }
    },

    /** Judged long before: meanwhile somebody may have set a secret, a PIN or a network. */
    write: async (backedUp: BackedUp) => {
      let result = configWith(backedUp);
      await changeConfig(configPath, async () => {
        result = configWith(backedUp);
        return result.taken.length === 0 ? null : spell(result.config);
      });
      return result;
    },
  };
};
