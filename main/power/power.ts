/** Switches the displays of a box on during opening hours and off outside them. */
import type { Logger } from 'pino';
import { createQueue, type Hours } from '../../service/public.ts';
import { type Plan, plan } from './hours.ts';
import type { Panel } from './panels.ts';

interface PowerPorts {
  log: Logger;
  /** The opening hours of the screens that the box shows; empty: none yet, so that the displays stay on. */
  hours(): readonly Hours[];
  /** The ways to switch the displays, the best one first. */
  panels: readonly Panel[];
  /**
   * Covers the displays with black, or uncovers them: seen while a display switches, and where it cannot be switched.
   * Repeated at each poll while they are off, for displays that were connected meanwhile.
   */
  blackout(on: boolean): void;
  /** Keeps the system from turning the displays off by itself. */
  keepAwake(on: boolean): void;
  /** Suspends the recovery of pages, because pages of displays that are off need not paint. */
  suspendRecovery(isSuspended: boolean): void;
  /** Ms since the epoch. */
  now(): number;
  /** Ms of a monotonic clock. */
  monotonicNow(): number;
}

export interface Power {
  start(): void;
  /** Compares the plan with the clock; `start` repeats this every few seconds, and as soon as the hours change. */
  poll(): Promise<void>;
  /** The plan, and what switches the displays. */
  status(): Plan & { by: Panel['name'] | 'none' | 'blackout' };
  /** Leaves the displays as they are, so that a restart at night does not switch them on. */
  close(): void;
}

const POLL_MS = 5_000;
/** How often the hours are compared: in an emergency, which suspends them, displays must be on within a second. */
const WATCH_MS = 250;
/** How long a television takes to show a picture. */
export const LEAD_MS = 60_000;
/** When to try again to switch displays that could not be switched. */
const RETRY_MS = 60_000;

interface PowerOptions {
  /** The IANA name of the time zone of the opening hours. */
  timeZone: string;
  /** When the program was built, in ms since the epoch; an earlier clock is wrong and must not close a shop. */
  builtAt: number;
}

export const createPower = (ports: PowerPorts, { timeZone, builtAt }: PowerOptions): Power => {
  const { log, panels, now, monotonicNow } = ports;
  let planned: Plan = { on: true, changesAt: null };
  /** The last order to the displays; null: none yet. */
  let ordered: boolean | null = null;
  let by: ReturnType<Power['status']>['by'] = 'none';
  let retryAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  /** As of the last poll. */
  let polled: { hours: readonly Hours[]; at: number } = { hours: [], at: Number.NEGATIVE_INFINITY };
  const enqueue = createQueue();

  /** Switches by the first way that is available; returns its name. */
  const switchPanels = async (on: boolean): Promise<Panel['name'] | null> => {
    for (const panel of panels) {
      try {
        if (!(await panel.isAvailable())) continue;
        await panel.setPower(on);
        return panel.name;
      } catch (error) {
        log.debug({ err: error, by: panel.name }, 'the displays cannot be switched this way');
      }
    }
    return null;
  };

  const order = async (on: boolean): Promise<void> => {
    const isChange = ordered !== on;
    ordered = on;
    if (isChange) {
      ports.keepAwake(on);
      ports.suspendRecovery(!on);
      // Black before a display switches off, and until it has switched on.
      if (!on) ports.blackout(true);
    }
    const way = await switchPanels(on);
    by = way ?? 'blackout';
    // A television may be connected later, or the session may not be up yet.
    retryAt = way === null ? monotonicNow() + RETRY_MS : null;
    if (on) ports.blackout(false);
    if (isChange) log.info({ on, by }, on ? 'the displays are on' : 'the displays are off');
  };

  const poll = async (): Promise<void> => {
    polled = { hours: ports.hours(), at: monotonicNow() };
    const hours = now() < builtAt ? [] : polled.hours;
    planned = plan(hours, now(), timeZone, LEAD_MS);
    const isRetryDue = retryAt !== null && monotonicNow() >= retryAt;
    // The displays of a box without opening hours are never switched.
    if (ordered === null && hours.every((each) => each === null)) return;
    if (planned.on !== ordered || isRetryDue) await order(planned.on);
    else if (!planned.on) ports.blackout(true);
  };

  /** Polls that have not ended: programs that switch displays take their time. */
  let pending = 0;

  const pollSafely = async (): Promise<void> => {
    pending += 1;
    await enqueue(poll).catch((error: unknown) => log.error({ err: error }, 'the displays could not be switched'));
    pending -= 1;
  };

  /** Planning is far more work than comparing. */
  const isDue = (): boolean => {
    const hours = ports.hours();
    if (hours.length !== polled.hours.length || hours.some((each, index) => each !== polled.hours[index])) return true;
    return monotonicNow() - polled.at >= POLL_MS;
  };

  return {
    start: () => {
      ports.keepAwake(true);
      // Immediately: a box that starts at night must not light up the street.
      void pollSafely();
      timer = setInterval(() => {
        if (pending === 0 && isDue()) void pollSafely();
      }, WATCH_MS);
    },
    poll: pollSafely,
    status: () => ({ ...planned, by }),
    close: () => clearInterval(timer),
  };
};
