/** Settings: environment over config.json over defaults, judged once, and named where they are bad. */
import { rmSync, statSync, writeFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join, resolve } from 'node:path';
import { describe, expect, test, vi } from 'vitest';
import {
  changeConfig,
  lendSecrets,
  type Options,
  OptionsError,
  readOptions,
  takeEnvironment,
} from '../../../service/platform/options/index.ts';
import { healthOf, logged } from '../../support/observe.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';

/** Options from an environment and a config.json; what the file holds is written as it is where it is a text. */
const read = (env: Record<string, string> = {}, config?: unknown): Options => {
  const dataDir = temporaryFolder();
  if (config !== undefined) {
    writeFileSync(join(dataDir, 'config.json'), typeof config === 'string' ? config : JSON.stringify(config));
  }
  return readOptions({ env: { SIGNAGE_DATA_DIR: dataDir, ...env } });
};

const refusalOf = (env: Record<string, string>, config?: unknown): string => {
  try {
    read(env, config);
  } catch (error) {
    expect(error).toBeInstanceOf(OptionsError);
    return (error as OptionsError).message;
  }
  throw new Error('nothing was refused');
};

test('without any setting, the defaults', () => {
  const { dataDir, ...rest } = read({ PATH: '/usr/bin', HOME: '/root' });
  expect(rest).toEqual({
    console: true,
    host: '0.0.0.0',
    https: false,
    httpsPort: 8443,
    tlsCert: null,
    tlsKey: null,
    port: 8080,
    uploadDir: join(dataDir, 'uploads'),
    mediaDir: join(dataDir, 'media'),
    variant: 'extended',
    sharedSecret: null,
    sharedSecretPrevious: null,
    allowedHosts: [],
    publicUrl: null,
    requirePeople: false,
    peers: [],
    discovery: false,
    site: 'default',
    maxUploadBytes: 2 * 1024 ** 3,
    mediaQuotaBytes: 64 * 1024 ** 3,
    fetchBytesPerSecond: 0,
    fetchHours: null,
    convert: true,
    convertHours: null,
    ffmpegPath: null,
    maxStreams: 8,
    streamIdleSeconds: 30,
    pageTokenSeconds: 900,
    trustProxy: false,
    proxy: null,
    mqttControl: false,
    mqttPrefix: 'signage',
    mqttUrl: null,
    noProxy: [],
    oidcClientId: 'signage',
    oidcClientSecret: null,
    oidcIssuer: null,
    oidcRoles: [],
    caFile: null,
    playsUrl: null,
    alertUrl: null,
    alertGraceSeconds: 300,
    webhookSecret: null,
    fleetUrl: null,
    fleetCredentials: null,
    timeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone,
    lacksTimeZone: new Intl.DateTimeFormat().resolvedOptions().timeZone === 'UTC',
    toldTimeZone: null,
    logLevel: 'info',
    kiosk: { displays: 'all', rotation: 0, updates: { channel: 'latest', hours: '03:00-05:00' } },
    variables: { SIGNAGE_DATA_DIR: dataDir },
    childEnvironment: { PATH: '/usr/bin', LANG: 'C' },
    warnings: [],
  });
});

test.runIf(process.platform === 'linux')(
  "the data directory is the platform's, its own where the host has one, and the environment's before all",
  () => {
    const [platform, hosts, given] = [temporaryFolder(), temporaryFolder(), temporaryFolder()];
    expect(readOptions({ env: { XDG_DATA_HOME: platform } }).dataDir).toBe(join(platform, 'signage-player'));
    for (const unset of [{}, { XDG_DATA_HOME: '' }, { XDG_DATA_HOME: 'relative' }]) {
      expect(readOptions({ env: unset }).dataDir).toBe(join(homedir(), '.local', 'share', 'signage-player'));
    }
    const defaults = { dataDir: hosts, discovery: 'on' } as const;
    expect(readOptions({ env: {}, defaults })).toMatchObject({ dataDir: hosts, discovery: true });
    const env = { SIGNAGE_DATA_DIR: given, SIGNAGE_DISCOVERY: 'off' };
    expect(readOptions({ env, defaults })).toMatchObject({ dataDir: given, discovery: false });
  },
);

