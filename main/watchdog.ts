/**
 * Notifies systemd that the kiosk is up and responsive; see sd_notify(3). By `systemd-notify`, because Node has no Unix
 * datagram sockets.
 */
import { execFile } from 'node:child_process';
import type { Logger } from 'pino';

interface WatchdogOptions {
  /** Whether systemd expects notifications (`NOTIFY_SOCKET`). */
  isWatched: boolean;
  /** The watchdog timeout in ms (`WATCHDOG_USEC`); null: no watchdog. */
  intervalMs: number | null;
}

/** The recommendation of sd_watchdog_enabled(3). */
const SHARE = 1 / 2;

/** @param log receives one warning if systemd cannot be notified */
export const createWatchdog = ({ log }: { log: Pick<Logger, 'warn'> }, options: WatchdogOptions) => {
  let timer: NodeJS.Timeout | undefined;
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
    },
    /** Reports that the kiosk is stopping. */
    close: () => {
      clearInterval(timer);
      notify('STOPPING=1');
    },
  };
};
