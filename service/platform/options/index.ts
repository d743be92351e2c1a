/**
 * The settings of the service: from the environment, then `config.json` in the data directory, then defaults.
 * Read and validated once at the start; no other module reads the environment.
 */
import { homedir } from 'node:os';
import { join, sep } from 'node:path';
import { fleetSite } from '../../contract/fleet.ts';
import { platformDataDir } from '../../domain/data-folder.ts';
import { makeFolder } from '../store/file.ts';
import { type Environment, readFile, variableWarnings } from './file.ts';
import type { KioskSettings } from './kiosk.ts';
import {
  environmentName,
  type Given,
  refusal,
  type SettingName,
  secretNames,
  settingNames,
  settings,
} from './settings.ts';
import { isTimeZone } from './values.ts';

export {
  changeConfig,
  keepSecret,
  lendSecrets,
  pathSettingIn,
  readConfig,
  readKiosk,
  secretIn,
  takeEnvironment,
  withoutSecret,
  withSecret,
} from './file.ts';
export { refusal } from './settings.ts';
export { EXIT_CONFIG, isBaseUrl, isTimeZone, OptionsError } from './values.ts';

/** Settings whose defaults depend on the machine or on others. */
type Filled = 'uploadDir' | 'mediaDir';

type Values = {
  [Name in SettingName]: undefined extends Given[Name]
    ? NonNullable<Given[Name]> | (Name extends Filled ? never : null)
    : Given[Name];
};

/** The options, complete and frozen. An absent value is null. */
export type Options = Readonly<
  Omit<Values, 'timeZone'> & {
    /** Of the site; default: that of the machine. */
    timeZone: string;
    /** Whether no setting names it and the machine is on UTC, as an image is. */
    lacksTimeZone: boolean;
    /** The zone that a box without a setting has learned; null: none. */
    toldTimeZone: string | null;
    /** The `kiosk` section of `config.json`; it has no environment variables. */
    kiosk: KioskSettings;
    /** The variables of the environment that are settings, without the secrets. */
    variables: Readonly<Record<string, string>>;
    childEnvironment: Readonly<{ PATH: string; LANG: string }>;
    /** Issues that do not prevent the start, as sentences; for the log and /healthz. */
    warnings: readonly string[];
  }
>;

/** Settings of what the baseline variant does not have: HTTPS, people, conversion of media, fleet and MQTT. */
const extendedSettings: readonly SettingName[] = [
  ...(['https', 'httpsPort', 'tlsCert', 'tlsKey'] as const),
  ...(['requirePeople', 'oidcIssuer', 'oidcClientId', 'oidcClientSecret', 'oidcRoles'] as const),
  ...(['convert', 'convertHours', 'fleetUrl', 'fleetCredentials', 'mqttUrl', 'mqttPrefix', 'mqttControl'] as const),
];
const baselineValues = {
  https: false,
  console: false,
  requirePeople: false,
  convert: false,
  fleetUrl: null,
  mqttUrl: null,
} satisfies Partial<Values>;

interface Surroundings {
  /** Default: the environment of the process, from which the secrets are removed, so that no child inherits them. */
  env?: Environment;
  /** Defaults that differ from those of the service. */
  defaults?: { dataDir?: string; discovery?: 'on' | 'off'; https?: 'on' | 'off' };
}

/** The machine's time zone; UTC if it is unknown, as with a misspelt TZ. */
const machineTimeZone = (): string => {
  const zone = new Intl.DateTimeFormat().resolvedOptions().timeZone as string | undefined;
  return zone !== undefined && isTimeZone(zone) ? zone : 'UTC';
};

/**
 * Reads and validates all settings.
 * @throws OptionsError at the first invalid value; the caller prints its message and exits with {@link EXIT_CONFIG}.
 */
