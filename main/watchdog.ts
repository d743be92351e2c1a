/**
 * Tells systemd that the kiosk is up and not stuck, as sd_notify(3) has it. By systemd's own program, because Node has
 * no datagram sockets of the Unix kind.
 */
import { execFile } from 'node:child_process';
import type { Logger } from 'pino';

interface WatchdogOptions {
  /** Whether systemd expects notifications (`NOTIFY_SOCKET`). */
  isWatched: boolean;
  /** The watchdog timeout in ms (`WATCHDOG_USEC`); null: no watchdog. */
  intervalMs: number | null;
}

export interface Watchdog {
  /** Reports that the kiosk is ready. From now on systemd detects a hanging main process. */
  ready(): void;
  /** Sets the status line of `systemctl status`. */
  tell(status: string): void;
  /** Reports that the kiosk is stopping. */
  close(): void;
}

/** As sd_watchdog_enabled(3) advises. */
const SHARE = 1 / 2;

/** @param log is told, once, where systemd can't be told */
export const createWatchdog = ({ log }: { log: Pick<Logger, 'warn'> }, options: WatchdogOptions): Watchdog => {
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
    ready: () => {
      notify('--ready');
      if (options.intervalMs !== null) timer = setInterval(() => notify('WATCHDOG=1'), options.intervalMs * SHARE);
    },
    tell: (status) => notify(`--status=${status}`),
    close: () => {
      clearInterval(timer);
      notify('STOPPING=1');
    },
  };
};