/** Each setting: its names, a good value, and what becomes of it. */
const good: [environment: string, key: keyof Options, value: string, expected: unknown][] = [
  ['SIGNAGE_HOST', 'host', '127.0.0.1', '127.0.0.1'],
  ['SIGNAGE_HOST', 'host', 'localhost', '127.0.0.1'],
  ['SIGNAGE_HOST', 'host', '::1', '::1'],
  ['SIGNAGE_PORT', 'port', '0', 0],
  ['SIGNAGE_UPLOAD_DIR', 'uploadDir', 'relative/uploads', resolve('relative/uploads')],
  ['SIGNAGE_MEDIA_DIR', 'mediaDir', '/srv/media', '/srv/media'],
  ['SIGNAGE_VARIANT', 'variant', 'baseline', 'baseline'],
  ['SIGNAGE_SHARED_SECRET', 'sharedSecret', 'correct horse battery', 'correct horse battery'],
  [
    'SIGNAGE_ALLOWED_HOSTS',
    'allowedHosts',
    'a.example.com, b.example.com:8443,',
    ['a.example.com', 'b.example.com:8443'],
  ],
  ['SIGNAGE_PUBLIC_URL', 'publicUrl', 'https://screens.example.com/lobby/', 'https://screens.example.com/lobby'],
  ['SIGNAGE_PEERS', 'peers', 'http://10.0.0.2:8080/,http://box', ['http://10.0.0.2:8080', 'http://box']],
  ['SIGNAGE_DISCOVERY', 'discovery', 'on', true],
  ['SIGNAGE_PROXY', 'proxy', 'http://me:p%40ss@proxy.example.com:3128', 'http://me:p%40ss@proxy.example.com:3128'],
  [
    'SIGNAGE_NO_PROXY',
    'noProxy',
    'a.example.com, .example.org,203.0.113.0/24',
    ['a.example.com', '.example.org', '203.0.113.0/24'],
  ],
  ['SIGNAGE_CA_FILE', 'caFile', '/etc/roots.pem', '/etc/roots.pem'],
  ['SIGNAGE_SITE', 'site', 'Vienna', 'Vienna'],
  ['SIGNAGE_MAX_UPLOAD_BYTES', 'maxUploadBytes', '1048576', 1_048_576],
  ['SIGNAGE_MEDIA_QUOTA_BYTES', 'mediaQuotaBytes', '0', 0],
  ['SIGNAGE_FETCH_BYTES_PER_SECOND', 'fetchBytesPerSecond', '125000', 125_000],
  ['SIGNAGE_FETCH_HOURS', 'fetchHours', '22:00-06:00', { open: '22:00', close: '06:00' }],
  ['SIGNAGE_CONSOLE', 'console', 'off', false],
  ['SIGNAGE_FFMPEG_PATH', 'ffmpegPath', '/opt/ffmpeg', '/opt/ffmpeg'],
  ['SIGNAGE_MAX_STREAMS', 'maxStreams', '2', 2],
  ['SIGNAGE_STREAM_IDLE_SECONDS', 'streamIdleSeconds', '5', 5],
  ['SIGNAGE_PAGE_TOKEN_SECONDS', 'pageTokenSeconds', '60', 60],
  ['SIGNAGE_TRUST_PROXY', 'trustProxy', 'on', true],
  ['SIGNAGE_TRUST_PROXY', 'trustProxy', '10.0.0.1, 10.1.0.0/16,::1', ['10.0.0.1', '10.1.0.0/16', '::1']],
  ['SIGNAGE_TIME_ZONE', 'timeZone', 'Pacific/Auckland', 'Pacific/Auckland'],
  ['SIGNAGE_FLEET_URL', 'fleetUrl', 'nats://hub:4222', 'nats://hub:4222'],
  ['SIGNAGE_FLEET_URL', 'fleetUrl', 'tls://user:word@hub.example.com', 'tls://user:word@hub.example.com'],
  ['SIGNAGE_FLEET_URL', 'fleetUrl', 'wss://hub.example.com/nats', 'wss://hub.example.com/nats'],
  ['SIGNAGE_FLEET_CREDENTIALS', 'fleetCredentials', '/etc/signage/site.creds', '/etc/signage/site.creds'],
  ['SIGNAGE_LOG_LEVEL', 'logLevel', 'silent', 'silent'],
];

