/** A box through its updates: real feed, real electron-updater, real files; only the clock and the program are made up. */
import { mkdirSync, readdirSync, readFileSync, rmdirSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createDownloads } from '../../main/updates/downloads.ts';
import {
  appImageInstaller,
  debInstaller,
  type Installer,
  imageInstaller,
  nsisInstaller,
  orderRoot,
} from '../../main/updates/installers.ts';
import { createUpdates, type Updates } from '../../main/updates/updates.ts';
import { updateNotes } from '../../service/health/index.ts';
import { inGerman } from '../support/sentences.ts';
import { temporaryFolder } from '../support/service.ts';
import { nodeUpdater, publicKey, serveFeed, writeRelease } from './release.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const log = pino({ level: 'silent' });

/** A box whose program is a file that says its version. It is half past two at night, the quiet hours begin at three. */
const installBox = (feed: string | null, makeInstaller?: (restart: () => void, updatesDir: string) => Installer) => {
  const dataDir = temporaryFolder();
  const program = join(dataDir, 'signage-player.AppImage');
  const updatesDir = join(dataDir, 'updates');
  writeFileSync(program, 'the program 1.0.0');
  const box = {
    updatesDir,
    now: Date.UTC(2026, 10, 21, 2, 30),
    /** By how much the time of day is wrong. */
    wrongBy: 0,
    isHealthy: true as boolean | null,
    /** Bytes. */
    free: 2 ** 40,
    restarts: 0,
    /** The versions that said that they are about to be replaced. */
    announced: [] as string[],
    updates: null as unknown as Updates,
    version: () => readFileSync(program, 'utf8').slice('the program '.length),
    /** Starts whatever program is there; a version that must not run restarts the box by itself. */
    boot: async (): Promise<boolean> => {
      const version = box.version();
      const restart = () => {
        box.restarts += 1;
      };
      const downloads = createDownloads(
        { updater: nodeUpdater(version, dataDir), log, key: publicKey, disk: { free: async () => box.free } },
        { readyDir: join(updatesDir, 'ready') },
      );
      const installer = makeInstaller?.(restart, updatesDir) ?? appImageInstaller(program, restart);
      box.updates = createUpdates(
        {
          log,
          installer,
          downloads,
          settings: () => ({ feed, peers: [], channel: 'latest', hours: '03:00-05:00', timeZone: 'UTC' }),
          beforeInstall: async () => void box.announced.push(box.version()),
          isHealthy: () => box.isHealthy,
          now: () => box.now + box.wrongBy,
          monotonicNow: () => box.now,
          random: () => 0,
        },
        { version, updatesDir, builtAt: Date.UTC(2026, 10, 1) },
      );
      return box.updates.mayRun();
    },
    later: async (ms: number): Promise<void> => {
      box.now += ms;
      await box.updates.poll();
    },
  };
  return box;
};

/** Starts a box, and has it fetch what the feed offers and put it in. */
const putIn = async (box: ReturnType<typeof installBox>): Promise<void> => {
  await box.boot();
  await box.later(2 * MINUTE);
  await box.later(30 * MINUTE);
};

test('a good version goes in at a quiet hour, proves well, and stays', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url);
  expect(await box.boot()).toBe(true);
  await box.later(2 * MINUTE);
  expect(box.updates.status()).toMatchObject({ ready: '2.0.0' });
  await box.later(2 * MINUTE);
  expect(box.version()).toBe('1.0.0');
  await box.later(30 * MINUTE);
  expect([box.version(), box.restarts]).toEqual(['2.0.0', 1]);
  expect(box.announced).toEqual(['1.0.0']);

  expect(await box.boot()).toBe(true);
  expect(box.updates.status()).toMatchObject({ onTrial: true });
  await box.later(MINUTE);
  await box.later(4 * MINUTE);
  expect(box.updates.status().onTrial).toBe(true);
  await box.later(MINUTE);
  expect(box.updates.status()).toMatchObject({ onTrial: false, failed: [] });
  for (let starts = 0; starts < 5; starts += 1) expect(await box.boot()).toBe(true);
  expect(box.version()).toBe('2.0.0');
});

