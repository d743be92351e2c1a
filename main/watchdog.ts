/**
 * Tells systemd that the kiosk is up and not stuck, as sd_notify(3) has it. By systemd's own program, because Node has
 * no datagram sockets of the Unix kind.
 */
import { execFile } from 'node:child_process';
import type { Logger } from 'pino';

interface WatchdogOptions {
  /** Whether systemd waits to be told anything (`NOTIFY_SOCKET`). */
  isWatched: boolean;
  /** Within which it must hear of the kiosk again and again, ms (`WATCHDOG_USEC`); null: it does not wait. */
  intervalMs: number | null;
}

export interface Watchdog {
  /** The kiosk is up. From now on it is missed when its main process hangs. */
  ready(): void;
  /** What it does, in a sentence, for `systemctl status`. */
  tell(status: string): void;
  /** It is about to end. */
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
      log.warn({ err: error }, 'systemd can not be told how the kiosk is, and may start it anew');
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
