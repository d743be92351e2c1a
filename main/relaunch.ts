/** Restarts the app. */
import { spawn } from 'node:child_process';
import type { Logger } from 'pino';

interface Dependencies {
  /** Electron's. */
  app: { relaunch(): void; quit(): void };
  log: Pick<Logger, 'warn'>;
  /** Runs a function with the secrets in the environment, from which this process removed them. */
  lendSecrets(act: () => void): void;
  /** Whether the app is about to end for good. */
  isStopping(): boolean;
}

interface RelaunchOptions {
  /** The AppImage that runs; null: it is none. */
  appImage: string | null;
}

/**
 * Waits for a process to end, and becomes a program. The descriptors that it closes are those by which an AppImage's
 * runtime knows that its mount is in use.
 */
const successor =
  'exec 3<&- 4<&- 5<&- 6<&- 7<&- 8<&- 9<&-; while kill -0 "$0" 2>/dev/null; do sleep 0.1; done; exec "$@"';

const startAfterThis = (program: string, args: readonly string[]): void =>
  spawn('/bin/sh', ['-c', successor, String(process.pid), program, ...args], {
    detached: true,
    stdio: ['ignore', 'inherit', 'inherit'],
  }).unref();

/** @returns ends the app and starts it again, once; told why */
export const createRelaunch = (
  { app, log, lendSecrets, isStopping }: Dependencies,
  { appImage }: RelaunchOptions,
): ((reason: string) => void) => {
  let isUnderWay = false;
  return (reason) => {
    if (isUnderWay || isStopping()) return;
    isUnderWay = true;
    log.warn({ reason }, 'the kiosk restarts');
    lendSecrets(() => {
      // Electron's own way runs from inside the AppImage's mount, which goes when the app does.
      if (appImage === null) app.relaunch();
      else startAfterThis(appImage, process.argv.slice(1));
    });
    app.quit();
  };
};