describe.each(good)('%s', (environment, key, value, expected) => {
  test('is taken from the environment', () => {
    expect(read({ [environment]: value })[key]).toEqual(expected);
  });

  test('is taken from config.json, in either spelling', () => {
    expect(read({}, { [environment]: value })[key]).toEqual(expected);
    expect(read({}, { [key]: value })[key]).toEqual(expected);
  });
});

test('the environment goes before the file, and an empty variable is none', () => {
  const env = { SIGNAGE_PORT: '9000', SIGNAGE_SITE: '' };
  expect(read(env, { port: 9001, site: 'Graz', variant: 'baseline' })).toMatchObject({
    port: 9000,
    site: 'Graz',
    variant: 'baseline',
  });
});

test.each(['Wien Mitte', 'a.b', 'wien*', 'Café', 'x'.repeat(65)])(
  'with a fleet the site %s stops the start, because it could not stand in a subject',
  (site) => {
    const message = refusalOf({ SIGNAGE_SITE: site, SIGNAGE_FLEET_URL: 'nats://hub' });
    expect(message).toMatch(/^SIGNAGE_SITE: .* is not valid; expected 1 to 64 of a-z, A-Z, 0-9, _ and -/);
    expect(message).toContain('SIGNAGE_FLEET_URL');
    expect(read({ SIGNAGE_SITE: site }).site).toBe(site);
  },
);

test('the password of a fleet is not shown where its URL is refused', () => {
  expect(refusalOf({ SIGNAGE_FLEET_URL: 'http://user:word@hub' })).not.toContain('word@');
});

test.each([
  ['SIGNAGE_PLAYS_URL', 'ftp://me:word@hub/x', '"ftp://…@hub/x"'],
  ['SIGNAGE_ALERT_URL', 'http://me:word@', '"http://…@"'],
  ['SIGNAGE_PUBLIC_URL', 'http://me:wo@rd@box', '"http://…@box"'],
  ['SIGNAGE_PUBLIC_URL', 'https:me:word@box', 'the value given'],
  ['SIGNAGE_PUBLIC_URL', 'https://:word@box', '"https://…@box"'],
  ['SIGNAGE_PUBLIC_URL', 'me:word@box', 'the value given'],
  ['SIGNAGE_PEERS', 'http://me:word@one:8080, http://two', '"http://…@one:8080, http://two"'],
  ['SIGNAGE_ALERT_URL', 'https://me:wo%rd@box/hook', '"https://…@box/hook"'],
  ['SIGNAGE_PLAYS_URL', 'https://me:wo%rd@box/hook', '"https://…@box/hook"'],
  ['SIGNAGE_OIDC_ISSUER', 'https://me:word@login.example.com/house', '"https://…@login.example.com/house"'],
  ['SIGNAGE_ALLOWED_HOSTS', 'https://me:word@box', '"https://…@box"'],
])('what is refused of %s has no credentials in it, %s', (setting, value, shown) => {
  const message = refusalOf({ [setting]: value });
  expect(message).toContain(`${setting}: ${shown} is not valid; expected `);
  expect(message).not.toMatch(/me:|word|rd@/);
});