export const readOptions = ({ env = process.env, defaults = {} }: Surroundings = {}): Options => {
  const warnings = variableWarnings(Object.keys(env));
  const variables = { ...env };
  for (const name of secretNames) delete env[environmentName(name)];
  const judge = <Name extends SettingName>(name: Name, value: string | undefined, written?: unknown): Given[Name] => {
    const result = settings[name].safeParse(value);
    if (result.success) return result.data as Given[Name];
    throw refusal(name, written ?? value, String(result.error.issues[0]?.message));
  };
  // An empty variable counts as unset.
  const fromEnvironment = (name: SettingName): string | undefined => variables[environmentName(name)] || undefined;

  const dataDir = judge(
    'dataDir',
    fromEnvironment('dataDir') ?? defaults.dataDir ?? platformDataDir(env, homedir(), process.platform),
  );
  const { found: file, kiosk } = readFile(join(dataDir, 'config.json'), warnings);
  file.set('dataDir', { spelt: dataDir, written: dataDir });
  const fallbacks: Partial<Record<SettingName, string>> = {
    uploadDir: join(dataDir, 'uploads'),
    mediaDir: join(dataDir, 'media'),
    discovery: defaults.discovery ?? 'off',
    https: defaults.https ?? 'off',
    console: 'on',
    convert: 'on',
    requirePeople: 'off',
  };
  const given = Object.fromEntries(
    settingNames.map((name) => {
      const variable = fromEnvironment(name);
      const { spelt, written } = (variable === undefined ? file.get(name) : undefined) ?? {};
      const value = judge(name, variable ?? spelt ?? fallbacks[name], written);
      return [name, secretNames.includes(name) ? value || null : (value ?? null)];
    }),
  ) as Values;
  const values: Values = given.variant === 'baseline' ? { ...given, ...baselineValues } : given;

  const { sharedSecret, sharedSecretPrevious, webhookSecret, playsUrl, alertUrl, site, fleetUrl } = values;
  for (const [name, secret] of Object.entries({ sharedSecret, sharedSecretPrevious })) {
    if (secret === null || secret.length >= 16) continue;
    warnings.push(
      `${environmentName(name as SettingName)} is shorter than 16 characters and can be guessed; use a longer one`,
    );
  }
  if (sharedSecret === null && sharedSecretPrevious !== null) {
    warnings.push('SIGNAGE_SHARED_SECRET_PREVIOUS is set without SIGNAGE_SHARED_SECRET: authentication is off');
  }

  if (values.requirePeople && sharedSecret === null) {
    throw refusal('requirePeople', 'on', 'off as long as SIGNAGE_SHARED_SECRET is not set: people need a secret');
  }

  if ((playsUrl ?? alertUrl) !== null && webhookSecret === null && sharedSecret === null) {
    warnings.push('Webhooks are not signed: set SIGNAGE_WEBHOOK_SECRET, so that the receiver can authenticate them');
  }

  if (values.publicUrl !== null && new URL(values.publicUrl).pathname !== '/') {
    warnings.push('SIGNAGE_PUBLIC_URL has a path, below which no page works: give the box a host name of its own');
  }

  if (values.proxy !== null) {
    warnings.push(
      'SIGNAGE_PROXY is not used for streams over rtmp, rtsp and srt, nor for MQTT, nor for a hub over nats or tls',
    );
  }

  if (values.variant === 'baseline') {
    for (const name of extendedSettings) {
      if (fromEnvironment(name) !== undefined || file.has(name))
        warnings.push(`${environmentName(name)} is ignored in the baseline variant`);
    }
  }

  const siteRule = fleetSite.safeParse(site);
  if (fleetUrl !== null && !siteRule.success) {
    throw refusal('site', site, `${siteRule.error.issues[0]?.message}, because SIGNAGE_FLEET_URL is set`);
  }

  const { timeZone: givenZone } = values;
  let timeZone = givenZone;
  /** Asked for when it is needed: Intl takes milliseconds of a start to load. */
  const zone = (): string => (timeZone ??= machineTimeZone());
  if (givenZone === null && env.TZ && zone() === 'UTC' && !isTimeZone(env.TZ)) {
    warnings.push(`TZ=${JSON.stringify(env.TZ)} is not a known time zone: set SIGNAGE_TIME_ZONE`);
  }
  return Object.freeze({
    ...values,
    get timeZone() {
      return zone();
    },
    get lacksTimeZone() {
      return givenZone === null && zone() === 'UTC';
    },
    toldTimeZone: null,
    kiosk,
    variables: Object.fromEntries(
      settingNames
        .filter((name) => !secretNames.includes(name))
        .flatMap((name) => {
          const value = fromEnvironment(name);
          return value === undefined ? [] : [[environmentName(name), value] as const];
        }),
    ),
    childEnvironment: { PATH: env.PATH ?? '', LANG: env.LANG ?? 'C' },
    warnings,
  });
};

/** Makes the folders that the settings name. @throws OptionsError */
export const makeFolders = async (options: Options): Promise<void> => {
  for (const name of ['dataDir', 'uploadDir', 'mediaDir'] as const) {
    await makeFolder(options[name]).catch((error: NodeJS.ErrnoException) => {
      // A folder in the data directory, such as that of a container without a volume, which takes no files.
      const takesNone = ['EROFS', 'EACCES', 'EPERM'].includes(error.code ?? '');
      if (takesNone && options[name].startsWith(join(options.dataDir, sep)))
        throw refusal('dataDir', options.dataDir, `a folder that the player may write to (${error.code})`);
      throw refusal(name, options[name], `a folder that exists or can be created (${error.code})`);
    });
  }
};
