/**
 * The settings of the service: from the environment, then `config.json` in the data directory, then defaults.
 * Read and validated once at the start; no other module reads the environment.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { z } from 'zod';
import { fleetSite } from '../../contract/fleet.ts';
import { variants } from '../../contract/terms.ts';
import { nearestOf } from '../../domain/nearest.ts';
import { OptionsError } from './error.ts';
import { type KioskSettings, kioskSettings } from './kiosk.ts';
import {
  baseUrl,
  commaList,
  dailyHours,
  fleetUrl,
  folder,
  hostName,
  isTimeZone,
  onOff,
  text,
  trustedProxy,
  webhookSecret,
  webhookUrl,
  wholeNumber,
} from './values.ts';

export { EXIT_CONFIG, OptionsError } from './error.ts';
export { isBaseUrl } from './values.ts';

const GIB = 1024 ** 3;

/**
 * The settings, by the names that the code uses. The environment has each as `SIGNAGE_` and the name in
 * capitals (`maxStreams`: `SIGNAGE_MAX_STREAMS`); `config.json` takes either spelling.
 */
const settings = {
  /** Listen address. */
  host: text.default('0.0.0.0'),
  /** TCP port; 0 takes any free one. */
  port: wholeNumber(0, 65_535).default(8080),
  /** Folder of all persistent data. */
  dataDir: folder,
  /** Where uploads are written. Default: `{dataDir}/uploads`. */
  uploadDir: folder.optional(),
  /** Where copies of remote media are kept. Default: `{dataDir}/media`. */
  mediaDir: folder.optional(),
  variant: z.enum(variants, 'extended or baseline').default('extended'),
  /** Enables authentication. */
  sharedSecret: z.string().optional(),
  /** The previous secret during a rotation: verifies signatures, but never signs. */
  sharedSecretPrevious: z.string().optional(),
  /** Host names that the service answers to, beyond addresses and local names. */
  allowedHosts: commaList.pipe(z.array(hostName)).default([]),
  /** The address that phones and peers reach the service by. */
  publicUrl: baseUrl.optional(),
  /** Base URLs of static peers, for boxes that discovery does not find. */
  peers: commaList.pipe(z.array(baseUrl)).default([]),
  /** Whether peers are discovered by DNS-SD. */
  discovery: onOff,
  /** Only boxes of one site are peers. */
  site: text.default('default'),
  /** Largest upload, and largest copy of a remote medium, bytes. */
  maxUploadBytes: wholeNumber(1, Number.MAX_SAFE_INTEGER).default(2 * GIB),
  /** Limit in bytes of uploads, copies of remote media and peers' media together. Uploads evict copies. */
  mediaQuotaBytes: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(64 * GIB),
  /** Media are fetched from other hosts and boxes at this rate at most, in total, bytes per second; 0: unlimited. */
  fetchBytesPerSecond: wholeNumber(0, Number.MAX_SAFE_INTEGER).default(0),
  /** When media are fetched from other hosts and boxes, by the site's clock; absent: always. */
  fetchHours: dailyHours.optional(),
  /** Whether the console and its API are offered; never in the baseline variant. */
  console: onOff,
  ffmpegPath: text.optional(),
  /** Limit of concurrent stream sessions. */
  maxStreams: wholeNumber(0, 1000).default(8),
  /** Idle time after which a stream without requests ends, seconds. */
  streamIdleSeconds: wholeNumber(1, 86_400).default(30),
  /** Lifetime of a page token, seconds. */
  pageTokenSeconds: wholeNumber(1, 86_400).default(900),
  /** Proxies whose X-Forwarded-For is trusted: none, all, or these addresses. */
  trustProxy: trustedProxy.default(false),
  /** Where plays are delivered, as webhooks (Standard Webhooks). */
  playsUrl: webhookUrl.optional(),
  /** Where alerts are delivered, as webhooks. */
  alertUrl: webhookUrl.optional(),
  /** For how long something fails before an alert says so, seconds. */
  alertGraceSeconds: wholeNumber(0, 86_400).default(300),
  /** The key of webhooks. Default: derived from the shared secret. */
  webhookSecret: webhookSecret.optional(),
  /** IANA name of the zone that schedules are in. */
  timeZone: z.string().refine(isTimeZone, 'an IANA time zone such as Europe/Vienna').optional(),
  /** The NATS server of the fleet; without it the site is alone. */
  fleetUrl: fleetUrl.optional(),
  /** Path of the `.creds` file for it. */
  fleetCredentials: text.transform((path) => resolve(path)).optional(),
  logLevel: z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'fatal, error, warn, info, debug, trace or silent',
    )
    .default('info'),
};

type SettingName = keyof typeof settings;
const settingNames = Object.keys(settings) as SettingName[];
const secretNames: readonly SettingName[] = ['sharedSecret', 'sharedSecretPrevious', 'webhookSecret'];

