/** The settings of a run from its environment: the box, the secret, and the operator's name. */
import { readFileSync, statSync } from 'node:fs';
import { isAbsolute, join } from 'node:path';
import { addressFile, addressIn, localTokenFile } from '../contract/headers.ts';
import { hasDecodableUser, parseUrl } from '../contract/url.ts';
import { kioskDataDir, platformDataDir } from '../domain/data-folder.ts';
import { CliError } from './exit.ts';
import { keyOf, type PersonKey } from './key.ts';

export interface Surroundings {
  env: Readonly<NodeJS.ProcessEnv>;
  home: string;
  /** The login name; null: unknown. */
  login: string | null;
}

const given = (env: Surroundings['env'], name: string): string | null => env[name]?.trim() || null;

/** @returns the base URL, without a path; null: it is none. A box without a scheme is asked over http */
export const parseBox = (text: string): URL | null => {
  const address = /^[a-z][a-z\d+.-]*:\/\//i.test(text) ? text : `http://${text}`;
  const url = parseUrl(address);
  if (url === null) return null;
  const hasMore =
    [url.search, url.hash, url.username, url.password].some((part) => part !== '') || url.pathname !== '/';
  return /^https?:$/.test(url.protocol) && !hasMore ? url : null;
};

export const boxRule = 'an address such as http://192.168.1.20:8080';

/** The box that SIGNAGE_BOX names; null: none. @throws CliError `configuration` */
export const boxOf = ({ env }: Pick<Surroundings, 'env'>): URL | null => {
  const text = given(env, 'SIGNAGE_BOX');
  if (text === null) return null;
  const url = parseBox(text);
  if (url === null)
    throw new CliError('configuration', `SIGNAGE_BOX is ${JSON.stringify(text)}; it must be ${boxRule}.`);
  return url;
};

/** Where something is kept between runs. */
const keptFile = ({ env, home }: Pick<Surroundings, 'env' | 'home'>, name: string): string => {
  const folder = env['XDG_CONFIG_HOME'] ?? '';
  // A relative path is to be ignored (XDG Base Directory Specification).
  return join(isAbsolute(folder) ? folder : join(home, '.config'), 'signage', name);
};

/** Where the secret is kept between runs. */
export const secretFile = (surroundings: Pick<Surroundings, 'env' | 'home'>): string =>
  keptFile(surroundings, 'secret');

/** Where the key of a person is kept, as a JWK (RFC 8037). */
export const keyFile = (surroundings: Pick<Surroundings, 'env' | 'home'>): string => keptFile(surroundings, 'key');

/** Where the root certificate of the site is kept, PEM; several may follow each other. */
export const rootFile = (surroundings: Pick<Surroundings, 'env' | 'home'>): string =>
  keptFile(surroundings, 'root.pem');

/** The root certificate of the site, which is trusted beside those of the system; null: none was kept. */
export const readRoot = (surroundings: Pick<Surroundings, 'env' | 'home'>): string | null => {
  const path = rootFile(surroundings);
  try {
    return readFileSync(path, 'utf8') || null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw new CliError('configuration', `${path} cannot be read (${code}).`);
  }
};

/** A file that only its owner may read; null: there is none. @throws CliError `configuration` */
const readPrivate = (path: string): string | null => {
  try {
    const { mode } = statSync(path);
    if (process.platform !== 'win32' && (mode & 0o077) !== 0) {
      throw new CliError('configuration', `Others may read ${path}. Run: chmod 600 '${path}'`);
    }
    return readFileSync(path, 'utf8').replace(/\r?\n$/, '') || null;
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    if (code === 'ENOENT' || code === 'ENOTDIR') return null;
    throw error instanceof CliError ? error : new CliError('configuration', `${path} cannot be read (${code}).`);
  }
};

/**
 * The key of a person; null: nobody has joined here.
 * @throws CliError `configuration` if the file is no key, can't be read, or others may read it
 */
export const readKey = (surroundings: Pick<Surroundings, 'env' | 'home'>): PersonKey | null => {
  const path = keyFile(surroundings);
  const text = readPrivate(path);
  if (text === null) return null;
  try {
    return keyOf(text);
  } catch {
    throw new CliError('configuration', `${path} is no key. Remove it, and join again: signage join URL`);
  }
};

/**
 * The shared secret; null: there is none.
 * @throws CliError `configuration` if the file can't be read, or others may read it
 */