test.each([
  ['SIGNAGE_MQTT_URL', 'mqtt', 'an mqtt or mqtts URL'],
  ['SIGNAGE_PROXY', 'http', 'an http or https URL'],
  ['SIGNAGE_FLEET_URL', 'nats', 'a nats, tls, ws or wss URL'],
])('a user or a password of %s that cannot be decoded is refused, and is not shown', (setting, scheme, allowed) => {
  // Of the last, the halves together could be.
  for (const user of ['me:100%', '%zz', ':%ff', 'u%:41']) {
    const message = refusalOf({ [setting]: `${scheme}://${user}@host.example.com` });
    expect(message).toContain(`${setting}: the value given is not valid; expected ${allowed}`);
    expect(message).toContain('a % in user or password is written %25');
    expect(message).not.toContain(user);
  }
  expect(() => read({ [setting]: `${scheme}://me:100%25@host.example.com` })).not.toThrow();
});

test('a public address with a path is told, as pages stand at the root of a host', () => {
  expect(read({ SIGNAGE_PUBLIC_URL: 'https://screens.example.com/' }).warnings).toEqual([]);
  const { warnings } = read({ SIGNAGE_PUBLIC_URL: 'https://screens.example.com/lobby' });
  expect(warnings).toEqual([expect.stringMatching(/^SIGNAGE_PUBLIC_URL has a path, .*host name/)]);
});

test('config.json may use the types of JSON', () => {
  const config = {
    port: 9000,
    discovery: true,
    trustProxy: false,
    allowedHosts: ['a.example.com', 'b'],
    peers: [],
    site: null,
  };
  expect(read({}, config)).toMatchObject({
    port: 9000,
    discovery: true,
    trustProxy: false,
    allowedHosts: ['a.example.com', 'b'],
    peers: [],
    site: 'default',
    warnings: [],
  });
});

const integer = /an integer from \d+ to \d+/;

