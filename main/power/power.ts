/** Displays on in opening hours and off outside them, for whole boxes. */
import type { Logger } from 'pino';
import { createQueue, type Hours } from '../service-host.ts';
import { type Plan, plan } from './hours.ts';
import type { Panel } from './panels.ts';

interface Dependencies {
  log: Logger;
  /** The opening hours of what the box shows now; empty: nothing yet, so that it stays on. */
  hours(): readonly Hours[];
  /** The ways to switch the displays, the best first. */
  panels: readonly Panel[];
  /**
   * Black in front of everything, or not: the last resort, and what is seen while a display goes off. Told at every look
   * while it is closed, since displays come.
   */
  cover(on: boolean): void;
  /** Whether the system may let the displays sleep by itself. */
  stayAwake(awake: boolean): void;
  /** The displays rest: their pages need not paint. */
  rest(resting: boolean): void;
  /** Milliseconds since the epoch. */
  now(): number;
  /** Milliseconds by a clock that nobody sets. */
  steady(): number;
}

export interface Power {
  start(): void;
  /** One look at the clock; what `start` does every few seconds. */
  look(): Promise<void>;
  /** What is planned, and what switches the displays. */
  status(): Plan & { by: Panel['name'] | 'none' | 'blackout' };
  /** Leaves the displays as they are: an update at night must not light up the street. */
  close(): void;
}

const LOOK_MS = 5_000;
/** A television takes its time to show a picture. */
export const LEAD_MS = 60_000;
/** A display that could not be switched is tried again after this. */
const RETRY_MS = 60_000;

interface PowerOptions {
  /** IANA name of the zone that the hours are in. */
  timeZone: string;
  /** Ms since the epoch; before that no clock is right, and a wrong one must not close a shop. */
  builtAt: number;
}

export const createPower = (deps: Dependencies, { timeZone, builtAt }: PowerOptions): Power => {
  const { log, panels, now, steady } = deps;
  let planned: Plan = { on: true, changesAt: null };
  /** What the displays were last told; null: nothing yet. */
  let told: boolean | null = null;
  let by: ReturnType<Power['status']>['by'] = 'none';
  let retryAt: number | null = null;
  let timer: NodeJS.Timeout | undefined;
  const inTurn = createQueue();

  /** Switches by the first way that there is; answers its name. */
  const switchPanels = async (on: boolean): Promise<Panel['name'] | null> => {
    for (const panel of panels) {
      try {
        if (!(await panel.isThere())) continue;
        await panel.set(on);
        return panel.name;
      } catch (error) {
        log.debug({ err: error, by: panel.name }, 'the displays can not be switched this way');
      }
    }
    return null;
  };

  const tell = async (on: boolean): Promise<void> => {
    const isChange = told !== on;
    told = on;
    if (isChange) {
      deps.stayAwake(on);
      deps.rest(!on);
      // Black before the display goes; on the way back, it is awake before there is a picture.
      if (!on) deps.cover(true);
    }
    const way = await switchPanels(on);
    by = way ?? 'blackout';
    // Where there is no way, one may come: a television that is plugged in, a session that is up later.
    retryAt = way === null ? steady() + RETRY_MS : null;
    if (on) deps.cover(false);
    if (isChange) log.info({ on, by }, on ? 'the displays are on' : 'the displays are off');
  };

  const look = async (): Promise<void> => {
    const hours = now() < builtAt ? [] : deps.hours();
    planned = plan(hours, now(), timeZone, LEAD_MS);
    const isDue = retryAt !== null && steady() >= retryAt;
    // The displays of a box without hours are never touched.
    if (told === null && hours.every((each) => each === null)) return;
    if (planned.on !== told || isDue) await tell(planned.on);
    else if (!planned.on) deps.cover(true);
  };

  const lookInTurn = (): Promise<void> =>
    inTurn(look).catch((error: unknown) => log.error({ err: error }, 'the displays could not be seen to'));

  return {
    start: () => {
      deps.stayAwake(true);
      // At once: a box that is started at night must not light up the street.
      void lookInTurn();
      timer = setInterval(() => void lookInTurn(), LOOK_MS);
    },
    look: lookInTurn,
    status: () => ({ ...planned, by }),
    close: () => clearInterval(timer),
  };
};