export const readSecret = (surroundings: Pick<Surroundings, 'env' | 'home'>): string | null => {
  const fromEnvironment = surroundings.env['SIGNAGE_SHARED_SECRET'] ?? '';
  if (fromEnvironment !== '') return fromEnvironment;
  return readPrivate(secretFile(surroundings));
};

/** Where the deb keeps the data of the player. */
const PACKAGED_DATA_DIR = '/var/lib/signage-player';

/** Whether a URL leads to this machine, without a DNS lookup. */
export const isLoopback = ({ hostname }: URL): boolean => /^(127(\.\d+){3}|\[::1\]|localhost)$/.test(hostname);

/** Where the player of this machine may keep its data. */
const dataFolders = ({ env, home }: Pick<Surroundings, 'env' | 'home'>): string[] => {
  const chosen = given(env, 'SIGNAGE_DATA_DIR');
  if (chosen !== null) return [chosen];
  const { platform } = process;
  return [PACKAGED_DATA_DIR, platformDataDir(env, home, platform), kioskDataDir(env, home, platform)];
};

/** The base URL of the box that keeps its data in a folder; null: none does, or the folder may not be read. */
const boxIn = (folder: string): URL | null => {
  try {
    return parseUrl(addressIn(readFileSync(join(folder, addressFile), 'utf8')) ?? '');
  } catch {
    return null;
  }
};

/** The base URL of the box on this machine; null: none runs, or its folder may not be read. */
export const readLocalBox = (surroundings: Pick<Surroundings, 'env' | 'home'>): URL | null => {
  for (const folder of dataFolders(surroundings)) {
    const url = boxIn(folder);
    if (url !== null) return url;
  }
  return null;
};

/** The token of the box on this machine, only for its own address; null: another address, or it may not be read. */
export const readLocalToken = (surroundings: Pick<Surroundings, 'env' | 'home'>, base: URL): string | null => {
  if (!isLoopback(base)) return null;
  // Several players may have been here. Over https none has the port that it keeps.
  const isAsked = (folder: string): number => Number(boxIn(folder)?.port === base.port);
  for (const folder of dataFolders(surroundings).sort((one, other) => isAsked(other) - isAsked(one))) {
    try {
      return readFileSync(join(folder, localTokenFile), 'utf8').trim();
    } catch {
      // The token proves something only where the box asks for it.
    }
  }
  return null;
};

/** Whether NATS connects to the URL. */
export const isFleet = (text: string): boolean => {
  const url = parseUrl(text);
  return url !== null && /^(nats|tls|wss?):$/.test(url.protocol) && url.hostname !== '' && hasDecodableUser(url);
};

export const fleetRule =
  'a nats, tls, ws or wss URL such as tls://hub.example.com:4222 (a % in user or password is written %25)';

/** The hub of the fleet, and the path of the `.creds` file for it. @throws CliError `configuration` */
export const fleetOf = (
  { env }: Pick<Surroundings, 'env'>,
  { fleet, credentials }: { fleet?: string; credentials?: string },
): { url: string; credentials: string | null } => {
  const url = fleet ?? given(env, 'SIGNAGE_FLEET_URL');
  if (url === null)
    throw new CliError('configuration', 'Name the hub of the fleet: --fleet URL, or SIGNAGE_FLEET_URL.');
  if (!isFleet(url)) throw new CliError('configuration', `SIGNAGE_FLEET_URL must be ${fleetRule}.`);
  return { url, credentials: credentials ?? given(env, 'SIGNAGE_FLEET_CREDENTIALS') };
};

const MAX_OPERATOR = 64;

/** Whether the name is allowed in the audit. */
export const isOperator = (name: string): boolean =>
  name.length >= 1 && name.length <= MAX_OPERATOR && !/\p{Cc}/u.test(name);

/** The operator's name for the audit; null: not known. @throws CliError `configuration` */
export const operatorOf = ({ env, login }: Pick<Surroundings, 'env' | 'login'>): string | null => {
  const name = given(env, 'SIGNAGE_OPERATOR');
  if (name !== null && !isOperator(name)) {
    throw new CliError('configuration', `SIGNAGE_OPERATOR must be 1 to ${MAX_OPERATOR} characters.`);
  }
  return name ?? (login !== null && isOperator(login) ? login : null);
};