describe('refused in one line that names the setting, the value and what is allowed', () => {
  test.each<[string, string, RegExp]>([
    ['SIGNAGE_PORT', '65536', integer],
    ['SIGNAGE_PORT', '-1', integer],
    ['SIGNAGE_PORT', '80a', integer],
    ['SIGNAGE_PORT', ' 80', integer],
    ['SIGNAGE_PORT', '8080.5', integer],
    ['SIGNAGE_PORT', '1e3', integer],
    ['SIGNAGE_PORT', '0x50', integer],
    ['SIGNAGE_PORT', 'http', integer],
    ['SIGNAGE_VARIANT', 'Extended', /extended or baseline/],
    ['SIGNAGE_VARIANT', 'full', /extended or baseline/],
    ['SIGNAGE_ALLOWED_HOSTS', 'a.example.com, http://b', /host names/],
    ['SIGNAGE_ALLOWED_HOSTS', '*.example.com', /host names/],
    ['SIGNAGE_PUBLIC_URL', 'screens.example.com', /http or https URL/],
    ['SIGNAGE_PUBLIC_URL', 'ftp://screens.example.com', /http or https URL/],
    ['SIGNAGE_PUBLIC_URL', 'https://screens.example.com/?a=b', /http or https URL/],
    ['SIGNAGE_PUBLIC_URL', 'https://screens.example.com/#a', /http or https URL/],
    ['SIGNAGE_PUBLIC_URL', 'https://user@screens.example.com', /http or https URL/],
    ['SIGNAGE_PEERS', 'http://10.0.0.2,10.0.0.3', /http or https URL/],
    ['SIGNAGE_DISCOVERY', 'yes', /on or off/],
    ['SIGNAGE_DISCOVERY', 'true', /on or off/],
    ['SIGNAGE_CONSOLE', 'no', /on or off/],
    ['SIGNAGE_SITE', '  ', /non-empty/],
    ['SIGNAGE_HOST', ' ', /non-empty/],
    ['SIGNAGE_DATA_DIR', ' ', /non-empty/],
    ['SIGNAGE_UPLOAD_DIR', '\t', /non-empty/],
    ['SIGNAGE_MAX_UPLOAD_BYTES', '0', integer],
    ['SIGNAGE_MAX_UPLOAD_BYTES', '2GiB', integer],
    ['SIGNAGE_MAX_UPLOAD_BYTES', '99999999999999999', integer],
    ['SIGNAGE_MEDIA_QUOTA_BYTES', '64G', integer],
    ['SIGNAGE_MAX_STREAMS', '1001', integer],
    ['SIGNAGE_STREAM_IDLE_SECONDS', '0', integer],
    ['SIGNAGE_PAGE_TOKEN_SECONDS', '0', integer],
    ['SIGNAGE_PAGE_TOKEN_SECONDS', '86401', integer],
    ['SIGNAGE_FETCH_BYTES_PER_SECOND', '-1', integer],
    ['SIGNAGE_FETCH_BYTES_PER_SECOND', '1.5', integer],
    ['SIGNAGE_FETCH_HOURS', '22-06', /HH:MM-HH:MM/],
    ['SIGNAGE_FETCH_HOURS', '24:00-06:00', /HH:MM-HH:MM/],
    ['SIGNAGE_FETCH_HOURS', '22:00-06:60', /HH:MM-HH:MM/],
    ['SIGNAGE_FETCH_HOURS', 'always', /HH:MM-HH:MM/],
    ['SIGNAGE_TRUST_PROXY', 'true', /on, off, or .*addresses/],
    ['SIGNAGE_TRUST_PROXY', '10.0.0.0/33', /on, off, or .*addresses/],
    ['SIGNAGE_TRUST_PROXY', '10.0.0.0/8/8', /on, off, or .*addresses/],
    ['SIGNAGE_TRUST_PROXY', 'proxy.example.com', /on, off, or .*addresses/],
    ['SIGNAGE_TRUST_PROXY', ',', /on, off, or .*addresses/],
    ['SIGNAGE_PLAYS_URL', 'example.com/plays', /http or https URL/],
    ['SIGNAGE_PLAYS_URL', 'ftp://example.com/plays', /http or https URL/],
    ['SIGNAGE_ALERT_URL', 'mailto:a@example.com', /http or https URL/],
    ['SIGNAGE_ALERT_GRACE_SECONDS', '-1', integer],
    ['SIGNAGE_TIME_ZONE', 'Vienna', /IANA time zone/],
    ['SIGNAGE_TIME_ZONE', 'PST', /IANA time zone/],
    ['SIGNAGE_TIME_ZONE', 'Europe/Vienna\nEurope/Paris', /IANA time zone/],
    ['SIGNAGE_FLEET_URL', 'hub.example.com', /nats, tls, ws or wss URL/],
    ['SIGNAGE_FLEET_URL', 'http://hub.example.com', /nats, tls, ws or wss URL/],
    ['SIGNAGE_FLEET_URL', 'nats://', /nats, tls, ws or wss URL/],
    ['SIGNAGE_FLEET_URL', 'nats://hub/path', /nats, tls, ws or wss URL/],
    ['SIGNAGE_FLEET_CREDENTIALS', ' ', /non-empty/],
    ['SIGNAGE_LOG_LEVEL', 'verbose', /fatal, error, warn, info, debug, trace or silent/],
  ])('%s=%j', (environment, value, allowed) => {
    const message = refusalOf({ [environment]: value });
    expect(message.startsWith(`${environment}: ${JSON.stringify(value)} `)).toBe(true);
    expect(message).toMatch(allowed);
    expect(message).not.toContain('\n');
    if (environment !== 'SIGNAGE_DATA_DIR') expect(refusalOf({}, { [environment]: value })).toBe(message);
  });

  test.each<[string, unknown]>([
    ['port', { number: 8080 }],
    ['site', {}],
    ['site', [{}]],
    ['peers', [['http://box']]],
    ['allowedHosts', [1]],
    ['port', true],
    ['port', 70_000],
    ['console', 'maybe'],
    ['SIGNAGE_PEERS', ['box']],
  ])('config.json with a %s of %j', (key, value) => {
    const message = refusalOf({}, { [key]: value });
    expect(message).toMatch(
      new RegExp(`^SIGNAGE_[A-Z_]+: ${JSON.stringify(value).replace(/[[\]{}]/g, '\\$&')} is not valid`),
    );
  });
});

