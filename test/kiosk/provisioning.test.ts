/** The import of a configuration from the boot partition or a USB stick. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import {
  createProvisioning,
  mayHaveBeenBound,
  type ProvisioningSources,
  provisioningSources,
} from '../../main/provisioning.ts';
import { readOptions } from '../../service/platform/options/index.ts';
import { temporaryFolder } from '../support/service.ts';

const good = { port: 8090, site: 'museum' };
const other = { port: 8091, sharedSecret: 'long enough to be good' };

const boxWith = () => {
  const root = temporaryFolder();
  const dataDir = join(root, 'data');
  const logged: string[] = [];
  const stick = join(root, 'media', 'signage', 'STICK');
  const boot = join(root, 'boot');
  const box = {
    boot: join(boot, 'config.json'),
    nextToIt: join(root, 'program', 'config.json'),
    stick: join(stick, 'config.json'),
    drive: { removable: [stick], levels: 0 as const },
    mark: join(dataDir, 'config.imported'),
    target: join(dataDir, 'config.json'),
    logged,
    networks: [] as unknown[],
    proofs: [] as string[],
    isLocked: false,
    wasBound: false,
    isProtected: false as boolean | null,
    put: (path: string, config: unknown) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config));
    },
    current: (): unknown => (existsSync(box.target) ? JSON.parse(readFileSync(box.target, 'utf8')) : null),
    /** A start of the kiosk. */
    start: (sources: Partial<ProvisioningSources> = {}) =>
      createProvisioning(
        {
          log: pino({}, { write: (line) => logged.push(line) }),
          check: (folder) => readOptions({ env: { SIGNAGE_DATA_DIR: folder } }).warnings,
          isRight: async ({ what, value }) => {
            box.proofs.push(what);
            return box.isLocked ? null : value === { secret: other.sharedSecret, pin: '2468' }[what];
          },
          wasBound: () => box.wasBound,
          isProtected: () => box.isProtected,
          setNetwork: async (network) => void box.networks.push(network),
        },
        {
          dataDir,
          sources: { trusted: [boot, join(root, 'program')], removable: [join(root, 'media')], levels: 2, ...sources },
        },
      ),
  };
  return box;
};

test.each(['boot', 'nextToIt', 'stick'] as const)('a configuration is imported once from %s', async (place) => {
  const box = boxWith();
  expect(await box.start().poll()).toBe(false);
  box.put(box[place], good);
  expect(await box.start().poll()).toBe(true);
  expect(box.current()).toEqual(good);
  expect(await box.start().poll()).toBe(false);
  // Edited on the box: what still lies there does not undo it.
  box.put(box.target, other);
  expect(await box.start().poll()).toBe(false);
  expect(box.current()).toEqual(other);
});

test('a stick that is plugged in later is found', async () => {
  const box = boxWith();
  const running = box.start();
  expect(await running.poll()).toBe(false);
  box.put(box.stick, good);
  expect(await running.poll()).toBe(true);
});

test('a changed file on the boot partition replaces an older one; two sources do not alternate', async () => {
  const box = boxWith();
  box.put(box.boot, good);
  box.put(box.nextToIt, other);
  for (let starts = 0; starts < 3; starts += 1) await box.start().poll();
  const settled = box.current();
  for (let starts = 0; starts < 3; starts += 1) expect(await box.start().poll()).toBe(false);
  expect(box.current()).toEqual(settled);
  box.put(box.boot, { port: 8099 });
  expect(await box.start().poll()).toBe(true);
  expect(box.current()).toEqual({ port: 8099, sharedSecret: other.sharedSecret });
  // A file without a secret keeps the one that is there, and one with a secret replaces it.
  box.put(box.boot, { port: 8100, SIGNAGE_SHARED_SECRET: '' });
  expect(await box.start().poll()).toBe(true);
  expect(box.current()).toEqual({ port: 8100, sharedSecret: other.sharedSecret });
  expect(await box.start().poll()).toBe(false);
  box.put(box.boot, { SIGNAGE_SHARED_SECRET: 'another one of the operator' });
  expect(await box.start().poll()).toBe(true);
  expect(box.current()).toEqual({ SIGNAGE_SHARED_SECRET: 'another one of the operator' });
});

test('a file that is changed back is imported again, also from a record of an earlier version', async () => {
  const box = boxWith();
  for (const isRecordOld of [false, true]) {
    for (const config of [good, { port: 8099 }, good]) {
      box.put(box.boot, config);
      const running = box.start();
      expect(await running.poll()).toBe(true);
      expect(box.current()).toEqual(config);
      for (let times = 0; times < 2; times += 1) expect(await running.poll()).toBe(false);
    }
    if (isRecordOld) continue;
    box.put(box.mark, readFileSync(box.mark, 'utf8').replaceAll(/^.* .*\n/gm, ''));
    expect(await box.start().poll()).toBe(false);
    box.put(box.boot, { port: 8100 });
    expect(await box.start().poll()).toBe(true);
  }
  // Of each file that is ignored the log tells once a start.
  expect(box.logged.filter((line) => line.includes('is ignored'))).toHaveLength(7);
  expect(readFileSync(box.mark, 'utf8').split('\n')).toHaveLength(5);
});

