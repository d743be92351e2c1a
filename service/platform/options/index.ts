/**
 * The settings of the service: from the environment, then `config.json` in the data directory, then defaults.
 * Read and validated once at the start; no other module reads the environment.
 */
import { homedir } from 'node:os';
import { join } from 'node:path';
import { fleetSite } from '../../contract/fleet.ts';
import { type Environment, variableWarnings } from './environment.ts';
import { readFile } from './file.ts';
import type { KioskSettings } from './kiosk.ts';
import { environmentName, type Given, refusal, type SettingName, secretNames, settings } from './settings.ts';

export { lendSecrets, takeEnvironment } from './environment.ts';
export { EXIT_CONFIG, OptionsError } from './error.ts';
export { readConfig, readKiosk } from './file.ts';
export { refusal } from './settings.ts';
export { isBaseUrl } from './values.ts';

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