describe('config.json', () => {
  test.each<[string, string, RegExp]>([
    ['that is broken', '{"port": 8080,', /is not JSON/],
    ['that is empty', '', /is not JSON/],
    ['that is a list', '[]', /JSON object/],
    ['that is null', 'null', /JSON object/],
    ['that is a text', '"port"', /JSON object/],
  ])('%s stops the start', (_, source, expected) => {
    const message = refusalOf({}, source);
    expect(message).toContain('config.json');
    expect(message).toMatch(expected);
    expect(message).not.toContain('\n');
  });

  test.each([
    ['is empty', ''],
    ['is zeros, as a power cut leaves it', '\0'.repeat(100)],
  ])('that %s is read from its copy, with a warning', async (_, source) => {
    const dataDir = temporaryFolder();
    const path = join(dataDir, 'config.json');
    await changeConfig(path, async () => '{"port": 9000}');
    if (process.platform !== 'win32') expect(statSync(`${path}.prev`).mode & 0o777).toBe(0o600);
    writeFileSync(path, source);
    const options = () => readOptions({ env: { SIGNAGE_DATA_DIR: dataDir } });
    expect(options()).toMatchObject({
      port: 9000,
      warnings: [`config.json is damaged; the settings are those of its copy, ${path}.prev`],
    });
    writeFileSync(`${path}.prev`, source);
    expect(options).toThrow(/is not JSON/);
    // A typing error, and a file that was removed.
    writeFileSync(`${path}.prev`, '{"port": 9000}');
    writeFileSync(path, '{"port": 8080,');
    expect(options).toThrow(/is not JSON/);
    rmSync(path);
    expect(options().port).toBe(8080);
  });

  test('with a byte order mark is read', () => {
    expect(read({}, '\uFEFF{"port": 9000}').port).toBe(9000);
  });

  test.each(['dataDir', 'SIGNAGE_DATA_DIR'])('with %s says where that can be set', (key) => {
    expect(read({}, { [key]: '/x', port: 9000 })).toMatchObject({
      port: 9000,
      warnings: [
        expect.stringMatching(`^config.json: ${key} is ignored: .* SIGNAGE_DATA_DIR in the environment only$`),
      ],
    });
  });

  test.each(['prot', 'toString'])('with the unknown key %s brings a warning', (key) => {
    expect(read({}, { [key]: '/x', port: 9000 })).toMatchObject({
      port: 9000,
      warnings: [`config.json: ${key} is not a setting and is ignored`],
    });
  });

  test('with __proto__ changes nothing but what is said', () => {
    const options = read({}, '{"__proto__": {"port": 1}}');
    expect([options.port, options.warnings.length]).toEqual([8080, 1]);
  });
});

describe('a secret', () => {
  const secret = 'correct horse battery staple';

  test('is taken out of the environment, so that no child inherits it', () => {
    const env: Record<string, string> = {
      SIGNAGE_DATA_DIR: temporaryFolder(),
      SIGNAGE_SHARED_SECRET: secret,
      SIGNAGE_SHARED_SECRET_PREVIOUS: `old ${secret}`,
    };
    expect(readOptions({ env })).toMatchObject({ sharedSecret: secret, sharedSecretPrevious: `old ${secret}` });
    expect(Object.keys(env)).toEqual(['SIGNAGE_DATA_DIR']);
  });

  test('that is empty is none', () => {
    expect(read({ SIGNAGE_SHARED_SECRET: '' })).toMatchObject({ sharedSecret: null, warnings: [] });
    expect(read({}, { sharedSecret: '' })).toMatchObject({ sharedSecret: null, warnings: [] });
  });

  test('that is short works, and is warned of', () => {
    const { sharedSecret, warnings } = read({ SIGNAGE_SHARED_SECRET: 'x'.repeat(15) });
    expect(sharedSecret).toBe('x'.repeat(15));
    expect(warnings).toEqual([expect.stringMatching(/SIGNAGE_SHARED_SECRET.*16/)]);
    expect(read({ SIGNAGE_SHARED_SECRET: 'x'.repeat(16) }).warnings).toEqual([]);
  });

  test('before it without one now is warned of', () => {
    expect(read({ SIGNAGE_SHARED_SECRET_PREVIOUS: secret }).warnings).toEqual([
      expect.stringMatching(/authentication is off/),
    ]);
  });

  test('is in no message', () => {
    const sources = [
      `{"sharedSecret": "${secret}`,
      `{"sharedSecret": ${secret}}`,
      `{"sharedSecret": {"is": "${secret}"}}`,
      `["${secret}"]`,
    ];
    for (const source of sources) expect(refusalOf({}, source)).not.toMatch(/correct|horse|staple/);
    const { warnings } = read({ SIGNAGE_SHARED_SECRET: 'short secret' }, { sharedSecretPrevious: 'hunter2' });
    expect(warnings.join()).not.toMatch(/short secret|hunter2/);
  });
});

