/** `config.json` in the data directory. */
import { readFileSync } from 'node:fs';
import { z } from 'zod';
import { nearestOf } from '../../domain/wording.ts';
import { createQueue } from '../queue.ts';
import { previousOf } from '../store/file.ts';
import { writeTwice } from '../store/rewrite.ts';
import { type KioskSettings, kioskSettings } from './kiosk.ts';
import { environmentName, pathNames, refusal, type SettingName, secretNames, settingNames } from './settings.ts';
import { OptionsError } from './values.ts';

const written = z.union([z.string(), z.number(), z.boolean(), z.array(z.string())]);

/** A value of `config.json` as the environment would spell it; undefined if that is not possible. */
const spell = (value: unknown): string | undefined => {
  const { data } = written.safeParse(value);
  return data === true ? 'on' : data === false ? 'off' : data === undefined ? undefined : String(data);
};

/**
 * Validates the `kiosk` section of `config.json`.
 * @throws OptionsError that names the path of the invalid value
 */
export const readKiosk = (given: unknown): KioskSettings => {
  const result = kioskSettings.safeParse(given);
  if (!result.success) {
    const [issue] = result.error.issues;
    const path = (issue?.path ?? []).map((part) => (typeof part === 'number' ? `[${part}]` : `.${String(part)}`));
    throw new OptionsError(`config.json: kiosk${path.join('')} is not valid; expected ${issue?.message}`, 'kiosk');
  }
  return result.data;
};

/** The text of a file; undefined: the disk has lost it, and not a person. @throws the system's error */
const readText = (path: string): string | undefined => {
  try {
    const text = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
    return text === '' || text.startsWith('\0') ? undefined : text;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EIO') return undefined;
    throw error;
  }
};

const readCopy = (path: string): string | undefined => {
  try {
    return readText(previousOf(path));
  } catch {
    return undefined;
  }
};

/**
 * The content of `config.json`; empty if there is no file. That of its copy where a power cut or the disk has lost it.
 * @param warnings says so there
 * @throws OptionsError if it cannot be read or is no JSON object
 */
export const readConfig = (path: string, warnings: string[] = []): Record<string, unknown> => {
  let source: string | undefined;
  try {
    source = readText(path);
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return {};
    throw new OptionsError(`${path} cannot be read: ${(error as Error).message}`);
  }
  if (source === undefined) {
    source = readCopy(path) ?? '';
    if (source !== '') warnings.push(`config.json is damaged; the settings are those of its copy, ${previousOf(path)}`);
  }
  let config: unknown;
  try {
    config = JSON.parse(source);
  } catch {
    // The parser's message quotes the file, which may contain a secret.
    throw new OptionsError(`${path} is not JSON; check its quotes, commas and brackets`);
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new OptionsError(`${path} must contain a JSON object of settings`);
  }
  return config as Record<string, unknown>;
};

const secretSpellings = ['sharedSecret', environmentName('sharedSecret')];

/** The secret of the site as `config.json` has it; undefined: it has none. */
export const secretIn = (config: Readonly<Record<string, unknown>>): string | number | undefined =>
  secretSpellings
    .map((name) => config[name])
    .find((value) => typeof value === 'number' || (typeof value === 'string' && value !== '')) as
    | string
    | number
    | undefined;

/** The first setting of a `config.json` that names a program, folder or file of the box; undefined: it has none. */
export const pathSettingIn = (config: Readonly<Record<string, unknown>>): string | undefined =>
  Object.keys(config).find((key) => pathNames.some((name) => key === name || key === environmentName(name)));

/** The settings of a `config.json` other than the secret. */
export const withoutSecret = (config: Readonly<Record<string, unknown>>): Record<string, unknown> =>
  Object.fromEntries(Object.entries(config).filter(([name]) => !secretSpellings.includes(name)));

/** The bytes of a `config.json` with this secret, under its usual name. */
export const withSecret = (config: Readonly<Record<string, unknown>>, sharedSecret: string | number): Buffer => {
  return Buffer.from(`${JSON.stringify({ ...withoutSecret(config), sharedSecret }, null, 2)}\n`);
};

/** An imported `config.json`, with the box's secret where it names none. @returns `given` itself where nothing is added */
export const keepSecret = (
  own: Readonly<Record<string, unknown>>,
  given: Readonly<Record<string, unknown>>,
): Readonly<Record<string, unknown>> => {
  const sharedSecret = secretIn(own);
  return sharedSecret === undefined || secretIn(given) !== undefined
    ? given
    : { ...withoutSecret(given), sharedSecret };
};

