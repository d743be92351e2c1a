/** Relaunch from an AppImage: real processes, one of which replaces the other. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, existsSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFail, createRelaunch, endSecond } from '../../main/lifecycle.ts';
import { ownAppImage } from '../../main/paths.ts';
import { patience } from '../support/kiosk.ts';
import { temporaryFolder } from '../support/service.ts';

const root = join(import.meta.dirname, '..', '..');
const node = [process.execPath, '--import', 'tsx'];

/** An app that relaunches itself twice, and is slow to exit. */
const app = `
  import { createRelaunch } from '${join(root, 'main', 'lifecycle.ts')}';
  import { lendSecrets, takeEnvironment } from '${join(root, 'service', 'platform', 'options', 'index.ts')}';
  // As a packaged app has it.
  process.argv.splice(1, 1);
  const environment = takeEnvironment();
  const app = { relaunch: () => console.log('from inside'), quit: () => setTimeout(() => process.exit(0), 300) };
  const relaunch = createRelaunch(
    { app, log: { warn() {} }, lendSecrets: (act) => lendSecrets(environment, act), isStopping: () => false },
    { appImage: process.env.APPIMAGE, systemd: { isWatched: false }, isSupervised: false },
  );
  relaunch('once');
  relaunch('twice');
`;

it.runIf(process.platform === 'linux')(
  'an AppImage follows when the one before has ended, once, with its secrets',
  async () => {
    const folder = temporaryFolder();
    const [program, image, told] = ['app.ts', 'player.AppImage', 'told'].map((name) => join(folder, name)) as [
      string,
      string,
      string,
    ];
    writeFileSync(program, app);
    const script = `kill -0 "$PARENT" && echo early\necho "$* $SIGNAGE_SHARED_SECRET"`;
    writeFileSync(image, `#!/bin/sh\n{ ${script}; } >> ${told} 2> /dev/null\n`);
    chmodSync(image, 0o755);
    const child = spawn('/bin/sh', ['-c', 'export PARENT=$$; exec "$@"', 'sh', ...node, program, '--kiosk', 'a b'], {
      cwd: root,
      env: { PATH: process.env['PATH'] ?? '', APPIMAGE: image, SIGNAGE_SHARED_SECRET: 'long enough to be good' },
      stdio: ['ignore', 'pipe', 'inherit'],
    });
    onTestFinished(() => void child.kill('SIGKILL'));
    let printed = '';
    child.stdout.on('data', (chunk) => {
      printed += chunk;
    });
    await once(child, 'exit');
    await expect.poll(() => existsSync(told) && readFileSync(told, 'utf8'), patience).toMatch(/good\n$/);
    expect(readFileSync(told, 'utf8')).toBe('--kiosk a b long enough to be good\n');
    expect(printed).toBe('');
  },
);

it('any other package is relaunched by Electron, once, and not when it is to end', () => {
  const [relaunch, quit, lend] = [vi.fn(), vi.fn(), vi.fn((act: () => void) => act())];
  let isStopping = true;
  const again = createRelaunch(
    { app: { relaunch, quit }, log: { warn: () => {} }, lendSecrets: lend, isStopping: () => isStopping },
    { appImage: null, systemd: { isWatched: false }, isSupervised: false },
  );
  again('too late');
  expect(quit).not.toHaveBeenCalled();
  isStopping = false;
  for (const reason of ['one', 'two']) again(reason);
  expect([relaunch, quit, lend].map(({ mock }) => mock.calls.length)).toEqual([1, 1, 1]);
});

it('under systemd or a shell launcher, which starts it again, it only ends', () => {
  const [relaunch, quit, lend] = [vi.fn(), vi.fn(), vi.fn((act: () => void) => act())];
  for (const [appImage, isWatched] of [
    [null, true],
    ['/home/player.AppImage', true],
    [null, false],
  ] as const) {
    const again = createRelaunch(
      { app: { relaunch, quit }, log: { warn: () => {} }, lendSecrets: lend, isStopping: () => false },
      { appImage, systemd: { isWatched }, isSupervised: !isWatched },
    );
    again('a page failed too often');
  }
  expect([relaunch, quit, lend].map(({ mock }) => mock.calls.length)).toEqual([0, 3, 0]);
});

it.each([
  ['nobody starts again', {}, []],
  ['systemd starts again', { isWatched: true }, [1]],
  ['the shell launcher starts again', { isSupervised: true }, [1]],
  ['runs from a checkout', { isPackaged: false }, [1]],
])(
  'after a fatal error a kiosk that %s ends, or restarts itself, 10 s after its start at the earliest',
  (_, how, codes) => {
    vi.useFakeTimers();
    onTestFinished(() => void vi.useRealTimers());
    const { isPackaged = true, isWatched = false, isSupervised = false } = how as Record<string, boolean>;
    const [relaunch, exit, fatal] = [vi.fn(), vi.fn(), vi.fn()];
    const ports = { app: { isPackaged, exit }, log: { fatal }, relaunch };
    const fail = createFail(ports, { systemd: { isWatched }, isSupervised });
    const error = new Error('no display');
    fail(error);
    expect(fatal.mock.calls).toEqual([[{ err: error }, 'the kiosk cannot continue']]);
    expect(exit.mock.calls.flat()).toEqual(codes);
    vi.advanceTimersByTime(9_999);
    expect(relaunch).not.toHaveBeenCalled();
    vi.advanceTimersByTime(60_000);
    expect(relaunch).toHaveBeenCalledTimes(1 - codes.length);
    fail(error);
    vi.advanceTimersByTime(0);
    expect(relaunch).toHaveBeenCalledTimes(2 - 2 * codes.length);
  },
);

it('a second instance ends at once, but not where a shell launcher would start it again at once', () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const app = {
    isPackaged: false,
    getLoginItemSettings: () => ({ openAtLogin: true }),
    setLoginItemSettings: vi.fn(),
    quit: vi.fn(),
  };
  endSecond(app, { isSupervised: true });
  expect(app.quit).not.toHaveBeenCalled();
  vi.advanceTimersByTime(60_000);
  expect(app.quit).toHaveBeenCalledTimes(1);
  endSecond(app, { isSupervised: false });
  expect(app.quit).toHaveBeenCalledTimes(2);
});

it.runIf(process.platform !== 'win32')('the AppImage of another program is not taken for its own', () => {
  const [mount, elsewhere] = [temporaryFolder(), temporaryFolder()];
  const program = join(mount, 'player');
  writeFileSync(program, '');
  const link = join(elsewhere, 'link');
  symlinkSync(mount, link);
  const image = '/home/player.AppImage';
  for (const each of [mount, link, `${mount}/`]) expect(ownAppImage({ image, mount: each }, program)).toBe(image);
  for (const each of [elsewhere, join(elsewhere, 'gone'), `${mount}-2`, undefined]) {
    expect(ownAppImage({ image, mount: each }, program)).toBeNull();
  }
  expect(ownAppImage({ image: undefined, mount }, program)).toBeNull();
});
