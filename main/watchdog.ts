/**
 * Notifies systemd that the kiosk is up and responsive; see sd_notify(3). By `systemd-notify`, because Node has no Unix
 * datagram sockets. On a box from an image it also touches a file while something is painted, without which the hardware's
 * watchdog is not fed.
 */
import { execFile } from 'node:child_process';
import { writeFile } from 'node:fs/promises';
import type { Logger } from 'pino';

interface WatchdogOptions {
  /** Whether systemd expects notifications (`NOTIFY_SOCKET`). */
  isWatched: boolean;
  /** The watchdog timeout in ms (`WATCHDOG_USEC`); null: no watchdog. */
  intervalMs: number | null;
  /** The path of the file; null: nobody looks at it. */
  painted: string | null;
}

const PAINTED_MS = 15_000;

/** The recommendation of sd_watchdog_enabled(3). */
const SHARE = 1 / 2;

/**
 * @param log receives one warning if systemd cannot be notified
 * @param isPainting whether a page paints, or there is no display that one could paint on
 */
export const createWatchdog = (
  { log, isPainting }: { log: Pick<Logger, 'warn'>; isPainting(): boolean },
  options: WatchdogOptions,
) => {
  let timer: NodeJS.Timeout | undefined;
  let touching: NodeJS.Timeout | undefined;
  let hasWarned = false;

  const notify = (...args: string[]): void => {
    if (!options.isWatched) return;
    execFile('systemd-notify', args, { timeout: 10_000 }, (error) => {
      if (error === null || hasWarned) return;
      hasWarned = true;
      log.warn({ err: error }, 'systemd cannot be notified and may restart the kiosk');
    });
  };

  return {
    /** Reports that the kiosk is ready. From now on systemd detects a hanging main process. */
    ready: () => {
      notify('--ready');
      if (options.intervalMs !== null) timer = setInterval(() => notify('WATCHDOG=1'), options.intervalMs * SHARE);
      const { painted } = options;
      if (painted === null) return;
      touching = setInterval(() => {
        if (isPainting()) writeFile(painted, '').catch(() => {});
      }, PAINTED_MS);
    },
    /** Reports that the kiosk is stopping. */
    close: () => {
      clearInterval(timer);
      clearInterval(touching);
      notify('STOPPING=1');
    },
  };
};
