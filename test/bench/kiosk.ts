/** How long a screen is without its picture after its page was killed: under the double, with Chromium's own pages. */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { askOf, crashPage, passTime } from '../support/electron/ask.ts';
import type { Report } from './harness/report.ts';

const KILLS = Number(process.env['SIGNAGE_TEST_RENDERER_KILLS'] ?? 30);

const share = (sorted: readonly number[], part: number): number =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * part))] ?? Number.NaN;

export const benchKiosk = async ({ note }: Report): Promise<void> => {
  const dataDir = mkdtempSync(join(tmpdir(), 'signage-bench-'));
  writeFileSync(
    join(dataDir, 'config.json'),
    JSON.stringify({ kiosk: { displays: [{ display: 1, screen: 'demo' }] } }),
  );
  const register = join(import.meta.dirname, '..', 'support', 'electron', 'register.ts');
  const args = ['--import', 'tsx', '--import', register, 'dist/main/index.js', `--user-data-dir=${dataDir}/profile`];
  const app = spawn(process.execPath, args, {
    env: {
      ...{ PATH: process.env['PATH'], SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', SIGNAGE_DISCOVERY: 'off' },
      ...{ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_LOG_LEVEL: 'silent' },
    },
    stdio: ['ignore', 'pipe', 'ignore', 'ipc'],
  });
  let url: string | undefined;
  let printed = '';
  for await (const chunk of app.stdout ?? []) {
    printed += String(chunk);
    url = /listening on (\S+)/.exec(printed)?.[1];
    if (url !== undefined) break;
  }
  const isPlaying = async (): Promise<boolean> => {
    const { kiosk } = (await (await fetch(`${url}/healthz`)).json()) as { kiosk: { screens: { state: string }[] } };
    return kiosk.screens[0]?.state === 'playing';
  };
  const ask = askOf(app);
  const times: number[] = [];
  while (times.length < KILLS) {
    while (!(await isPlaying())) await wait(50);
    times.push(await crashPage(ask));
    await passTime(ask, 61);
  }
  const ended = once(app, 'exit');
  app.kill('SIGTERM');
  await ended;
  rmSync(dataDir, { recursive: true, force: true, maxRetries: 5 });
  times.sort((a, b) => a - b);
  const [p50, p95, most] = [share(times, 0.5), share(times, 0.95), share(times, 1)];
  note(
    `A killed page back on the screen (ms, ${KILLS} kills, goal: p95 under 3000): p50 ${p50}  p95 ${p95}  most ${most}.`,
  );
};
