/** The Chromium behind the double, by its own protocol: the tests look at the same one with Playwright. */
import { type ChildProcess, spawn } from 'node:child_process';
import { EventEmitter, once } from 'node:events';
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { WebSocket } from 'ws';
import { findProgram } from '../program.ts';

export type Parameters = Record<string, unknown>;

export interface Chromium {
  /** Where a second client may connect. */
  endpoint: string;
  send(method: string, parameters?: Parameters, sessionId?: string): Promise<Parameters>;
  /** Events: by session id, `(method, parameters)`; the browser's own under `browser`. */
  events: EventEmitter;
  /** At once, whatever it is doing. */
  kill(): void;
  /** Resolves when it has ended, after which no answer comes. */
  ended: Promise<unknown>;
}

const args = [
  ...['--no-sandbox', '--disable-gpu', '--no-first-run', '--remote-debugging-port=0', '--hide-scrollbars'],
  ...['--disable-background-networking', '--disable-component-update', '--disable-sync', '--mute-audio'],
  ...['--autoplay-policy=no-user-gesture-required', '--disable-background-timer-throttling'],
  ...['--disable-renderer-backgrounding', '--disable-backgrounding-occluded-windows'],
];

/** @param more by default it has no windows */
export const launchChromium = async (more: readonly string[] = ['--headless', 'about:blank']): Promise<Chromium> => {
  // The shell has no windows, and starts in a quarter of the time. What Debian has of it on the PATH is a script that would
  // be killed in its place.
  const shell = more.includes('--headless')
    ? ['/usr/lib/chromium/chromium-headless-shell', 'chromium-headless-shell']
    : [];
  const executable = findProgram(...shell, 'chromium', 'chromium-browser', 'google-chrome', 'google-chrome-stable');
  if (executable === undefined) throw new Error('No Chromium on the PATH');
  const profile = mkdtempSync(join(tmpdir(), 'signage-chromium-'));
  // A runtime that is killed takes its pages with it.
  const holder = findProgram('setpriv') === undefined ? [] : ['setpriv', '--pdeathsig', 'KILL', '--'];
  const [program = '', ...words] = [...holder, executable, `--user-data-dir=${profile}`, ...args, ...more];
  const browser: ChildProcess = spawn(program, words, { stdio: 'ignore' });
  const ended = once(browser, 'exit');
  const kill = (): void => {
    browser.kill('SIGKILL');
    try {
      rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
    } catch {
      // A process of it was still writing; the system's temporary folder is cleaned by others.
    }
  };
  process.once('exit', kill);

  const told = join(profile, 'DevToolsActivePort');
  while (!existsSync(told) || readFileSync(told, 'utf8').split('\n').length < 2) {
    if (browser.exitCode !== null || browser.signalCode !== null) throw new Error('Chromium ended at its start');
    await wait(20);
  }
  const [port, path] = readFileSync(told, 'utf8').split('\n');
  const socket = new WebSocket(`ws://127.0.0.1:${port}${path}`);
  await once(socket, 'open');

  const events = new EventEmitter().setMaxListeners(0);
  const waiting = new Map<number, { resolve(result: Parameters): void; reject(error: Error): void }>();
  let lastId = 0;
  socket.on('message', (data) => {
    const { id, result, error, method, params, sessionId = 'browser' } = JSON.parse(String(data));
    if (id === undefined) return void events.emit(sessionId, method, params);
    const { resolve, reject } = waiting.get(id) ?? {};
    waiting.delete(id);
    if (error !== undefined) reject?.(new Error(error.message));
    else resolve?.(result);
  });
  return {
    endpoint: `http://127.0.0.1:${port}`,
    events,
    kill,
    ended,
    send: (method, parameters = {}, sessionId) =>
      new Promise((resolve, reject) => {
        lastId += 1;
        waiting.set(lastId, { resolve, reject });
        socket.send(JSON.stringify({ id: lastId, method, params: parameters, sessionId }));
      }),
  };
};
