/** Ends and restarts the app. */
import { spawn } from 'node:child_process';
import type { App } from 'electron';
import type { Logger } from 'pino';
import { type AutostartApp, startWithLogin } from './appliance.ts';
import type { Kiosk } from './kiosk.ts';
import type { Paths } from './paths.ts';
import type { Placement } from './windows/placement.ts';

interface Dependencies {
  app: { relaunch(): void; quit(): void };
  log: Pick<Logger, 'warn'>;
  /** Runs a function with the secrets in the environment, from which this process removed them. */
  lendSecrets(act: () => void): void;
  /** Whether the app is quitting. */
  isStopping(): boolean;
}

interface RelaunchOptions {
  /** The path of the AppImage that contains this program; null: none. */
  appImage: string | null;
  /** Whether systemd runs the app, and starts it again. */
  systemd: Pick<Paths['systemd'], 'isWatched'>;
  /** Whether the shell launcher of Windows does so. */
  isSupervised: boolean;
}

/**
 * A shell script that waits for a process to end, then runs a program. It closes the file descriptors by which the runtime
 * of an AppImage detects that its mount is in use.
 */
const successor =
  'exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; while kill -0 "$0" 2>/dev/null; do sleep 0.1; done; exec "$@"';

const startAfterThis = (program: string, args: readonly string[]): void =>
  spawn('/bin/sh', ['-c', successor, String(process.pid), program, ...args], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  }).unref();

/** @returns a function that ends the app and starts it again; only its first call has an effect */
export const createRelaunch = (
  { app, log, lendSecrets, isStopping }: Dependencies,
  { appImage, systemd, isSupervised }: RelaunchOptions,
): ((reason: string) => void) => {
  let isUnderWay = false;
  return (reason) => {
    if (isUnderWay || isStopping()) return;
    isUnderWay = true;
    log.warn({ reason }, 'the kiosk restarts');
    // A second one beside systemd's would start in a session that ends; beside the launcher's only one of them can run.
    if (systemd.isWatched || isSupervised) return app.quit();
    lendSecrets(() => {
      // Electron's own method would run from the mount of the AppImage, which is gone by then.
      if (appImage === null) app.relaunch();
      else startAfterThis(appImage, process.argv.slice(1));
    });
    app.quit();
  };
};

/** How soon after its start the app restarts itself at the earliest, so that one that fails at once does not keep the machine busy. */
const RESTART_MS = 10_000;

/** @returns a function that logs a fatal error and ends the app; its supervisor restarts it, and without one it restarts itself */
export const createFail =
  (
    {
      app,
      log,
      relaunch,
    }: { app: Pick<App, 'isPackaged' | 'exit'>; log: Pick<Logger, 'fatal'>; relaunch(reason: string): void },
    { systemd, isSupervised }: Omit<RelaunchOptions, 'appImage'>,
  ) =>
  (error: unknown): void => {
    log.fatal({ err: error }, 'the kiosk cannot continue');
    if (systemd.isWatched || isSupervised || !app.isPackaged) return app.exit(1);
    setTimeout(() => relaunch('it could not continue'), Math.max(0, RESTART_MS - performance.now()));
  };

/** How long a second instance stays that the shell launcher of Windows has started. */
const SECOND_MS = 30_000;

/** Ends an instance beside one that runs. */
export const endSecond = (
  app: AutostartApp & { quit(): void },
  { isSupervised }: Pick<Paths, 'isSupervised'>,
): void => {
  if (!isSupervised) return app.quit();
  // The login has started the first one; the launcher would start this one again at once, without end.
  startWithLogin(app, process.platform, true);
  setTimeout(app.quit, SECOND_MS);
};

interface Ports {
  app: App;
  kiosk: Pick<Kiosk, 'isStopping' | 'stop'>;
  placement: Pick<Placement, 'close'>;
  log: Logger;
}

/** The deadline for closing everything on quit, in ms. */
const STOP_MS = 5_000;

/** Stops the kiosk in order before the app ends, also if the system asks it to end. */
export const stopBeforeQuit = ({ app, kiosk, placement, log }: Ports): void => {
  let isStopped = false;
  app.on('before-quit', (event) => {
    if (isStopped) return;
    event.preventDefault();
    if (kiosk.isStopping()) return;
    setTimeout(() => app.exit(1), STOP_MS).unref();
    placement.close();
    kiosk
      .stop()
      .catch((error: unknown) => log.error({ err: error }, 'the service did not stop cleanly'))
      .finally(() => {
        isStopped = true;
        app.quit();
      });
  });
  // Electron replaces handlers from before, and its own handle one signal: the second would kill the app while it stops.
  void app.whenReady().then(() => {
    for (const signal of ['SIGTERM', 'SIGINT', 'SIGHUP'] as const) process.on(signal, () => app.quit());
  });
};