test('a version that crashes in a loop is rolled back, and not tried again; the next one is', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  const box = installBox(feed.url);
  await putIn(box);
  expect(box.version()).toBe('2.0.0');
  expect(await box.boot()).toBe(true);
  box.now += MINUTE;
  expect(await box.boot()).toBe(true);
  box.now += MINUTE;
  expect(await box.boot()).toBe(false);
  expect(box.version()).toBe('1.0.0');

  expect(await box.boot()).toBe(true);
  expect(box.updates.status()).toMatchObject({ onTrial: false, failed: ['2.0.0'] });
  for (let hours = 0; hours < 48; hours += 1) await box.later(HOUR);
  expect(box.version()).toBe('1.0.0');

  writeRelease(feed.folder, { version: '2.0.1' });
  for (let hours = 0; hours < 48 && box.version() === '1.0.0'; hours += 1) await box.later(HOUR);
  expect(box.version()).toBe('2.0.1');
});

test('a version that does not fit is told of, until it does', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url);
  box.free = 0;
  await box.boot();
  await box.later(2 * MINUTE);
  expect(box.updates.status()).toMatchObject({
    ready: null,
    fault: expect.stringMatching(/^version 2\.0\.0 needs 1 MB/),
  });
  box.free = 2 ** 40;
  await box.later(8 * HOUR);
  expect(box.updates.status()).toMatchObject({ ready: '2.0.0', fault: null });
});

test('a version whose copy was cut off is put in again; one that was replaced by hand is not', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url);
  const program = join(box.updatesDir, '..', 'signage-player.AppImage');
  await putIn(box);
  // The power went while the file was copied.
  writeFileSync(program, 'the program 1.0.0');
  writeFileSync(`${program}.next`, 'the prog');
  await putIn(box);
  expect([box.updates.status().failed, box.version()]).toEqual([[], '2.0.0']);
  // It did not get so far as to record a start.
  writeFileSync(program, 'the program 1.0.0');
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual(['2.0.0']);
});

test('where nothing tells whether a version was installed, it is tried twice, not in one night', async () => {
  const installed: string[] = [];
  const installer = { install: async (file: string) => void installed.push(file), rollBack: async () => undefined };
  const box = installBox((await serveFeed({ version: '2.0.0' })).url, () => installer);
  await putIn(box);
  expect(await box.boot()).toBe(true);
  await box.later(5 * HOUR);
  expect([box.updates.status().ready, box.updates.status().failed, installed.length]).toEqual([null, [], 1]);
  for (let hours = 0; hours < 24 && installed.length === 1; hours += 1) await box.later(HOUR);
  expect(installed).toHaveLength(2);
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual(['2.0.0']);
});

test('a version that runs but does not play is rolled back', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url);
  await putIn(box);
  box.isHealthy = false;
  expect(await box.boot()).toBe(true);
  for (let minutes = 0; minutes < 20; minutes += 1) await box.later(MINUTE);
  expect([box.version(), box.restarts]).toEqual(['1.0.0', 2]);
  await box.boot();
  expect(box.updates.status().failed).toEqual(['2.0.0']);
});

test('a version that does not play is rolled back though the disk takes nothing', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url);
  await putIn(box);
  box.isHealthy = false;
  expect(await box.boot()).toBe(true);
  const record = join(box.updatesDir, 'state.json');
  rmSync(record);
  mkdirSync(record);
  for (let minutes = 0; minutes < 20; minutes += 1) await box.later(MINUTE);
  expect([box.version(), box.restarts]).toEqual(['1.0.0', 2]);
});

test('where nothing is kept to go back to, a bad version runs on rather than none', async () => {
  const box = installBox(null);
  mkdirSync(box.updatesDir);
  const starts = [box.now - 2, box.now - 1];
  const trial = { version: '1.0.0', from: '0.9.0', starts };
  writeFileSync(join(box.updatesDir, 'state.json'), JSON.stringify({ trial, failed: [] }));
  expect(await box.boot()).toBe(true);
  expect([box.version(), box.restarts]).toEqual(['1.0.0', 0]);
});

test.each(['', '{', '{"trial":5,"failed":[]}', '{"trial":{},"failed":[]}', '[]', 'null'])(
  'a damaged record, %j, stops nothing',
  async (text) => {
    const box = installBox(null);
    mkdirSync(box.updatesDir);
    writeFileSync(join(box.updatesDir, 'state.json'), text);
    expect(await box.boot()).toBe(true);
    expect(box.updates.status()).toMatchObject({ onTrial: false, failed: [] });
  },
);

