/** The folder with the keys of a hub: those that sign, and those of the sites. */
import { lchownSync, mkdirSync, readdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { z } from 'zod';
import { fleetSite } from '../../contract/fleet.ts';
import { CliError } from '../exit.ts';
import { visible } from '../text.ts';
import type { HubKeys } from './accounts.ts';
import { createKey, type Key, keyOf } from './keys.ts';

const nkey = (prefix: string) => z.string().regex(new RegExp(`^${prefix}[A-Z2-7]+$`));

const siteFile = z.object({
  /** Seed of the account. */
  account: nkey('SA'),
  /** Public key of the boxes. */
  boxes: nkey('U'),
  leaf: z.object({ key: nkey('U'), url: z.string() }).nullable(),
  /** Keys that were replaced: what was issued to them until then is refused, seconds since the epoch. */
  revoked: z.record(nkey('U'), z.number().int()),
});
export type SiteKeys = z.infer<typeof siteFile>;

const roles = { operator: 'operator', system: 'account', headOffice: 'account' } as const;
const files = { operator: 'operator.nk', system: 'system.nk', headOffice: 'head-office.nk' } as const;

const codeOf = (error: unknown): string | undefined => (error as NodeJS.ErrnoException).code;

/** @throws CliError `configuration` that names the file */
const failing = <Result>(path: string, work: () => Result): Result => {
  try {
    return work();
  } catch (error) {
    if (error instanceof CliError) throw error;
    const why = codeOf(error) === 'ENOENT' ? 'is not there' : `cannot be used (${codeOf(error) ?? 'damaged'})`;
    throw new CliError('configuration', `${visible(path)} ${why}.`);
  }
};

/** A user and a group of the system. */
export interface Owner {
  uid: number;
  gid: number;
}

/**
 * Replaces the file as a whole; only its owner reads it. No link is followed: the folder may be another user's.
 * @param owner null: the user of this process
 */
export const replaceFile = (path: string, text: string, mode = 0o600, owner: Owner | null = null): void => {
  const temporary = `${path}.new`;
  try {
    rmSync(temporary, { force: true });
    writeFileSync(temporary, text, { mode, flag: 'wx', flush: true });
    if (owner !== null) lchownSync(temporary, owner.uid, owner.gid);
    renameSync(temporary, path);
  } catch (error) {
    rmSync(temporary, { force: true });
    throw error;
  }
};

const readKey = (path: string): Key => failing(path, () => keyOf(readFileSync(path, 'utf8').trim()));

/** @throws CliError `configuration` if a key is missing */
export const readKeys = (folder: string): HubKeys => ({
  operator: readKey(join(folder, files.operator)),
  system: readKey(join(folder, files.system)),
  headOffice: readKey(join(folder, files.headOffice)),
});

/** Makes the folder and the keys that it does not have. @throws CliError `configuration` */
export const makeKeys = (folder: string): HubKeys =>
  failing(folder, () => {
    mkdirSync(join(folder, 'sites'), { recursive: true, mode: 0o700 });
    for (const name of Object.keys(files) as (keyof typeof files)[]) {
      try {
        writeFileSync(join(folder, files[name]), `${createKey(roles[name]).seed}\n`, { mode: 0o600, flag: 'wx' });
      } catch (error) {
        if (codeOf(error) !== 'EEXIST') throw error;
      }
    }
    return readKeys(folder);
  });

const siteOfFile = (folder: string, site: string): string => join(folder, 'sites', site);

/** @returns null: the site has no account. @throws CliError `configuration` */
export const readSite = (folder: string, site: string): SiteKeys | null => {
  const path = siteOfFile(folder, site);
  return failing(path, () => {
    try {
      return siteFile.parse(JSON.parse(readFileSync(path, 'utf8')));
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    }
  });
};

/** @param keys null: the site is deleted. @throws CliError `configuration` */
export const writeSite = (folder: string, site: string, keys: SiteKeys | null): void => {
  const path = siteOfFile(folder, site);
  failing(path, () => {
    if (keys === null) rmSync(path, { force: true });
    else replaceFile(path, `${JSON.stringify(keys, null, 2)}\n`);
  });
};

/** The names of the sites that have an account. @throws CliError `configuration` */
export const listSites = (folder: string): string[] => {
  const path = join(folder, 'sites');
  return failing(path, () => readdirSync(path).filter((name) => fleetSite.safeParse(name).success)).sort();
};