test('a stick does not change a configured box', async () => {
  const box = boxWith();
  box.put(box.target, good);
  box.put(box.stick, other);
  expect(await box.start().poll()).toBe(false);
  expect(box.current()).toEqual(good);
});

test('a stick configures a new box whose Wi-Fi a phone has named, and no other', async () => {
  const named = { kiosk: { network: { wifi: { ssid: 'House' } } } };
  const box = boxWith();
  box.put(box.target, named);
  box.put(box.stick, other);
  box.wasBound = true;
  expect(await box.start().poll()).toBe(false);
  box.wasBound = false;
  box.put(box.target, { ...named, port: 8099 });
  expect(await box.start().poll()).toBe(false);
  box.put(box.target, named);
  expect(await box.start().poll()).toBe(true);
  // Without it the box would lose its network.
  expect(box.current()).toEqual({ ...other, kiosk: named.kiosk });
});

test('a stick brings a box that was bound without a configuration one with its PIN or secret, where it has one', async () => {
  const box = boxWith();
  box.wasBound = true;
  box.put(box.stick, good);
  // Before the service runs nothing is known of the box; nothing is refused for good either.
  box.isProtected = null;
  const running = box.start();
  expect([await running.poll(), box.logged]).toEqual([false, []]);
  box.isProtected = true;
  for (let times = 0; times < 2; times += 1) expect(await running.poll()).toBe(false);
  expect(box.logged).toEqual([expect.stringMatching(/so the file needs its kiosk\.pin/)]);
  box.put(box.stick, { ...good, kiosk: { pin: '1357' }, sharedSecret: 'of a stranger, or guessed' });
  for (let times = 0; times < 2; times += 1) expect(await running.poll()).toBe(false);
  expect(box.logged[1]).toMatch(/neither a PIN nor a secret/);
  expect(box.logged.join('')).not.toMatch(/1357|guessed/);
  expect([box.proofs, box.current()]).toEqual([['pin', 'secret'], null]);
  const proven = { ...good, kiosk: { pin: '2468' }, sharedSecret: 'the new one of the site' };
  box.put(box.stick, proven);
  box.isLocked = true;
  expect(await running.poll()).toBe(false);
  box.isLocked = false;
  expect(await running.poll()).toBe(true);
  expect(box.current()).toEqual(proven);
});

test('a stick with the secret alone is enough, and a bound box without PIN and secret takes any', async () => {
  for (const [isProtected, config] of [
    [true, other],
    [false, good],
  ] as const) {
    const box = boxWith();
    Object.assign(box, { wasBound: true, isProtected });
    box.put(box.stick, config);
    expect(await box.start().poll()).toBe(true);
    expect([box.current(), box.proofs]).toEqual([config, isProtected ? ['secret'] : []]);
  }
});

test('before the service runs the file of the kiosk tells whether the box was bound, and one that is unclear says so', () => {
  const path = join(temporaryFolder(), 'kiosk.json');
  expect(mayHaveBeenBound(path)).toBe(false);
  for (const [text, isBound] of [
    ['{"format":1,"body":{"past":{"started":true,"bound":false}}}', false],
    ['{"format":1,"body":{"past":{"started":true,"bound":true}}}', true],
    ['{"format":1,"body":{"pin":null}}', true],
    ['{"past":', true],
  ] as const) {
    writeFileSync(path, text);
    expect([text, mayHaveBeenBound(path)]).toEqual([text, isBound]);
  }
});

test('only the top folder of a drive is searched, and a file without settings is refused', async () => {
  const box = boxWith();
  box.put(join(dirname(box.stick), 'Some Program', 'config.json'), good);
  box.put(box.stick, {});
  expect(await box.start(box.drive).poll()).toBe(false);
  expect(box.current()).toBeNull();
  box.put(box.stick, good);
  expect(await box.start(box.drive).poll()).toBe(true);
});

test('an import counts although it could not be recorded', async () => {
  const box = boxWith();
  mkdirSync(box.mark, { recursive: true });
  box.put(box.boot, good);
  const running = box.start();
  expect(await running.poll()).toBe(true);
  expect(box.current()).toEqual(good);
  // Two sources do not restart the box forever.
  box.put(box.nextToIt, other);
  const next = box.start();
  for (const each of [running, running, next, next]) expect(await each.poll()).toBe(false);
  expect(box.current()).toEqual(good);
  // Logged once a start.
  expect(box.logged.filter((line) => line.includes('could not be recorded'))).toHaveLength(2);
});