const environmentName = (name: SettingName): string =>
  `SIGNAGE_${name.replace(/[A-Z]/g, (c) => `_${c}`).toUpperCase()}`;

/** Variables of the command line. */
const foreignVariables: readonly string[] = ['SIGNAGE_BOX', 'SIGNAGE_OPERATOR'];

/** Warnings of variables that look like settings but are not. Their values may be secrets, and are not shown. */
const variableWarnings = (names: readonly string[]): string[] => {
  const known = settingNames.map(environmentName);
  const suffixOf = (name: string): string => name.slice('SIGNAGE_'.length);
  return names
    .filter((name) => name.startsWith('SIGNAGE_') && !known.includes(name) && !foreignVariables.includes(name))
    .map((name) => {
      const nearest = nearestOf(suffixOf(name), known.map(suffixOf));
      return `${name} is not a setting and is ignored${nearest === undefined ? '' : `; did you mean SIGNAGE_${nearest}?`}`;
    });
};

type Given = z.infer<z.ZodObject<typeof settings>>;
type Filled = 'uploadDir' | 'mediaDir' | 'timeZone';
type Nullable =
  | 'sharedSecret'
  | 'sharedSecretPrevious'
  | 'publicUrl'
  | 'ffmpegPath'
  | 'playsUrl'
  | 'alertUrl'
  | 'webhookSecret'
  | 'fetchHours'
  | 'fleetUrl'
  | 'fleetCredentials';

/** The options, complete and frozen. An absent value is null. */
export type Options = Readonly<
  Omit<Given, Filled | Nullable> & { [name in Filled]: string } & {
    [name in Nullable]: NonNullable<Given[name]> | null;
  } & {
    /** The `kiosk` section of `config.json`; it has no environment variables. */
    kiosk: KioskSettings;
    /** The environment of child processes. */
    childEnvironment: Readonly<{ PATH: string; LANG: string }>;
    /** Issues that do not prevent the start, as sentences; for the log and /healthz. */
    warnings: readonly string[];
  }
>;

/** @param allowed completes the sentence "allowed is ..." */
export const refusal = (name: SettingName, value: unknown, allowed: string): OptionsError => {
  const isSecret = secretNames.includes(name) || (name === 'fleetUrl' && String(value).includes('@'));
  const shown = isSecret ? 'the value given' : JSON.stringify(value);
  return new OptionsError(`${environmentName(name)}: ${shown} is not allowed; allowed is ${allowed}`, name);
};

type Environment = Record<string, string | undefined>;

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

interface Surroundings {
  /** Default: the environment of the process, from which the secrets are removed, so that no child inherits them. */
  env?: Environment;
  /** Defaults that differ from those of the service. */
  defaults?: { dataDir?: string; discovery?: 'on' | 'off' };
}

/** The platform's folder for application data. */
const platformDataDir = (env: Environment): string => {
  if (process.platform === 'win32')
    return join(env.LOCALAPPDATA ?? join(homedir(), 'AppData', 'Local'), 'signage-player');
  if (process.platform === 'darwin') return join(homedir(), 'Library', 'Application Support', 'signage-player');
  return join(env.XDG_DATA_HOME ?? join(homedir(), '.local', 'share'), 'signage-player');
};

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
    throw new OptionsError(`config.json: kiosk${path.join('')} is not allowed; allowed is ${issue?.message}`, 'kiosk');
  }
  return result.data;
};

/**
 * The content of `config.json`; empty if there is no file.
 * @throws OptionsError if it cannot be read or is no JSON object
 */