interface SettingsFile {
  /** The settings as in the environment, and as in the file. */
  found: Map<SettingName, { spelt: string; written: unknown }>;
  kiosk: KioskSettings;
}

/**
 * The settings that `config.json` gives. Adds to `warnings` what is no setting there.
 * @throws OptionsError
 */
export const readFile = (path: string, warnings: string[]): SettingsFile => {
  const found: SettingsFile['found'] = new Map();
  let kiosk = kioskSettings.parse({});
  const ignore = (key: string): void => void warnings.push(`config.json: ${key} is not a setting and is ignored`);
  for (const [key, value] of Object.entries(readConfig(path, warnings))) {
    const name = settingNames.find((known) => key === known || key === environmentName(known));
    // Whether the file stays where it was imported from, which is no setting of the box.
    if (key === 'keep') {
      if (typeof value !== 'boolean') throw new OptionsError('config.json: keep is not valid; expected true or false');
      continue;
    }
    // After a rollback a setting of the newer version must not prevent the start.
    if (key === 'kiosk') {
      kiosk = readKiosk(value ?? {});
      for (const inner of Object.keys(value ?? {})) if (!(inner in kioskSettings.shape)) ignore(`kiosk.${inner}`);
    } else if (name === undefined) ignore(key);
    else if (name === 'dataDir')
      warnings.push(
        `config.json: ${key} is ignored: the data directory is set by SIGNAGE_DATA_DIR in the environment only`,
      );
    else if (value !== null) {
      const spelt = spell(value);
      if (spelt === undefined) throw refusal(name, value, 'a string, number, boolean or list of strings');
      found.set(name, { spelt, written: value });
    }
  }
  return { found, kiosk };
};

export type Environment = Record<string, string | undefined>;

/**
 * A copy of the process's environment, from which the options can be read repeatedly. Afterwards only the copy has the
 * secrets.
 */
export const takeEnvironment = (platform = process.platform): Environment => {
  // On Windows names are case-insensitive (`Path`), but not in a copy.
  const entries = Object.entries(process.env);
  const environment = Object.fromEntries(
    platform === 'win32' ? entries.map(([name, value]) => [name.toUpperCase(), value]) : entries,
  );
  for (const name of secretNames) delete process.env[environmentName(name)];
  return environment;
};

/** Runs `act` with the secrets restored to the environment, for a process that replaces this one. */
export const lendSecrets = (environment: Environment, act: () => void): void => {
  const names = secretNames.map(environmentName).filter((name) => environment[name] !== undefined);
  for (const name of names) process.env[name] = environment[name];
  try {
    act();
  } finally {
    for (const name of names) delete process.env[name];
  }
};

/** Variables of the command line. */
const foreignVariables: readonly string[] = ['SIGNAGE_BOX', 'SIGNAGE_OPERATOR'];

/** Warnings of variables that look like settings but are not. Their values may be secrets, and are not shown. */
export const variableWarnings = (names: readonly string[]): string[] => {
  const known = settingNames.map(environmentName);
  const suffixOf = (name: string): string => name.slice('SIGNAGE_'.length);
  return names
    .filter((name) => name.startsWith('SIGNAGE_') && !known.includes(name) && !foreignVariables.includes(name))
    .map((name) => {
      const nearest = nearestOf(suffixOf(name), known.map(suffixOf));
      return `${name} is not a setting and is ignored${nearest === undefined ? '' : `; did you mean SIGNAGE_${nearest}?`}`;
    });
};

/** Of the process, which has one `config.json`: a change of the kiosk must not undo one of the service, which writes a secret. */
const enqueue = createQueue();

/**
 * Changes `config.json`, one caller after the other. The file is replaced atomically and durably; its symbolic link, owner and
 * permissions stay, and a new file is only for this user.
 * @param make reads what is there, and returns the new content; null: nothing is written
 * @returns whether it was written
 * @throws what `make` throws, or the system's error; the old file is intact then
 */
export const changeConfig = (path: string, make: () => Promise<Uint8Array | string | null>): Promise<boolean> =>
  enqueue(async () => {
    const content = await make();
    if (content === null) return false;
    await writeTwice(path, content);
    return true;
  });
