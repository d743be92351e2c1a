import { existsSync, mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test, vi } from 'vitest';
import { nsisInstaller } from '../../main/updates/installers.ts';
import { openUpdates } from '../../main/updates/open.ts';
import { temporaryFolder } from '../support/service.ts';
import { nodeUpdater, publicKey, serveFeed } from './release.ts';

const boxOf = (isPackaged: boolean, url: string) => {
  const dataDir = temporaryFolder();
  const resourcesDir = join(dataDir, 'resources');
  mkdirSync(resourcesDir);
  writeFileSync(join(resourcesDir, 'app-update.yml'), `provider: generic\nurl: ${url}\nupdaterCacheDirName: cache\n`);
  const createUpdater = vi.fn(() => nodeUpdater('1.0.0', dataDir));
  const open = () =>
    openUpdates(
      {
        app: { isPackaged, getVersion: () => '1.0.0', getPath: () => dataDir, quit: () => {} },
        log: pino({ level: 'silent' }),
        relaunch: () => {},
        settings: () => ({ feed: null, peers: [], channel: 'latest', hours: '00:00-00:00', timeZone: 'UTC' }),
        beforeInstall: async () => {},
        isHealthy: () => true,
        answerProxy: () => {},
        createUpdater,
      },
      { platform: 'linux', dataDir, resourcesDir, appImage: null, system: null, builtAt: 0, isSupervised: false },
    );
  return { dataDir, resourcesDir, createUpdater, open };
};

const pem = publicKey.export({ type: 'spki', format: 'pem' });

test('a packaged build with a key takes its updates from where it says', async () => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const feed = await serveFeed({ version: '2.0.0' });
  const { dataDir, resourcesDir, open } = boxOf(true, feed.url);
  writeFileSync(join(resourcesDir, 'update-key.pem'), pem);
  const updates = open();
  expect(await updates.mayRun()).toBe(true);
  vi.advanceTimersByTime(3_600_000);
  await updates.poll();
  expect(updates.status().ready).toBe('2.0.0');
  await updates.poll();
  expect(readFileSync(join(dataDir, 'updates', 'order'), 'utf8')).toBe('install\n');
  vi.useRealTimers();
});

test.each([
  ['without a key', true, null],
  ['with a key that is none', true, 'not a key'],
  ['from a checkout', false, pem],
])('a build %s asks nobody', async (_, isPackaged, key) => {
  vi.useFakeTimers({ toFake: ['performance'] });
  const feed = await serveFeed({ version: '2.0.0' });
  const { dataDir, resourcesDir, createUpdater, open } = boxOf(isPackaged, feed.url);
  if (key !== null) writeFileSync(join(resourcesDir, 'update-key.pem'), key);
  const updates = open();
  expect(await updates.mayRun()).toBe(true);
  vi.advanceTimersByTime(3_600_000);
  await updates.poll();
  expect(createUpdater).not.toHaveBeenCalled();
  expect(feed.asked).toEqual([]);
  expect(existsSync(join(dataDir, 'updates', 'ready'))).toBe(false);
  vi.useRealTimers();
});

test('an installer of Windows that the disk has no room to unpack is not run, because it would first remove the player', async () => {
  const folder = temporaryFolder();
  const [installed, kept, file] = ['installer.exe', 'previous.exe', 'next.exe'].map((name) => join(folder, name)) as [
    string,
    string,
    string,
  ];
  writeFileSync(installed, 'old');
  writeFileSync(file, Buffer.alloc(1_000_000));
  const runDownloaded = vi.fn();
  const installerWith = (bytes: number) =>
    nsisInstaller({ installed, kept, starts: true, free: async () => bytes, runDownloaded, quit: () => {} });
  await expect(installerWith(5_500_000).install(file)).rejects.toThrow(
    'the update needs 3 MB more than the disk has free',
  );
  expect([runDownloaded.mock.calls.length, existsSync(kept)]).toEqual([0, false]);
  await installerWith(8_000_000).install(file);
  expect([runDownloaded.mock.calls.length, readFileSync(kept, 'utf8')]).toEqual([1, 'old']);
});