export const readConfig = (path: string): Record<string, unknown> => {
  let source: string;
  try {
    source = readFileSync(path, 'utf8').replace(/^\uFEFF/, '');
  } catch (error) {
    if (['ENOENT', 'ENOTDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return {};
    throw new OptionsError(`${path} can't be read: ${(error as Error).message}`);
  }
  let config: unknown;
  try {
    config = JSON.parse(source);
  } catch {
    // The parser's message quotes the file, which may contain a secret.
    throw new OptionsError(`${path} is not JSON; check its quotes, commas and brackets`);
  }
  if (typeof config !== 'object' || config === null || Array.isArray(config)) {
    throw new OptionsError(`${path} must hold a JSON object of settings`);
  }
  return config as Record<string, unknown>;
};

interface SettingsFile {
  found: Map<SettingName, string>;
  kiosk: KioskSettings;
}

const readFile = (path: string, warnings: string[]): SettingsFile => {
  const found = new Map<SettingName, string>();
  let kiosk = kioskSettings.parse({});
  const ignore = (key: string): void => void warnings.push(`config.json: ${key} is not a setting and is ignored`);
  for (const [key, value] of Object.entries(readConfig(path))) {
    const name = settingNames.find((known) => key === known || key === environmentName(known));
    // After a rollback a setting of the newer version must not prevent the start.
    if (key === 'kiosk') {
      kiosk = readKiosk(value ?? {});
      for (const inner of Object.keys(value ?? {})) if (!(inner in kioskSettings.shape)) ignore(`kiosk.${inner}`);
    } else if (name === undefined || name === 'dataDir') ignore(key);
    else if (value !== null) {
      const spelt = spell(value);
      if (spelt === undefined) throw refusal(name, value, 'a text, a number, true, false or a list of texts');
      found.set(name, spelt);
    }
  }
  return { found, kiosk };
};

/**
 * Reads and validates all settings.
 * @throws OptionsError at the first invalid value; the caller prints its message and exits with {@link EXIT_CONFIG}.
 */
export const readOptions = ({ env = process.env, defaults = {} }: Surroundings = {}): Options => {
  const warnings = variableWarnings(Object.keys(env));
  const judge = <Name extends SettingName>(name: Name, value: string | undefined): Given[Name] => {
    const result = settings[name].safeParse(value);
    if (result.success) return result.data as Given[Name];
    throw refusal(name, value, String(result.error.issues[0]?.message));
  };
  // An empty variable counts as unset.
  const fromEnvironment = (name: SettingName): string | undefined => env[environmentName(name)] || undefined;

  const dataDir = judge('dataDir', fromEnvironment('dataDir') ?? defaults.dataDir ?? platformDataDir(env));
  const { found: file, kiosk } = readFile(join(dataDir, 'config.json'), warnings);
  file.set('dataDir', dataDir);
  const lookUp = <Name extends SettingName>(name: Name, fallback?: string): Given[Name] =>
    judge(name, fromEnvironment(name) ?? file.get(name) ?? fallback);

  const sharedSecret = lookUp('sharedSecret') || null;
  const sharedSecretPrevious = lookUp('sharedSecretPrevious') || null;
  const webhookKey = lookUp('webhookSecret') || null;
  const playsUrl = lookUp('playsUrl') ?? null;
  const alertUrl = lookUp('alertUrl') ?? null;
  for (const name of secretNames) delete env[environmentName(name)];
  for (const [name, secret] of Object.entries({ sharedSecret, sharedSecretPrevious })) {
    if (secret === null || secret.length >= 16) continue;
    warnings.push(
      `${environmentName(name as SettingName)} is shorter than 16 characters and can be guessed; use a longer one`,
    );
  }
  if (sharedSecret === null && sharedSecretPrevious !== null) {
    warnings.push('SIGNAGE_SHARED_SECRET_PREVIOUS is set without SIGNAGE_SHARED_SECRET: authentication is off');
  }

  if ((playsUrl ?? alertUrl) !== null && webhookKey === null && sharedSecret === null) {
    warnings.push(
      'Webhooks are not signed: set SIGNAGE_WEBHOOK_SECRET, so that their receiver can tell them from others',
    );
  }

  const site = lookUp('site');
  const fleet = lookUp('fleetUrl') ?? null;
  const siteRule = fleetSite.safeParse(site);
  if (fleet !== null && !siteRule.success) {
    throw refusal('site', site, `${siteRule.error.issues[0]?.message}, because SIGNAGE_FLEET_URL is set`);
  }

  return Object.freeze({
    host: lookUp('host'),
    port: lookUp('port'),
    dataDir,
    uploadDir: lookUp('uploadDir', join(dataDir, 'uploads')) as string,
    mediaDir: lookUp('mediaDir', join(dataDir, 'media')) as string,
    variant: lookUp('variant'),
    sharedSecret,
    sharedSecretPrevious,
    allowedHosts: lookUp('allowedHosts'),
    publicUrl: lookUp('publicUrl') ?? null,
    peers: lookUp('peers'),
    discovery: lookUp('discovery', defaults.discovery ?? 'off'),
    site,
    maxUploadBytes: lookUp('maxUploadBytes'),
    mediaQuotaBytes: lookUp('mediaQuotaBytes'),
    fetchBytesPerSecond: lookUp('fetchBytesPerSecond'),
    fetchHours: lookUp('fetchHours') ?? null,
    console: lookUp('console', 'on'),
    ffmpegPath: lookUp('ffmpegPath') ?? null,
    maxStreams: lookUp('maxStreams'),
    streamIdleSeconds: lookUp('streamIdleSeconds'),
    pageTokenSeconds: lookUp('pageTokenSeconds'),
    trustProxy: lookUp('trustProxy'),
    playsUrl,
    alertUrl,
    alertGraceSeconds: lookUp('alertGraceSeconds'),
    webhookSecret: webhookKey,
    timeZone: lookUp('timeZone', new Intl.DateTimeFormat().resolvedOptions().timeZone) as string,
    fleetUrl: fleet,
    fleetCredentials: lookUp('fleetCredentials') ?? null,
    logLevel: lookUp('logLevel'),
    kiosk,
    childEnvironment: { PATH: env.PATH ?? '', LANG: env.LANG ?? 'C' },
    warnings,
  });
};
