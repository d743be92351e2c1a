/** `app`: starts, quits and exits as Electron's (shell/browser/browser.cc). */
import { EventEmitter } from 'node:events';
import { mkdirSync, mkdtempSync, readFileSync, readlinkSync, rmSync, symlinkSync } from 'node:fs';
import { homedir, tmpdir } from 'node:os';
import { join } from 'node:path';
import { type Chromium, launchChromium } from './chromium.ts';
import { WebContents } from './contents.ts';
import { createEvent } from './emitter.ts';
import { memoryOf } from './process.ts';
import { sessionOf } from './session.ts';
import { BaseWindow } from './view.ts';

/** The folder of the app: the checkout, or the contents of a package. */
const root = process.env['DOUBLE_APP'] ?? join(import.meta.dirname, '..', '..', '..');

/** What was done to the app that cannot be seen from outside. */
export const done = {
  sandboxed: false,
  hardwareAcceleration: true,
  blockers: new Set<number>(),
  switches: {} as Record<string, string>,
};

const switchValue = (name: string): string | undefined =>
  process.argv.find((argument) => argument.startsWith(`--${name}=`))?.slice(name.length + 3);

/** Whether the holder of a lock runs: after a power cut its number may be another's, or this one's own. */
const isRunning = (pid: number): boolean => {
  try {
    return pid !== process.pid && readlinkSync(`/proc/${pid}/exe`) === readlinkSync('/proc/self/exe');
  } catch {
    return false;
  }
};

const home = homedir();
const appData = join(home, '.config');
const userData = switchValue('user-data-dir') ?? join(tmpdir(), 'signage-double');
const paths: Readonly<Record<string, string>> = {
  home,
  appData,
  userData,
  sessionData: userData,
  temp: tmpdir(),
  exe: process.execPath,
  module: process.execPath,
  logs: join(userData, 'logs'),
  crashDumps: join(userData, 'Crashpad'),
  ...Object.fromEntries(
    ['desktop', 'documents', 'downloads', 'music', 'pictures', 'videos'].map((name) => [name, join(home, name)]),
  ),
};
mkdirSync(userData, { recursive: true });
const lockFile = join(userData, 'SingletonLock');
let holdsLock = false;

/**
 * Electron's handlers come after the main script, in the place of its own, and each is for one signal: a second one has its
 * usual effect (electron_browser_main_parts_posix.cc). A handler that is added later takes their place.
 */
const handleSignals = (quit: () => void): void => {
  for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) {
    process.removeAllListeners(signal);
    const once = (): void => {
      process.off(signal, once);
      quit();
    };
    process.on(signal, once);
    process.on('newListener', function replace(name: string): void {
      if (name !== signal) return;
      process.off('newListener', replace);
      // Later: Node listens to a signal from its first handler to its last.
      process.nextTick(() => process.off(signal, once));
    });
  }
};

let provide: (chromium: Promise<Chromium>) => void = () => {};
export const chromium = new Promise<Chromium>((resolve) => {
  provide = resolve;
});

class App extends EventEmitter {
  isPackaged = process.env['DOUBLE_PACKAGED'] === '1';
  #whenReady: Promise<void> | undefined;
  #isReady = false;
  readonly #relaunches: { args: string[]; env: NodeJS.ProcessEnv }[] = [];
  #isQuitting = false;
  #isExiting = false;
  #isShutDown = false;
  #exitCode = 0;

  readonly commandLine = {
    appendSwitch: (name: string, value: string): void => {
      if (this.#isReady) throw new Error(`the switch --${name} comes too late`);
      done.switches[name] = value;
    },
    hasSwitch: (name: string): boolean =>
      process.argv.some((argument) => argument === `--${name}` || argument.startsWith(`--${name}=`)),
  };

  requestSingleInstanceLock(): boolean {
    // The folder of its socket; a full disk is told as another instance is (process_singleton_posix.cc, Create).
    try {
      rmSync(mkdtempSync(join(tmpdir(), 'scoped_dir')), { recursive: true });
    } catch {
      return false;
    }
    // As Chromium's: a link, which a full disk has room for, with the process in the place of a path.
    try {
      symlinkSync(String(process.pid), lockFile);
    } catch {
      const holder = Number(readlinkSync(lockFile));
      if (isRunning(holder)) {
        process.kill(holder, 'SIGUSR2');
        return false;
      }
      rmSync(lockFile);
      symlinkSync(String(process.pid), lockFile);
    }
    holdsLock = true;
    process.on('SIGUSR2', () => this.emit('second-instance', createEvent(), [], ''));
    return true;
  }

  isReady(): boolean {
    return this.#isReady;
  }
  whenReady(): Promise<void> {
    this.#whenReady ??= this.#start();
    return this.#whenReady;
  }

  async #start(): Promise<void> {
    const launched = launchChromium();
    provide(launched);
    setImmediate(() => handleSignals(() => this.quit()));
    const { send, endpoint } = await launched;
    await send('Target.setDiscoverTargets', { discover: true });
    const { targetInfos } = await send('Target.getTargets');
    const firstTab = (targetInfos as { type: string; targetId: string }[]).find(
      ({ type }) => type === 'page',
    )?.targetId;
    process.send?.({ endpoint });
    this.#isReady = true;
    sessionOf('');
    // Chromium's first tab is no view of the app; without any other page Chromium would end with it.
    this.once('web-contents-created', (_event, contents: WebContents) => {
      void contents.attached.then(() => send('Target.closeTarget', { targetId: firstTab }));
    });
    this.emit('ready', createEvent(), {});
  }

