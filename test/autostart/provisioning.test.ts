/** A configuration that somebody left where the box looks. */
import { execFileSync } from 'node:child_process';
import { chmodSync, existsSync, mkdirSync, readFileSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createFirstConfig, type Places, searchedBy } from '../../main/provisioning.ts';
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
    put: (path: string, config: unknown) => {
      mkdirSync(dirname(path), { recursive: true });
      writeFileSync(path, typeof config === 'string' ? config : JSON.stringify(config));
    },
    current: (): unknown => (existsSync(box.target) ? JSON.parse(readFileSync(box.target, 'utf8')) : null),
    /** A start of the kiosk. */
    start: (places: Partial<Places> = {}) =>
      createFirstConfig(
        {
          log: pino({}, { write: (line) => logged.push(line) }),
          check: (folder) => readOptions({ env: { SIGNAGE_DATA_DIR: folder } }).warnings,
        },
        {
          dataDir,
          places: { trusted: [boot, join(root, 'program')], removable: [join(root, 'media')], levels: 2, ...places },
        },
      ),
  };
  return box;
};

test.each(['boot', 'nextToIt', 'stick'] as const)('is taken from %s, once', async (place) => {
  const box = boxWith();
  expect(await box.start().look()).toBe(false);
  box.put(box[place], good);
  expect(await box.start().look()).toBe(true);
  expect(box.current()).toEqual(good);
  expect(await box.start().look()).toBe(false);
  // Edited on the box: what still lies there does not undo it.
  box.put(box.target, other);
  expect(await box.start().look()).toBe(false);
  expect(box.current()).toEqual(other);
});

test('a stick that is plugged in later is noticed', async () => {
  const box = boxWith();
  const running = box.start();
  expect(await running.look()).toBe(false);
  box.put(box.stick, good);
  expect(await running.look()).toBe(true);
});

test('a new file on the boot partition replaces an older one; two places do not fight', async () => {
  const box = boxWith();
  box.put(box.boot, good);
  box.put(box.nextToIt, other);
  for (let starts = 0; starts < 3; starts += 1) await box.start().look();
  const settled = box.current();
  for (let starts = 0; starts < 3; starts += 1) expect(await box.start().look()).toBe(false);
  expect(box.current()).toEqual(settled);
  box.put(box.boot, { port: 8099 });
  expect(await box.start().look()).toBe(true);
  expect(box.current()).toEqual({ port: 8099 });
});

test('a stick changes nothing on a box that is configured', async () => {
  const box = boxWith();
  box.put(box.target, good);
  box.put(box.stick, other);
  expect(await box.start().look()).toBe(false);
  expect(box.current()).toEqual(good);
});

test('of a drive only the top is looked at, and what holds no setting is not taken', async () => {
  const box = boxWith();
  box.put(join(dirname(box.stick), 'Some Program', 'config.json'), good);
  box.put(box.stick, {});
  expect(await box.start(box.drive).look()).toBe(false);
  expect(box.current()).toBeNull();
  box.put(box.stick, good);
  expect(await box.start(box.drive).look()).toBe(true);
});

test('what is taken counts though it can not be written down that it was', async () => {
  const box = boxWith();
  mkdirSync(box.mark, { recursive: true });
  box.put(box.boot, good);
  const running = box.start();
  expect(await running.look()).toBe(true);
  expect(box.current()).toEqual(good);
  // Nor do two places make it start anew for ever.
  box.put(box.nextToIt, other);
  const next = box.start();
  for (const each of [running, running, next, next]) expect(await each.look()).toBe(false);
  expect(box.current()).toEqual(good);
  // Said once a start.
  expect(box.logged.filter((line) => line.includes('could not be kept'))).toHaveLength(2);
});

test.each<[string, unknown, RegExp]>([
  ['not JSON', '{', /is not JSON/],
  ['a list', [], /must hold a JSON object/],
  ['a bad value', { port: 'http' }, /SIGNAGE_PORT: \\"http\\" is not allowed/],
  ["another program's file", { dependencies: { koa: '3' } }, /dependencies is not a setting/],
  ['far too long', `{"site":"${'x'.repeat(300_000)}"}`, /^$/],
])('%s is not taken, and never over a good one', async (_, bad, reason) => {
  const box = boxWith();
  box.put(box.stick, bad);
  expect(await box.start().look()).toBe(false);
  expect(box.current()).toBeNull();
  box.put(box.target, good);
  box.put(box.boot, bad);
  const running = box.start();
  expect(await running.look()).toBe(false);
  expect(await running.look()).toBe(false);
  expect(box.current()).toEqual(good);
  // Once a start.
  expect(box.logged.length).toBeLessThanOrEqual(2);
  expect(box.logged.at(-1) ?? '').toMatch(reason);
  box.put(box.boot, other);
  expect(await running.look()).toBe(true);
});

test('a file that goes while it is read is none', async () => {
  const box = boxWith();
  box.put(box.stick, good);
  const looking = box.start().look();
  rmSync(dirname(box.stick), { recursive: true });
  expect(typeof (await looking)).toBe('boolean');
});

test.runIf(process.platform === 'linux').each([
  ['a pipe', (path: string) => execFileSync('mkfifo', [path])],
  ['a device without an end', (path: string) => symlinkSync('/dev/zero', path)],
  ['a folder', (path: string) => mkdirSync(path)],
])('%s of that name is passed over', async (_, make) => {
  const box = boxWith();
  mkdirSync(dirname(box.stick), { recursive: true });
  make(box.stick);
  expect(await box.start().look()).toBe(false);
  box.put(box.nextToIt, good);
  expect(await box.start().look()).toBe(true);
});

test('one look goes on at a time', async () => {
  const box = boxWith();
  box.put(box.stick, good);
  const running = box.start();
  const [first, second] = [running.look(), running.look()];
  expect(second).toBe(first);
  expect(await first).toBe(true);
  expect(await running.look()).toBe(false);
});

test.runIf(process.platform !== 'win32')('what it replaces stays where and whose it was', async () => {
  const box = boxWith();
  box.put(box.stick, good);
  await box.start().look();
  expect(statSync(box.target).mode & 0o777).toBe(0o600);
  const real = join(dirname(dirname(box.target)), 'elsewhere.json');
  box.put(real, good);
  chmodSync(real, 0o664);
  rmSync(box.target);
  symlinkSync(real, box.target);
  box.put(box.boot, other);
  expect(await box.start().look()).toBe(true);
  expect(JSON.parse(readFileSync(real, 'utf8'))).toEqual(other);
  expect(statSync(real).mode & 0o777).toBe(0o664);
});

test('each system has its places', () => {
  expect(searchedBy('linux', '/opt/player').trusted).toEqual([
    '/etc/signage-player',
    '/boot/firmware',
    '/boot',
    '/opt/player',
  ]);
  expect(searchedBy('win32', 'C:\\player')).toMatchObject({ removable: expect.arrayContaining(['E:\\']), levels: 0 });
});
