/**
 * The kiosk as an app of its own: under the mock of Electron, or, with SIGNAGE_TEST_ELECTRON, under the real runtime.
 * What needs the mock's own abilities says so.
 */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { type Browser, chromium, type Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { isSkipped } from './browser.ts';
import { starts } from './cost.ts';
import { type Ask, askOf } from './electron/ask.ts';
import { doubleArguments } from './electron/bundle.ts';
import { launchReal } from './electron/launch.ts';
import { temporaryFolder } from './service.ts';

const root = join(import.meta.dirname, '..', '..');

/** Whether the kiosk runs under Electron itself. */
const isReal = Boolean(process.env['SIGNAGE_TEST_ELECTRON']);

/** For what only the double can do: plugging displays, losing the GPU, showing how it was asked. */
export const itDouble = it.skipIf(isReal || isSkipped);

interface Setup {
  /** The folder with the built app; absent: the checkout. The double's alone. */
  app?: string;
  dataDir?: string;
  content?: unknown;
  /** What stands in config.json. */
  config?: unknown;
  env?: Record<string, string>;
  args?: string[];
  /** Displays, left to right, as `[width, height]`; the double's alone. */
  displays?: [width: number, height: number][];
}

export interface TestKiosk {
  dataDir: string;
  printed: { stdout: string; stderr: string };
  /** Its exit code, or the signal that ended it; of the newest process where it relaunched itself. */
  ended(): Promise<number | string>;
  /** How often it relaunched itself. */
  relaunches(): string[][];
  /** The service's address, once it is there; of the newest process. */
  url(): Promise<string>;
  /** The windows' pages. */
  pages(): Page[];
  /** Waits for a page whose address fits. */
  page(address: RegExp): Promise<Page>;
  /** Calls a function in the app's own process with the electron module. */
  evaluate: Ask;
  /** Presses the key combination of the maintenance page on the window that has the keyboard. */
  pressChord(): Promise<void>;
  signal(name: NodeJS.Signals): void;
  /** Ends it as the system does: by SIGTERM, or on Windows, which has no signals, from inside. */
  quit(): Promise<void>;
}

/** A machine on which a page may have 256 MiB, and is exchanged at once with 448 MiB; the double's alone. */
export const smallMachine = { DOUBLE_MEMORY: String(2 ** 30) };

/** Makes a page hold on to this many MiB more. */
export const leak = (page: Page, mebibytes: number): Promise<void> =>
  page.evaluate(
    (bytes) => {
      const { leaked = [] } = globalThis as { leaked?: Uint8Array[] };
      Object.assign(globalThis, { leaked: [...leaked, new Uint8Array(bytes).fill(1)] });
    },
    mebibytes * 2 ** 20,
  );

export const patience = { timeout: 45_000, interval: 100 };

export const displaysOf = (sizes: [number, number][]) =>
  sizes.map(([width, height], index) => ({
    id: 11 + index,
    label: `Display ${String.fromCharCode(65 + index)}`,
    bounds: { x: 4000 * index, y: 0, width, height },
  }));

const collect = (child: ChildProcess, printed: TestKiosk['printed']): void => {
  for (const stream of ['stdout', 'stderr'] as const) {
    child[stream]?.on('data', (chunk) => {
      printed[stream] += chunk;
    });
  }
};

const addressIn = async (printed: TestKiosk['printed']): Promise<string> => {
  const find = () => [...printed.stdout.matchAll(/listening on (http:\/\/\S+)\n/g)].at(-1)?.[1];
  await expect.poll(find, { ...patience, message: 'waiting for the service' }).toBeDefined();
  return find() ?? '';
};

const pageAt = async (pages: () => Page[], address: RegExp): Promise<Page> => {
  // The newest: one that has crashed stays for a moment.
  const find = () => pages().findLast((page) => address.test(page.url()));
  await expect.poll(() => find()?.url(), { ...patience, message: `waiting for ${address}` }).toBeDefined();
  return find() as Page;
};

type Process = Omit<TestKiosk, 'dataDir' | 'url' | 'page' | 'pressChord' | 'quit'>;

interface Relaunch {
  args: string[];
  env: NodeJS.ProcessEnv;
}

const startDouble = async (env: Record<string, string>, args: string[], app: string): Promise<Process> => {
  const printed = { stdout: '', stderr: '' };
  const relaunched: string[][] = [];
  let browser: Browser | undefined;
  let child: ChildProcess;
  const entry = join(app, 'dist', 'main', 'index.js');

  /** @param output of one that relaunched itself there is none */
  const start = (given: string[], settings: NodeJS.ProcessEnv, output: 'pipe' | 'ignore'): Promise<void> => {
    // A group of its own, so that its Chromium ends with it whatever happens.
    child = spawn(process.execPath, [...doubleArguments(), entry, ...given], {
      //
      env: settings,
      stdio: ['ignore', output, output, 'ipc'],
      detached: true,
    });
    collect(child, printed);
    const again: Relaunch[] = [];
    return new Promise((resolve) => {
      child.on('message', async ({ endpoint, relaunch }: { endpoint?: string; relaunch?: Relaunch }) => {
        if (relaunch !== undefined) again.push(relaunch);
        if (endpoint !== undefined) {
          // One that ends meanwhile has no pages to be looked at.
          browser = await chromium.connectOverCDP(endpoint).catch(() => undefined);
          resolve();
        }
      });
      child.on('exit', () => {
        resolve();
        for (const { args: words, env: later } of again) {
          relaunched.push(words.slice(1));
          void start(words.slice(1), later, 'ignore');
        }
      });
    });
  };
  onTestFinished(() => {
    try {
      process.kill(-(child.pid ?? Number.NaN), 'SIGKILL');
    } catch {
      // It has ended by itself.
    }
  });
  await start(args, env, 'pipe');

  return {
    printed,
    relaunches: () => relaunched,
    ended: async () => {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return child.exitCode ?? child.signalCode ?? '';
    },
    pages: () => browser?.contexts().flatMap((context) => context.pages()) ?? [],
    evaluate: (ask, argument) => askOf(child)(ask, argument),
    signal: (name) => void child.kill(name),
  };
};

const startReal = async (env: Record<string, string>, args: string[]): Promise<Process> => {
  const app = await launchReal([root, ...args], env);
  const child = app.process();
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { stdout: '', stderr: '' };
  collect(child, printed);
  return {
    printed,
    relaunches: () => [],
    ended: async () => {
      if (child.exitCode === null && child.signalCode === null) await once(child, 'exit');
      return child.exitCode ?? child.signalCode ?? '';
    },
    pages: () => app.windows(),
    evaluate: (ask, argument) => app.evaluate(ask, argument) as Promise<never>,
    signal: (name) => void child.kill(name),
  };
};

/** Starts the kiosk; it ends with the test. */
export const startKiosk = async ({
  app = root,
  dataDir = temporaryFolder(),
  content,
  config,
  env = {},
  args = [],
  displays = [[960, 540]],
}: Setup = {}): Promise<TestKiosk> => {
  starts.kiosks += 1;
  if (content !== undefined) writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
  if (config !== undefined) writeFileSync(join(dataDir, 'config.json'), JSON.stringify(config));
  const settings = {
    PATH: process.env['PATH'] ?? '',
    HOME: dataDir,
    SIGNAGE_HOST: '127.0.0.1',
    SIGNAGE_PORT: '0',
    SIGNAGE_HTTPS_PORT: '0',
    SIGNAGE_DISCOVERY: 'off',
    SIGNAGE_DATA_DIR: dataDir,
    // So that a run of the tests can treat covered views as unpainted.
    DOUBLE_COVERED: process.env['DOUBLE_COVERED'] ?? '',
    DOUBLE_APP: app,
    DOUBLE_DISPLAYS: JSON.stringify(displaysOf(displays)),
    ...env,
  };
  const given = [`--user-data-dir=${join(dataDir, 'profile')}`, ...args];
  const kiosk = await (isReal ? startReal(settings, given) : startDouble(settings, given, app));
  return {
    ...kiosk,
    dataDir,
    // One that relaunched itself prints nothing.
    url: async () =>
      kiosk.relaunches().length === 0
        ? addressIn(kiosk.printed)
        : new URL((await pageAt(kiosk.pages, /^http:/)).url()).origin,
    page: (address) => pageAt(kiosk.pages, address),
    pressChord: async () => {
      const press = () =>
        kiosk.evaluate(({ webContents }, isSure) => {
          const contents = webContents.getFocusedWebContents() ?? (isSure ? null : webContents.getAllWebContents()[0]);
          const modifiers = ['control', 'alt', 'shift'];
          for (const type of ['keyDown', 'keyUp']) {
            if (contents?.isDestroyed() === false) contents.sendInputEvent({ type, keyCode: 'M', modifiers });
          }
          return contents !== null;
        }, !isReal);
      // Keys that no page has the focus for are lost.
      await expect.poll(press, { ...patience, message: 'waiting for a page that has the keyboard' }).toBe(true);
    },
    quit: async () => {
      if (process.platform !== 'win32') kiosk.signal('SIGTERM');
      else await kiosk.evaluate(({ app }) => void setTimeout(() => app.quit(), 0));
    },
  };
};