test.each<[string, unknown, RegExp]>([
  ['not JSON', '{', /is not JSON/],
  ['a list', [], /must contain a JSON object/],
  ['a setting of another version', { site: 'museum', wallpaper: 'blue' }, /wallpaper is not a setting/],
  ['a bad value', { port: 'http' }, /SIGNAGE_PORT: \\"http\\" is not valid/],
  ["another program's file", { dependencies: { koa: '3' } }, /dependencies is not a setting/],
  ['a file of 10 MB', `{"site":"${'x'.repeat(10_000_000)}"}`, /it is larger than 256 KiB/],
])('%s is refused, and never replaces a valid file', async (_, bad, reason) => {
  const box = boxWith();
  box.put(box.stick, bad);
  expect(await box.start().poll()).toBe(false);
  expect(box.current()).toBeNull();
  box.put(box.target, good);
  box.put(box.boot, bad);
  const running = box.start();
  expect(await running.poll()).toBe(false);
  expect(await running.poll()).toBe(false);
  expect(box.current()).toEqual(good);
  // Once a start.
  expect(box.logged.length).toBeLessThanOrEqual(2);
  expect(box.logged.at(-1) ?? '').toMatch(reason);
  box.put(box.boot, other);
  expect(await running.poll()).toBe(true);
});

test.each(['ffmpegPath', 'SIGNAGE_UPLOAD_DIR', 'tlsKey'])(
  'a stick does not set %s, with which a program of its own would run, and the boot partition does',
  async (name) => {
    const box = boxWith();
    const config = { ...good, [name]: '/media/signage/STICK/it', ...(name === 'tlsKey' && { tlsCert: '/media/it' }) };
    box.put(box.stick, config);
    const running = box.start();
    expect(await running.poll()).toBe(false);
    box.isProtected = box.wasBound = true;
    box.put(box.stick, { ...config, kiosk: { pin: '2468' } });
    expect(await running.poll()).toBe(false);
    expect(box.logged).toHaveLength(2);
    for (const line of box.logged) expect(line).toContain(`a stick may not set ${name}, which names a program`);
    box.put(box.boot, config);
    expect(await running.poll()).toBe(true);
    expect(box.current()).toEqual(config);
  },
);

test('a file may disappear while it is read', async () => {
  const box = boxWith();
  box.put(box.stick, good);
  const polling = box.start().poll();
  rmSync(dirname(box.stick), { recursive: true });
  expect(box.current()).toEqual((await polling) ? good : null);
  // Nothing is wrong with a file that is not there.
  expect(box.logged.filter((line) => !line.includes('was imported'))).toEqual([]);
});

test.runIf(process.platform === 'linux').each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['an endless device', (path: string) => symlinkSync('/dev/zero', path)],
  ['a folder', (path: string) => mkdirSync(path)],
])('%s of that name is refused with a reason, once', async (_, make) => {
  const box = boxWith();
  mkdirSync(dirname(box.stick), { recursive: true });
  make(box.stick);
  const running = box.start();
  for (const _ of [1, 2]) expect(await running.poll()).toBe(false);
  expect(box.logged).toEqual([expect.stringContaining('it is not a regular file')]);
  box.put(box.nextToIt, good);
  expect(await box.start().poll()).toBe(true);
});

test('searches do not overlap', async () => {
  const box = boxWith();
  box.put(box.stick, good);
  const running = box.start();
  const [first, second] = [running.poll(), running.poll()];
  expect(second).toBe(first);
  expect(await first).toBe(true);
  expect(await running.poll()).toBe(false);
});

test.runIf(process.platform !== 'win32')(
  'an import preserves the symbolic link and the permissions of the file',
  async () => {
    const box = boxWith();
    box.put(box.stick, good);
    await box.start().poll();
    expect(statSync(box.target).mode & 0o777).toBe(0o600);
    const real = join(dirname(dirname(box.target)), 'elsewhere.json');
    box.put(real, good);
    chmodSync(real, 0o664);
    rmSync(box.target);
    symlinkSync(real, box.target);
    box.put(box.boot, other);
    expect(await box.start().poll()).toBe(true);
    expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual(other);
    expect(statSync(real).mode & 0o777).toBe(0o664);
  },
);

test('each platform has its sources', () => {
  expect(provisioningSources('linux', '/opt/player').trusted).toEqual([
    '/etc/signage-player',
    '/boot/firmware',
    '/boot',
    '/opt/player',
  ]);
  expect(provisioningSources('win32', 'C:\\player')).toMatchObject({
    removable: expect.arrayContaining(['E:\\']),
    levels: 0,
  });
});

