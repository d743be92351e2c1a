/**
 * A double of the `electron` module, for a machine without Electron's runtime: an app of plain Node whose windows are
 * pages of a real Chromium. It has what the kiosk uses, no more. A test that started the process may send
 * `{ id, source, argument }`, and gets what the function answers that the source is, called with this module.
 */
import { EventEmitter } from 'node:events';
import { mkdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chromium, launchChromium } from './chromium.ts';
import type { Session } from './session.ts';
import { BaseWindow, Ipc, sessionOf, setWorld, View, WebContents, WebContentsView } from './window.ts';

/** The folder of the app: the checkout, or the contents of a package. */
const root = process.env['DOUBLE_APP'] ?? join(import.meta.dirname, '..', '..', '..');

/** What was done to the app that can't be seen from outside. */
export const done = {
  sandboxed: false,
  hardwareAcceleration: true,
  blockers: new Set<number>(),
  switches: {} as Record<string, string>,
};

// As Electron has it in a packaged app.
Object.assign(process, { resourcesPath: join(root, 'resources') });

const switchValue = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);

const userData = switchValue('user-data-dir') ?? join(tmpdir(), 'signage-double');
mkdirSync(userData, { recursive: true });
const lockFile = join(userData, 'SingletonLock');
let holdsLock = false;

let starting: (chromium: Promise<Chromium>) => void = () => {};
const chromium = new Promise<Chromium>((resolve) => {
  starting = resolve;
});

const isAlive = (pid: number): boolean => {
  try {
    process.kill(pid, 0);
    return true;
  } catch {
    return false;
  }
};

class App extends EventEmitter {
  isPackaged = process.env['DOUBLE_PACKAGED'] === '1';
  #ready: Promise<void> | undefined;
  #relaunch: string[] | null = null;
  #isQuitting = false;

  readonly commandLine = {
    appendSwitch: (name: string, value: string): void => {
      if (this.isReady()) throw new Error(`the switch --${name} comes too late`);
      done.switches[name] = value;
    },
    hasSwitch: (name: string): boolean =>
      process.argv.some((argument) => argument === `--${name}` || argument.startsWith(`--${name}=`)),
  };

  requestSingleInstanceLock(): boolean {
    try {
      writeFileSync(lockFile, String(process.pid), { flag: 'wx' });
    } catch {
      const holder = Number(readFileSync(lockFile, 'utf8'));
      if (isAlive(holder)) {
        process.kill(holder, 'SIGUSR2');
        return false;
      }
      writeFileSync(lockFile, String(process.pid));
    }
    holdsLock = true;
    process.on('SIGUSR2', () => this.emit('second-instance', {}, [], ''));
    return true;
  }

  #isReady = false;

  isReady(): boolean {
    return this.#isReady;
  }
  whenReady(): Promise<void> {
    this.#ready ??= (async () => {
      const launched = launchChromium();
      starting(launched);
      const { send, endpoint } = await launched;
      await send('Target.setDiscoverTargets', { discover: true });
      const { targetInfos } = await send('Target.getTargets');
      const firstTab = (targetInfos as { type: string; targetId: string }[]).find(
        ({ type }) => type === 'page',
      )?.targetId;
      process.send?.({ endpoint });
      sessionOf('', (session) => this.emit('session-created', session));
      // Its own first tab is no window of the app; without any other page it would end with it.
      this.once('web-contents-created', (_event, contents) => {
        void contents.attached.then(() => send('Target.closeTarget', { targetId: firstTab }));
      });
      this.#isReady = true;
      this.emit('ready');
    })();
    return this.#ready;
  }

  quit(): void {
    if (this.#isQuitting) return;
    this.#isQuitting = true;
    let prevented = false;
    const event = {
      preventDefault: (): void => {
        prevented = true;
      },
    };
    this.emit('before-quit', event);
    if (!prevented) for (const window of BaseWindow.getAllWindows()) window.close();
    if (!prevented && BaseWindow.getAllWindows().length === 0) {
      this.emit('will-quit', event);
      this.emit('quit', event, 0);
      this.exit(0);
    }
    this.#isQuitting = false;
  }
  exit(code = 0): void {
    if (holdsLock) rmSync(lockFile, { force: true });
    if (this.#relaunch !== null) process.send?.({ relaunch: this.#relaunch });
    process.exit(code);
  }
  relaunch({ args = process.argv.slice(1) }: { args?: string[] } = {}): void {
    this.#relaunch = args;
  }

  getPath(): string {
    return userData;
  }
  getAppPath(): string {
    return root;
  }
  getVersion(): string {
    return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
  }
  getAppMetrics() {
    return WebContents.getAllWebContents().map((contents) => ({
      pid: contents.getOSProcessId(),
      type: 'Tab',
      memory: { workingSetSize: 150 * 1024, peakWorkingSetSize: 150 * 1024 },
    }));
  }
  enableSandbox(): void {
    done.sandboxed = true;
  }
  disableHardwareAcceleration(): void {
    done.hardwareAcceleration = false;
  }
  setLoginItemSettings(): void {}
}

export const app = new App();
export const ipcMain = new Ipc();
setWorld({ chromium, app, ipcMain });

interface Display {
  id: number;
  label: string;
  bounds: { x: number; y: number; width: number; height: number };
}

class Screen extends EventEmitter {
  #displays = JSON.parse(
    process.env['DOUBLE_DISPLAYS'] ?? '[{"id":1,"label":"One","bounds":{"x":0,"y":0,"width":960,"height":540}}]',
  ) as Display[];
  getAllDisplays(): Display[] {
    return this.#displays;
  }
  getPrimaryDisplay(): Display {
    const [first] = this.#displays;
    if (first === undefined) throw new Error('there is no display');
    return first;
  }
  /** Plugs displays in and out. */
  become(displays: Display[]): void {
    this.#displays = displays;
    this.emit('display-added', {}, displays[0]);
  }
}

export const screen = new Screen();
export const session = {
  fromPartition: (partition: string): Session =>
    sessionOf(partition, (created) => app.emit('session-created', created)),
  get defaultSession(): Session {
    return sessionOf('', (created) => app.emit('session-created', created));
  },
};
export const protocol = {
  registerSchemesAsPrivileged: (): void => {
    if (app.isReady()) throw new Error('protocol.registerSchemesAsPrivileged should be called before app is ready');
  },
};
export const Menu = { setApplicationMenu: (): void => {} };
export const powerSaveBlocker = {
  start: (): number => {
    const id = done.blockers.size + 1;
    done.blockers.add(id);
    return id;
  },
  stop: (id: number): void => void done.blockers.delete(id),
};
export const webContents = { getAllWebContents: WebContents.getAllWebContents };
export { BaseWindow, View, WebContentsView };

process.on('message', async ({ id, source, argument }: { id: number; source: string; argument: unknown }) => {
  try {
    const electron = { app, BaseWindow, webContents, ipcMain, screen, session, powerSaveBlocker, done };
    const ask = new Function(`return (${source})`)() as (electron: object, argument: unknown) => unknown;
    process.send?.({ id, result: await ask(electron, argument) });
  } catch (error) {
    process.send?.({ id, error: String(error) });
  }
});
