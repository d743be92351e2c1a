/** What systemd hears: by a program that stands in for its own, as a real process. */
import { chmodSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import { afterEach, expect, onTestFinished, test, vi } from 'vitest';
import { type AppliancePorts, createAppliance, startWithLogin } from '../../main/appliance.ts';
import { createWatchdog } from '../../main/watchdog.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';

const path = process.env.PATH;
afterEach(() => {
  process.env.PATH = path;
});

const systemd = (body = 'echo "$*" >> "$heard"') => {
  const folder = temporaryFolder();
  const heard = join(folder, 'heard');
  writeFileSync(join(folder, 'systemd-notify'), `#!/bin/sh\nheard='${heard}'\n${body}\n`);
  chmodSync(join(folder, 'systemd-notify'), 0o755);
  process.env.PATH = `${folder}${delimiter}${path}`;
  return () => (existsSync(heard) ? readFileSync(heard, 'utf8').trimEnd().split('\n') : []);
};

const watch = (isWatched: boolean, intervalMs: number | null) => {
  const warn = vi.fn();
  const ports = { log: { warn }, isPainting: () => false };
  const watchdog = createWatchdog(ports, { isWatched, intervalMs, painted: null });
  onTestFinished(watchdog.close);
  return { watchdog, warn };
};

test('systemd is notified of the start, of each watchdog interval and of the stop', async () => {
  const heard = systemd();
  const { watchdog } = watch(true, 50);
  watchdog.ready();
  await expect.poll(heard, patience).toContain('--ready');
  await expect.poll(() => heard().filter((line) => line === 'WATCHDOG=1').length, patience).toBeGreaterThan(3);
  watchdog.close();
  await expect.poll(heard, patience).toContain('STOPPING=1');
});

test('nothing is sent where systemd expects no notifications', async () => {
  const heard = systemd();
  const { watchdog } = watch(false, null);
  watchdog.ready();
  watchdog.close();
  const second = systemd();
  const unhurried = watch(true, null);
  unhurried.watchdog.ready();
  await expect.poll(second, patience).toEqual(['--ready']);
  unhurried.watchdog.close();
  await expect.poll(second, patience).toEqual(['--ready', 'STOPPING=1']);
  // What was sent before has been heard by then.
  expect(heard()).toEqual([]);
});

test('a file is touched while something is painted, and no longer', async () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const painted = join(temporaryFolder(), 'painted');
  let isPainting = false;
  const ports = { log: { warn: vi.fn() }, isPainting: () => isPainting };
  const watchdog = createWatchdog(ports, { isWatched: false, intervalMs: null, painted });
  onTestFinished(watchdog.close);
  watchdog.ready();
  vi.advanceTimersByTime(60_000);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(existsSync(painted)).toBe(false);
  isPainting = true;
  vi.advanceTimersByTime(15_000);
  await expect.poll(() => existsSync(painted), patience).toBe(true);
});

test.each([
  ['while a page plays', 'playing', 1, true],
  ['not by its start alone, before the first picture', 'starting', 1, false],
  ['where there is no display', 'starting', 0, true],
] as const)('the kiosk paints %s', async (_, state, displays, isPainting) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const folder = temporaryFolder();
  const painted = join(folder, 'painted');
  const window = { isBlack: () => false, health: () => ({ state }) };
  const ports = {
    app: { isPackaged: false, getVersion: () => '1.0.0' },
    host: { log: { info: vi.fn(), warn: vi.fn() }, dataDir: folder },
    displays: () => Array(displays).fill({}),
    windows: { list: () => [window] },
  } as unknown as AppliancePorts;
  const systemd = { isWatched: false, intervalMs: null };
  const paths = { rendererDir: folder, resourcesDir: folder, appImage: null, painted, session: null, system: null };
  const appliance = createAppliance(ports, { ...paths, systemd, isSupervised: false });
  onTestFinished(appliance.close);
  appliance.ready();
  vi.advanceTimersByTime(60_000);
  if (isPainting) await expect.poll(() => existsSync(painted), patience).toBe(true);
  await new Promise((resolve) => setTimeout(resolve, 50));
  expect(existsSync(painted)).toBe(isPainting);
});

test('a failed notification is logged once', async () => {
  systemd('exit 1');
  const { watchdog, warn } = watch(true, 20);
  watchdog.ready();
  await expect.poll(() => warn.mock.calls.length, patience).toBe(1);
  await new Promise((resolve) => setTimeout(resolve, 100));
  expect(warn).toHaveBeenCalledTimes(1);
});

test.each([
  ['on Windows, once packaged', 'win32', true, false, false, [[{ openAtLogin: true }]]],
  ['not where it does already', 'win32', true, true, false, []],
  ['not where it is the shell', 'win32', true, true, true, [[{ openAtLogin: false }]]],
  ['not from a checkout', 'win32', false, false, false, []],
  ['not on Linux, where systemd does', 'linux', true, false, false, []],
] as const)('the kiosk starts with the login: %s', (_, platform, isPackaged, openAtLogin, isSupervised, calls) => {
  const setLoginItemSettings = vi.fn();
  const app = { isPackaged, getLoginItemSettings: () => ({ openAtLogin }), setLoginItemSettings };
  startWithLogin(app, platform, isSupervised);
  expect(setLoginItemSettings.mock.calls).toEqual(calls);
});