test('an empty configuration on the boot partition, as an image has, leaves a stick to be read', async () => {
  const box = boxWith();
  box.put(box.boot, '{}\n');
  expect(await box.start().poll()).toBe(false);
  box.put(box.stick, good);
  expect(await box.start().poll()).toBe(true);
  expect(await box.start().poll()).toBe(false);
  expect(box.current()).toEqual(good);
});

test('an empty configuration, as a newer image has, leaves the settings of the data that it adopts', async () => {
  const box = boxWith();
  box.put(box.boot, { ...good, ...other });
  expect(await box.start().poll()).toBe(true);
  box.put(box.boot, '{}\n');
  expect(await box.start().poll()).toBe(false);
  expect(box.current()).toEqual({ ...good, ...other });
});

test('what is imported without a secret keeps the one that is there, a number too, and is judged with it', async () => {
  const box = boxWith();
  box.put(box.boot, { ...good, sharedSecret: 1_234_567_890_123_456 });
  expect(await box.start().poll()).toBe(true);
  box.put(box.boot, { site: 'bar', requirePeople: 'on' });
  expect(await box.start().poll()).toBe(true);
  expect(box.current()).toEqual({ site: 'bar', requirePeople: 'on', sharedSecret: 1_234_567_890_123_456 });
});

test('what the text beside it in an image says is imported', async () => {
  const text = readFileSync(join(import.meta.dirname, '..', '..', 'resources', 'image', 'read-me.txt'), 'utf8');
  const box = boxWith();
  box.put(box.boot, /^ *(\{.*\})$/m.exec(text)?.[1] ?? '');
  expect(await box.start().poll()).toBe(true);
});

test('a configuration may say that it stays where it is, with true or false alone', async () => {
  const box = boxWith();
  box.put(box.boot, { ...good, keep: 'yes' });
  expect(await box.start().poll()).toBe(false);
  expect(box.logged.join()).toContain('keep is not valid; expected true or false');
  box.put(box.boot, { ...good, keep: true });
  expect(await box.start().poll()).toBe(true);
});

const wifi = { wifi: { ssid: `O'Neill "$(reboot)"`, password: 'quite a password' } };

test('a stick changes the network of a box that has a configuration, with the secret or the PIN, once', async () => {
  const box = boxWith();
  box.put(box.target, other);
  const running = box.start();
  box.put(box.stick, { sharedSecret: other.sharedSecret, kiosk: { network: wifi } });
  for (let times = 0; times < 3; times += 1) expect(await running.poll()).toBe(false);
  box.put(box.stick, { kiosk: { pin: '2468', network: { hostname: 'hall' } } });
  box.isLocked = true;
  await running.poll();
  expect(box.networks).toEqual([wifi]);
  // After too many wrong ones it waits, and is not forgotten.
  box.isLocked = false;
  for (let times = 0; times < 3; times += 1) await running.poll();
  expect(box.networks).toEqual([wifi, { hostname: 'hall' }]);
  expect(box.current()).toEqual(other);
  expect(box.logged.join('')).not.toMatch(/long enough|2468|quite a/);
});

test.each<[string, unknown, RegExp]>([
  ['another secret', { sharedSecret: 'of another site, or guessed', kiosk: { network: wifi } }, /its secret is not/],
  ['another PIN', { kiosk: { pin: '1357', network: wifi } }, /its PIN is not/],
  ['neither', { kiosk: { network: wifi } }, /needs the sharedSecret of the site or the kiosk.pin/],
  ['another setting', { sharedSecret: other.sharedSecret, port: 1, kiosk: { network: wifi } }, /also has .*port/],
  ['another one of the kiosk', { kiosk: { pin: '2468', network: wifi, rotation: 90 } }, /also has .*kiosk\.rotation/],
  ['no network', { sharedSecret: other.sharedSecret }, /it has no kiosk\.network/],
  [
    'a bad network',
    { kiosk: { pin: '2468', network: { wifi: { ssid: 'two\nlines' } } } },
    /kiosk\.network\.wifi\.ssid/,
  ],
  ['damaged JSON', '{ "kiosk": {', /it has no kiosk\.network/],
])('a stick with %s is refused in a sentence that holds no secret', async (_, config, reason) => {
  const box = boxWith();
  box.put(box.target, other);
  box.put(box.stick, config);
  const running = box.start();
  for (let times = 0; times < 3; times += 1) expect(await running.poll()).toBe(false);
  expect(box.networks).toEqual([]);
  expect(box.proofs.length).toBeLessThan(2);
  expect(box.current()).toEqual(other);
  expect(box.logged).toHaveLength(1);
  expect(box.logged[0]).toMatch(reason);
  expect(JSON.parse(box.logged[0] ?? '').reason).not.toMatch(/long enough|guessed|2468|1357|quite a/);
});