test('an installation that fails leaves what runs, and is tried again', async () => {
  let fails = true;
  const feed = await serveFeed({ version: '2.0.0' });
  const ordered: string[] = [];
  const box = installBox(feed.url, (restart, updatesDir) => {
    const program = join(updatesDir, '..', 'signage-player.AppImage');
    const installer = appImageInstaller(program, restart);
    return {
      ...installer,
      install: async (file) => {
        ordered.push(file);
        // Nothing can take the place of a folder: the new program cannot be written.
        if (fails) mkdirSync(`${program}.next`, { recursive: true });
        else rmSync(`${program}.next`, { recursive: true });
        await installer.install(file);
      },
    };
  });
  await putIn(box);
  expect([ordered.length, box.version(), box.restarts]).toEqual([1, '1.0.0', 0]);
  fails = false;
  for (let hours = 0; hours < 30 && box.version() === '1.0.0'; hours += 1) await box.later(HOUR);
  expect([ordered.length, box.version(), box.restarts]).toEqual([2, '2.0.0', 1]);
});

const YEAR = 365 * 24 * HOUR;

test.each([10, -10])('a clock that is %d years off until it is set keeps no update away', async (years) => {
  const feed = await serveFeed({ version: '2.0.0' });
  const ordered: string[] = [];
  const box = installBox(feed.url, () => ({
    // Nothing ever comes of it.
    install: async (file) => void ordered.push(file),
    rollBack: async () => {},
  }));
  box.wrongBy = years * YEAR;
  await box.boot();
  await box.later(2 * MINUTE);
  expect(box.updates.status().ready).toBe('2.0.0');
  // Half past three, by a clock that can't be right where it is behind.
  await box.later(HOUR);
  expect(ordered).toHaveLength(years > 0 ? 1 : 0);
  box.wrongBy = 0;
  for (let hours = 0; hours < 24; hours += 1) await box.later(HOUR);
  expect(ordered).toHaveLength(2);
});

test('a disk that takes nothing puts an update off, and no longer than it does', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url);
  const record = join(box.updatesDir, 'state.json');
  mkdirSync(record, { recursive: true });
  await putIn(box);
  expect(box.version()).toBe('1.0.0');
  rmdirSync(record);
  for (let hours = 0; hours < 48 && box.version() === '1.0.0'; hours += 1) await box.later(HOUR);
  expect(box.version()).toBe('2.0.0');
});

test('a deb is ordered from root, by a file that is there at once and whole', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url, (_, updatesDir) => debInstaller(updatesDir));
  await putIn(box);
  expect(readFileSync(join(box.updatesDir, 'order'), 'utf8')).toBe('install\n');
  // Root never came: the order is given again, and what runs is not disturbed.
  expect(box.updates.status().ready).toBeNull();
  await box.later(29 * MINUTE);
  expect(box.updates.status().ready).toBeNull();
  await box.later(10 * HOUR);
  await box.later(MINUTE);
  const fault = 'version 2.0.0: see the journal of the system';
  expect(box.updates.status()).toMatchObject({ ready: '2.0.0', fault });
});

test('a deb whose installation was cut off is tried again, and one that root gave up is not', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url, (_, updatesDir) => debInstaller(updatesDir));
  const mark = join(box.updatesDir, 'given-up');
  mkdirSync(box.updatesDir);
  // Of a version before.
  writeFileSync(mark, '');
  await putIn(box);
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual([]);
  await putIn(box);
  expect(readFileSync(join(box.updatesDir, 'order'), 'utf8')).toBe('install\n');
  writeFileSync(mark, '');
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual(['2.0.0']);
});

test('an order that waits is displaced by the next one, but not by one for the Wi-Fi of the box', async () => {
  const folder = temporaryFolder();
  const waiting = () => readFileSync(join(folder, 'order'), 'utf8');
  await orderRoot(folder, 'hotspot-open');
  await orderRoot(folder, 'hotspot-close');
  expect(waiting()).toBe('hotspot-close\n');
  await orderRoot(folder, 'reset\n/srv/media');
  await expect(orderRoot(folder, 'hotspot-open')).rejects.toThrow(/EEXIST/);
  expect(waiting()).toBe('reset\n/srv/media\n');
  expect(readdirSync(folder)).toEqual(['order']);
});

