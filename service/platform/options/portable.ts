/** Which settings of `config.json` go into a backup, and which of those a restore takes. Pure. */
import { isDeepStrictEqual } from 'node:util';
import { parseUrl } from '../../contract/url.ts';
import { mapTexts } from '../../domain/collections.ts';
import { environmentName, type SettingName, secretNames, settingNames } from './settings.ts';

/**
 * The settings that a restore takes. Never paths of programs, folders, keys and certificates, addresses to listen on,
 * secrets, whom to trust, or the PIN: a person who can write a backup must not get control of the box.
 */
const portable: readonly SettingName[] = [
  'site',
  'peers',
  'discovery',
  'timeZone',
  'logLevel',
  'maxUploadBytes',
  'mediaQuotaBytes',
  'fetchBytesPerSecond',
  'fetchHours',
  'maxStreams',
  'streamIdleSeconds',
  'pageTokenSeconds',
  'playsUrl',
  'alertUrl',
  'alertGraceSeconds',
  'fleetUrl',
];
const portableKiosk: readonly string[] = ['displays', 'rotation'];

type Config = Readonly<Record<string, unknown>>;

/** The setting of a key of `config.json`; undefined: it is none. */
export const settingOf = (key: string): SettingName | undefined =>
  settingNames.find((known) => key === known || key === environmentName(known));

/** A value whose addresses have no user and no password, which some servers take. */
const withoutPassword = <Value>(value: Value): Value =>
  mapTexts(value, (text) =>
    text
      // A password may hold a comma: only one before another address parts a list.
      .split(/,(?=\s*[a-z][a-z\d+.-]*:\/\/)/i)
      .map((each) => {
        const url = parseUrl(each.trim());
        if (url === null || (url.username === '' && url.password === '')) return each;
        url.username = '';
        url.password = '';
        return url.href;
      })
      .join(','),
  );

const kioskOf = (config: Config): Config => {
  const { kiosk } = config;
  return typeof kiosk === 'object' && kiosk !== null && !Array.isArray(kiosk) ? (kiosk as Config) : {};
};

/** What a backup holds of a configuration: no secret, no PIN, no password, and nothing that is no setting. */
export const backupConfig = (config: Config): Config => {
  const kept = Object.entries(config).flatMap(([key, value]) => {
    const name = settingOf(key);
    return name === undefined || secretNames.includes(name) ? [] : [[key, withoutPassword(value)] as const];
  });
  const { displays, rotation, updates } = kioskOf(config);
  const kiosk = { displays, rotation, updates: withoutPassword(updates) };
  return { ...Object.fromEntries(kept), ...('kiosk' in config && { kiosk }) };
};

/** The settings of a configuration that its backup has without their passwords. */
export const strippedSettings = (config: Config): string[] => {
  const kept = backupConfig(config);
  return Object.keys(kept).filter((key) => key !== 'kiosk' && !isDeepStrictEqual(kept[key], config[key]));
};

interface Portable {
  config: Config;
  /** Names of the settings that it takes. */
  taken: string[];
  /** Names of those that it does not. */
  left: string[];
  /** Names of those that it takes without the password that they had. */
  bare: string[];
}

/**
 * A configuration with the settings of a backup that may be restored. An address that has a password only here keeps it.
 * @param current as it is on this box
 * @param stripped as {@link strippedSettings} told when the backup was written
 */
export const withPortable = (current: Config, backup: Config, stripped: readonly string[]): Portable => {
  const taken: string[] = [];
  const left: string[] = [];
  const bare: string[] = [];
  const config: Record<string, unknown> = { ...current };
  for (const [key, value] of Object.entries(backup)) {
    if (key === 'kiosk') continue;
    const name = settingOf(key);
    if (name === undefined || !portable.includes(name)) {
      left.push(key);
      continue;
    }
    // Either spelling may stand there.
    const own = current[name] ?? current[environmentName(name)];
    delete config[environmentName(name)];
    config[name] = isDeepStrictEqual(withoutPassword(own), value) ? own : value;
    taken.push(name);
    if (stripped.includes(key) && isDeepStrictEqual(config[name], value)) bare.push(name);
  }
  const kiosk: Record<string, unknown> = { ...kioskOf(current) };
  for (const [key, value] of Object.entries(kioskOf(backup))) {
    if (value === undefined) continue;
    if (portableKiosk.includes(key)) {
      kiosk[key] = value;
      taken.push(`kiosk.${key}`);
    } else left.push(`kiosk.${key}`);
  }
  if (Object.keys(kiosk).length > 0) config['kiosk'] = kiosk;
  return { config, taken, left, bare };
};