  quit(): void {
    if (this.#isQuitting) return;
    const event = createEvent();
    this.emit('before-quit', event);
    this.#isQuitting = !event.defaultPrevented;
    if (!this.#isQuitting) return;
    const windows = BaseWindow.getAllWindows();
    if (windows.length === 0) this.#notifyAndShutDown();
    else for (const window of windows) if (!window.isDestroyed()) window.close();
  }

  /** Before the app is ready it ends inside this call, afterwards once the handlers of the current event have returned. */
  exit(code = 0): void {
    this.#exitCode = code;
    if (!this.#isReady) return this.#end();
    this.#isQuitting = true;
    this.#isExiting = true;
    const windows = BaseWindow.getAllWindows();
    if (windows.length === 0) this.#shutDown();
    else for (const window of windows) if (!window.isDestroyed()) window.destroy();
  }

  onAllWindowsClosed(): void {
    if (this.#isExiting) this.#shutDown();
    else if (this.#isQuitting) this.#notifyAndShutDown();
    else if (!this.emit('window-all-closed')) this.quit();
  }
  onCloseCancelled(): void {
    this.#isQuitting = false;
  }

  #notifyAndShutDown(): void {
    if (this.#isShutDown) return;
    const event = createEvent();
    this.emit('will-quit', event);
    if (event.defaultPrevented) this.#isQuitting = false;
    else this.#shutDown();
  }
  #shutDown(): void {
    if (this.#isShutDown) return;
    this.#isShutDown = true;
    this.emit('quit', createEvent(), this.#exitCode);
    setImmediate(() => this.#end());
  }
  #end(): void {
    if (holdsLock) rmSync(lockFile, { force: true });
    for (const relaunch of this.#relaunches) process.send?.({ relaunch });
    process.exit(this.#exitCode);
  }

  /** Each call starts one more, with the environment of now, which has no output (relauncher.cc, relauncher_linux.cc). */
  relaunch({ args = process.argv.slice(1) }: { args?: string[] } = {}): void {
    this.#relaunches.push({ args, env: { ...process.env } });
  }

  getPath(name: string): string {
    const path = paths[name];
    if (path === undefined) throw new Error(`Failed to get '${name}' path`);
    return path;
  }
  getAppPath(): string {
    return root;
  }
  getVersion(): string {
    return (JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')) as { version: string }).version;
  }
  getAppMetrics() {
    const metric = (pid: number, type: string) => ({
      pid,
      type,
      creationTime: Date.now(),
      cpu: { percentCPUUsage: 0, idleWakeupsPerSecond: 0 },
      memory: memoryOf(pid),
    });
    // Pages of one site may share a process.
    const pages = new Set(WebContents.getAllWebContents().map((contents) => contents.getOSProcessId()));
    pages.delete(0);
    return [metric(process.pid, 'Browser'), ...[...pages].map((pid) => metric(pid, 'Tab'))];
  }
  /** As `chrome://gpu` names and judges them (content/browser/gpu/compositor_util.cc). */
  getGPUFeatureStatus(): Record<string, string> {
    const state = done.hardwareAcceleration === false ? 'disabled_software' : 'enabled';
    return { gpu_compositing: state, rasterization: state, video_decode: state, webgl: state };
  }
  enableSandbox(): void {
    this.#checkNotReady('app.enableSandbox() can only be called');
    done.sandboxed = true;
  }
  disableHardwareAcceleration(): void {
    this.#checkNotReady('app.disableHardwareAcceleration() can only be called');
    done.hardwareAcceleration = false;
  }
  #checkNotReady(sentence: string): void {
    if (this.#isReady) throw new Error(`${sentence} before app is ready`);
  }
  getLoginItemSettings(): { openAtLogin: boolean } {
    return { openAtLogin: false };
  }
  setLoginItemSettings(): void {}
}

export const app = new App();

// Electron's own folder, unless the app is packaged.
Object.assign(process, {
  resourcesPath: app.isPackaged ? join(root, 'resources') : join(root, 'node_modules', 'electron', 'dist', 'resources'),
});