test('a system is kept once it has proved well, also where the record of its trial was lost', async () => {
  let isOnTrial = true;
  const system = () => ({ slot: 'B' as const, version: '1.0.0', onTrial: isOnTrial, left: null, fault: null });
  const box = installBox(null, (_, updatesDir) => imageInstaller(updatesDir, system));
  const order = (): string => readFileSync(join(box.updatesDir, 'order'), 'utf8');
  mkdirSync(box.updatesDir);
  expect(await box.boot()).toBe(true);
  await box.later(MINUTE);
  expect(box.updates.status().onTrial).toBe(true);
  await box.later(4 * MINUTE);
  expect(order).toThrow();
  await box.later(2 * MINUTE);
  expect(order()).toBe('keep\n');
  isOnTrial = false;
  await box.later(MINUTE);
  expect(box.updates.status().onTrial).toBe(false);

  isOnTrial = true;
  box.isHealthy = false;
  await box.later(MINUTE);
  await box.later(21 * MINUTE);
  expect(order()).toBe('roll-back\n');
});

test('a system that a power cut kept from being installed is tried again, and one that was given up is not', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  let left: { slot: 'B'; why: 'trial' } | null = null;
  const system = () => ({ slot: 'A' as const, version: '1.0.0', onTrial: false, left, fault: null });
  const box = installBox(feed.url, (_, updatesDir) => imageInstaller(updatesDir, system));
  await putIn(box);
  expect(readFileSync(join(box.updatesDir, 'order'), 'utf8')).toBe('install\n');
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual([]);
  await putIn(box);
  left = { slot: 'B', why: 'trial' };
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual(['2.0.0']);
});

test('a system whose display is off for days is given up, and tried again', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  let [onTrial, left]: [boolean, { slot: 'B'; why: 'trial' } | null] = [false, null];
  const system = () => ({ slot: 'A' as const, version: '1.0.0', onTrial, left, fault: null });
  const box = installBox(feed.url, (_, updatesDir) => imageInstaller(updatesDir, system));
  const runs = (version: string) =>
    writeFileSync(join(box.updatesDir, '..', 'signage-player.AppImage'), `the program ${version}`);
  const giveUp = async (isHealthy: boolean | null): Promise<readonly string[]> => {
    await putIn(box);
    expect(readFileSync(join(box.updatesDir, 'order'), 'utf8')).toBe('install\n');
    rmSync(join(box.updatesDir, 'order'));
    [onTrial, left, box.isHealthy] = [true, null, isHealthy];
    runs('2.0.0');
    for (let starts = 0; starts < 3; starts += 1) {
      expect(await box.boot()).toBe(true);
      await box.later(MINUTE);
      box.isHealthy = null;
      await box.later(24 * HOUR - 33 * MINUTE);
    }
    [onTrial, left, box.isHealthy] = [false, { slot: 'B', why: 'trial' }, true];
    runs('1.0.0');
    expect(await box.boot()).toBe(true);
    box.now = Date.UTC(2026, 10, 26, 2, 30);
    return box.updates.status().failed;
  };
  expect(await giveUp(null)).toEqual([]);
  expect(await giveUp(true)).toEqual(['2.0.0']);
});

test('an installer that the disk has no room to unpack is told of in German, with its version', async () => {
  const box = installBox((await serveFeed({ version: '2.0.0' })).url, (restart, updatesDir) => {
    const [installed, kept] = [join(updatesDir, 'installer.exe'), join(updatesDir, 'previous.exe')];
    return nsisInstaller({ installed, kept, starts: true, free: async () => 0, runDownloaded: restart, quit: restart });
  });
  await putIn(box);
  const notes = updateNotes({ updates: box.updates.status(), system: null });
  expect(notes).toEqual([
    'An update is not installed: version 2.0.0: the update needs 1 MB more than the disk has free',
  ]);
  expect(notes.map(inGerman)).toEqual([
    'Ein Update wird nicht installiert: Version 2.0.0: Das Update braucht 1 MB mehr, als auf der Platte frei sind',
  ]);
});

test('a version that failed is told of, until it runs all the same because somebody has installed it', async () => {
  const box = installBox(null);
  mkdirSync(box.updatesDir);
  writeFileSync(join(box.updatesDir, 'state.json'), JSON.stringify({ trial: null, failed: ['0.9.0', '1.0.0'] }));
  expect(await box.boot()).toBe(true);
  expect(box.updates.status().failed).toEqual(['0.9.0']);
});
