/** `npm start`: the kiosk where it can be had, the same service without one elsewhere; either is said in one line. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { chmodSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import { itBrowser } from '../support/browser.ts';
import { doubleArguments } from '../support/electron/bundle.ts';
import { patience } from '../support/kiosk.ts';
import { plainScript } from '../support/script.ts';
import { temporaryFolder } from '../support/service.ts';
import { isSoak, walk } from '../support/soak.ts';

const root = join(import.meta.dirname, '..', '..');

const script = plainScript(join(root, '.scripts', 'start.ts'));

const start = (env: Record<string, string>, words = [script]) => {
  const dataDir = temporaryFolder();
  const child = spawn(process.execPath, words, {
    cwd: root,
    env: {
      ...{ PATH: process.env['PATH'] ?? '', HOME: dataDir, SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0' },
      ...{ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_DISCOVERY: 'off', SIGNAGE_LOG_LEVEL: 'silent', ...env },
    },
    stdio: ['ignore', 'pipe', 'inherit'],
    detached: true,
  });
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
  const printed = { text: '' };
  child.stdout.on('data', (chunk) => {
    printed.text += chunk;
  });
  const lines = () => printed.text.split('\n');
  const isListening = () =>
    expect.poll(() => printed.text, patience).toMatch(/listening on http:\/\/127\.0\.0\.1:\d+\n/);
  return { child, dataDir, lines, isListening };
};

/** A folder with an Electron that is the double. */
const electronIn = (): string => {
  const folder = temporaryFolder();
  const electron = join(folder, 'electron');
  writeFileSync(
    electron,
    `#!/bin/sh\nexec env DOUBLE_APP="$1" "${process.execPath}" ${doubleArguments().join(' ')} "$1/dist/main/index.js" "--user-data-dir=${folder}"\n`,
  );
  chmodSync(electron, 0o755);
  return folder;
};

/** A folder with an Electron that is this shell script. */
const electronThat = (script: string): string => {
  const folder = temporaryFolder();
  writeFileSync(join(folder, 'electron'), `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return folder;
};

test('without a display it runs without a window', async () => {
  // As npm starts it.
  const { lines, isListening } = start({}, ['--import', 'tsx', '.scripts/start.ts']);
  await isListening();
  expect(lines()[0]).toBe(
    'There is no display, so the player runs without a window: open the address below in any browser.',
  );
});

test('so it does where Electron can not be started', async () => {
  const { lines, isListening } = start({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: temporaryFolder() });
  await isListening();
  expect(lines()[1]).toMatch(/^Electron could not be started, so the player runs without a window/);
});

const ends = [
  ['that refuses to run as root', 'exit 1', 'exit code 1'],
  ['whose sandbox the system forbids', 'kill -TRAP $$', 'SIGTRAP'],
  ['that misses a library', 'exit 127', 'exit code 127'],
  ['that crashes without its display', 'kill -SEGV $$', 'SIGSEGV'],
] as const;
// Each is a start of the service: of exit codes and of signals one.
test.each(isSoak ? ends : ends.slice(0, 2))(
  'an Electron %s leaves the player running without a window',
  async (_title, script, how) => {
    const { lines, isListening } = start({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: electronThat(script) });
    await isListening();
    expect(lines()[1]).toBe(
      `Electron ended (${how}) before it opened a window, so the player runs without a window: open the address below in any browser.`,
    );
  },
);

test.each([
  ['a second kiosk that leaves the first in front', 'exit 0', 0],
  // The packet of Node's IPC channel, as `process.send` writes it.
  ['a kiosk that ends after it had a window', `printf '"window-opened"\\n' >&"$NODE_CHANNEL_FD"; exit 3`, 3],
])('%s ends with its own exit code, and starts nothing', async (_title, script, expected) => {
  const { child, lines } = start({ DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: electronThat(script) });
  const [code] = await once(child, 'close');
  expect(code).toBe(expected);
  expect(lines()).toEqual(['Starting the kiosk.', '']);
});

test('SIGTERM before the first window ends the start, and starts nothing', async () => {
  const { child, lines } = start({
    DISPLAY: ':99',
    ELECTRON_OVERRIDE_DIST_PATH: electronThat('echo waiting; exec sleep 60'),
  });
  await expect.poll(() => lines()[1], patience).toBe('waiting');
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  expect(code).toBe(1);
  expect(lines()).toHaveLength(3);
});

test('Ctrl+C, which the kiosk gets by itself, is not sent to it again', async () => {
  const { child, lines } = start({
    DISPLAY: ':99',
    ELECTRON_OVERRIDE_DIST_PATH: electronThat(
      `trap 'echo again' INT; trap 'echo end; exit 0' TERM; echo waiting; while :; do sleep 0.05; done`,
    ),
  });
  await expect.poll(() => lines()[1], patience).toBe('waiting');
  child.kill('SIGINT');
  child.kill('SIGTERM');
  const [code] = await once(child, 'close');
  expect(code).toBe(0);
  expect(lines().slice(1)).toEqual(['waiting', 'end', '']);
});

itBrowser('with both it is the kiosk, and ends as that does; a second one says where it runs', walk, async () => {
  const env = { DISPLAY: ':99', ELECTRON_OVERRIDE_DIST_PATH: electronIn() };
  const { child, dataDir, lines, isListening } = start(env);
  await isListening();
  expect(lines()[0]).toBe('Starting the kiosk.');
  const url = /http:\S+/.exec(lines()[1] ?? '')?.[0];
  const { kiosk } = await (await fetch(`${url}/healthz`, { headers: { Connection: 'close' } })).json();
  expect(kiosk.screens).toHaveLength(1);
  const second = start({ ...env, SIGNAGE_DATA_DIR: dataDir });
  expect(await once(second.child, 'close')).toEqual([0, null]);
  expect(second.lines().slice(1)).toEqual([
    `The kiosk runs already at ${url}, with the data folder ${dataDir}; its window is in front now.`,
    '',
  ]);
  child.kill('SIGTERM');
  const [code] = await once(child, 'exit');
  expect(code).toBe(0);
});