describe('the environment that is taken', () => {
  test('has the secrets, which are in the process for as long as they are lent', () => {
    vi.stubEnv('SIGNAGE_SHARED_SECRET', 'long enough to be good');
    const { env } = process;
    const environment = takeEnvironment();
    expect([environment['SIGNAGE_SHARED_SECRET'], env['SIGNAGE_SHARED_SECRET']]).toEqual([
      'long enough to be good',
      undefined,
    ]);
    const seen: unknown[] = [];
    lendSecrets(environment, () => seen.push(env['SIGNAGE_SHARED_SECRET'], 'SIGNAGE_SHARED_SECRET_PREVIOUS' in env));
    expect(seen).toEqual(['long enough to be good', false]);
    expect(() =>
      lendSecrets(environment, () => {
        throw new Error('it fails');
      }),
    ).toThrow('it fails');
    expect('SIGNAGE_SHARED_SECRET' in env).toBe(false);
    vi.unstubAllEnvs();
  });

  test.each([
    ['win32', 'Path', '8123'],
    ['linux', undefined, undefined],
  ] as const)('finds names in any case where the system does: %s', (platform, path, port) => {
    vi.stubEnv('PATH', undefined);
    vi.stubEnv('Path', 'Path');
    vi.stubEnv('Signage_Port', '8123');
    const environment = takeEnvironment(platform);
    expect([environment['PATH'], environment['SIGNAGE_PORT']]).toEqual([path, port]);
    vi.unstubAllEnvs();
  });
});

test("options can't be changed", () => {
  expect(Object.isFrozen(read())).toBe(true);
});

describe('a variable that begins like a setting and is none', () => {
  test('is warned about by name, with the setting that it is nearest to, and without its value', () => {
    expect(
      read({ SIGNAGE_PROT: '80', SIGNAGE_SHARED_SECERT: 'hunter2hunter2hunter2', SIGNAGE_XYZZY: '' }).warnings,
    ).toEqual([
      'SIGNAGE_PROT is not a setting and is ignored; did you mean SIGNAGE_PORT?',
      'SIGNAGE_SHARED_SECERT is not a setting and is ignored; did you mean SIGNAGE_SHARED_SECRET?',
      'SIGNAGE_XYZZY is not a setting and is ignored',
    ]);
  });

  test('is neither on the command line nor in the environment of another program', () => {
    expect(
      read({ SIGNAGE_BOX: 'http://10.0.0.1', SIGNAGE_OPERATOR: 'me', SIGNAGEX: '1', OTHER_SIGNAGE_A: '1' }).warnings,
    ).toEqual([]);
  });
});

test('a misspelt variable is named in /healthz and in the log', async () => {
  const service = await startTestService({
    content: { screens: [{ name: 'Lobby', slug: 'lobby' }] },
    env: { SIGNAGE_PROT: '80' },
  });
  const message = 'SIGNAGE_PROT is not a setting and is ignored; did you mean SIGNAGE_PORT?';
  expect(await healthOf(service)).toMatchObject({ status: 'ok', warnings: [message] });
  expect(logged(service, message)).toHaveLength(1);
});
