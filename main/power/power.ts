/** Switches each display of a box on during the opening hours of its screen and off outside them. */
import { setTimeout as pause } from 'node:timers/promises';
import type { PowerSaveBlocker } from 'electron';
import type { Logger } from 'pino';
import { openSpans } from '../../service/domain/opening-hours.ts';
import { createQueue, type Hours } from '../../service/public.ts';
import type { Display } from '../windows/displays.ts';
import type { DisplayPower, Panel, PowerState } from './panels.ts';

/** How far ahead the next change is computed. */
const HORIZON_DAYS = 15;

export interface Plan {
  /** Whether the displays should be on. */
  on: boolean;
  /** When `on` changes next; null: not within two weeks. */
  changesAt: number | null;
}

/**
 * A display is on while its screen is open, a box while any of its screens is.
 * @param leadMs how long before opening they are switched on, because displays take time to show a picture
 */
export const plan = (screens: readonly Hours[], now: number, timeZone: string, leadMs: number): Plan => {
  if (screens.length === 0 || screens.includes(null)) return { on: true, changesAt: null };
  const spans = screens
    .flatMap((hours) => openSpans(hours ?? [], now, timeZone, HORIZON_DAYS - 1))
    .map(({ start, end }) => ({ start: start - leadMs, end }))
    .filter(({ end }) => end > now)
    .toSorted((a, b) => a.start - b.start);
  const [first] = spans;
  if (first === undefined) return { on: false, changesAt: null };
  if (first.start > now) return { on: false, changesAt: first.start };
  let { end } = first;
  for (const span of spans) if (span.start <= end) end = Math.max(end, span.end);
  return { on: true, changesAt: end - now > (HORIZON_DAYS - 2) * 86_400_000 ? null : end };
};

/** @returns a function that prevents the system from turning the displays off, or permits it */
export const createKeepAwake = (blocker: Pick<PowerSaveBlocker, 'start' | 'stop'>): ((on: boolean) => void) => {
  let id: number | null = null;
  return (on) => {
    if (on === (id !== null)) return;
    if (id !== null) blocker.stop(id);
    id = on ? blocker.start('prevent-display-sleep') : null;
  };
};

export interface DisplayHours extends Pick<Display, 'id' | 'bounds'> {
  /** The opening hours of its screen. */
  hours: Hours;
  /** Whether an emergency is on, in which every display is. */
  isEmergency: boolean;
  /** Whether it was off when the app ended, and is no display now. */
  isGone?: boolean;
}

/** A manual override: a display that somebody switched on or off. */
export interface Override {
  on: boolean;
  /** What the opening hours said then; the order ends when they say something else. */
  planned: boolean;
  /** When they will, as they are now, in ms since the epoch; null: not within two weeks. */
  until: number | null;
}

/** The manual overrides, by the ID of the display. */
export interface Overrides {
  get(id: number): Override | undefined;
  set(id: number, override: Override): void;
  delete(id: number): void;
}

/** What the app knows of its displays from before it started. */
export interface Dark {
  /** What may have switched displays off. */
  by(): readonly Panel['name'][];
  /** @param ids the displays that are off */
  write(by: readonly Panel['name'][], ids: readonly number[]): void;
}

/** What became of a manual override. */
export interface Switched {
  /** What switched the displays; null: they cannot be switched. */
  by: Panel['name'] | null;
  /** What the displays told last, in the order of their ids; null: nothing. */
  states: readonly (PowerState | null)[];
}

interface PowerPorts {
  log: Logger;
  /** The displays of the box, or those that are gone; empty: none yet. */
  displays(): readonly DisplayHours[];
  /** The ways to switch the displays, the best one first. */
  panels: readonly Panel[];
  /**
   * Covers these displays with black, by ID, and uncovers all others: seen while a display switches, and where it cannot
   * be switched. Repeated at each poll, for displays that were connected meanwhile.
   */
  blackout(displays: ReadonlySet<number>): void;
  /** Prevents the system from turning the displays off. */
  keepAwake(on: boolean): void;
  /** Suspends the recovery of the pages of these displays, by ID, and resumes that of all others: off, they need not paint. */
  suspendRecovery(displays: ReadonlySet<number>): void;
  /** Keeps the manual overrides; absent: until the next start. */
  overrides?: Overrides;
  /** Keeps which displays are off; absent: until the next start. */
  dark?: Dark;
  /** Ms since the epoch. */
  now(): number;
  /** Ms of a monotonic clock. */
  monotonicNow(): number;
}

type Order = DisplayPower & Pick<DisplayHours, 'id' | 'isGone'>;

const offIn = (displays: readonly Order[]): Set<number> => new Set(displays.flatMap(({ id, on }) => (on ? [] : id)));

const POLL_MS = 5_000;
/** Between looks at what displays tell after they were switched by hand. */
const READ_MS = 250;
/** How often the hours are compared: in an emergency, which suspends them, displays must be on within a second. */
const WATCH_MS = 250;
/** How long a television takes to show a picture. */
export const LEAD_MS = 60_000;
/** When to try again to switch displays that could not be switched. */
const RETRY_MS = 60_000;

interface PowerOptions {
  /** The IANA name of the time zone of the opening hours. */
  timeZone(): string;
  /** When the program was built, in ms since the epoch; an earlier clock is wrong and must not close a shop. */
  builtAt: number;
}

export const createPower = (ports: PowerPorts, { timeZone, builtAt }: PowerOptions) => {
  const { log, panels, now, monotonicNow, overrides = new Map<number, Override>() } = ports;
  let planned: Plan = { on: true, changesAt: null };
  /** The last order to each display, by ID; null: none yet. */
  let ordered: ReadonlyMap<number, boolean> | null = null;
  let orderedAt = Number.NEGATIVE_INFINITY;
  let by: Panel['name'] | 'none' | 'blackout' = 'none';
  /** The ways that may have switched a display off: no other one switches it on again. */
  const dark = new Set(panels.filter(({ name }) => ports.dark?.by().includes(name)));
  /** Those that said nothing when a display was to be switched off: it may have been dark before this start. */
  const silent = new Set<Panel>();
  /** Whether one of them failed when displays were switched on, or no display is connected yet. */
  let isDarkStill = false;
  let timer: NodeJS.Timeout | undefined;
  /** As of the last poll. */
  let polled: { displays: readonly DisplayHours[]; at: number } = { displays: [], at: Number.NEGATIVE_INFINITY };
  const enqueue = createQueue();

  /** As the opening hours say. A clock that is not set must not close a shop. */
  const planOf = ({ hours }: Pick<DisplayHours, 'hours'>): Plan =>
    plan([now() >= builtAt ? hours : null], now(), timeZone(), LEAD_MS);
  const isOn = (display: DisplayHours): boolean => {
    const { on, changesAt } = planOf(display);
    const override = overrides.get(display.id);
    // An emergency suspends the order as it does the hours.
    if (override === undefined || display.isEmergency) return on;
    // A clock that is not set says nothing of the hours.
    if (now() < builtAt) return override.on;
    // While the app did not run they may have changed, and changed back.
    if (override.planned !== on || (override.until !== null && now() >= override.until)) {
      overrides.delete(display.id);
      return on;
    }
    // The hours may be edited before they change.
    if (override.until !== changesAt) overrides.set(display.id, { ...override, until: changesAt });
    return override.on;
  };

  /**
   * Uses the first available method; with several displays, each method that can address a single one. Switching on also
   * uses each method that switched off, even if it is not available: a television in standby does not always answer.
   * Returns the first one used.
   */
  const switchPanels = async (displays: readonly Order[]): Promise<Panel['name'] | null> => {
    const isAnyOn = displays.some(({ on }) => on);
    const isAllOn = displays.every(({ on }) => on);
    const isGone = displays.some((each) => each.isGone);
    let first: Panel['name'] | null = null;
    isDarkStill = false;
    for (const panel of panels) {
      const isDark = isAnyOn && dark.has(panel);
      if (!isDark && first !== null && (displays.length === 1 || !panel.isSelective)) continue;
      try {
        if (!isDark && !(await panel.isAvailable())) {
          if (!isAllOn) silent.add(panel);
          else if (silent.delete(panel)) await panel.setPower(displays);
          continue;
        }
        // One that fails half way has perhaps switched it off.
        if (!isAllOn) dark.add(panel);
        await panel.setPower(displays);
        if (isGone) isDarkStill ||= isDark;
        else if (isAllOn) dark.delete(panel);
        first ??= panel.name;
      } catch (error) {
        isDarkStill ||= isDark;
        log.debug({ err: error, by: panel.name }, 'the displays cannot be switched this way');
      }
    }
    return first;
  };

  const order = async (displays: readonly Order[]): Promise<void> => {
    const before = ordered;
    const isChange = displays.some(({ id, on }) => before?.get(id) !== on);
    const lit = displays.filter(({ id, on }) => on && before?.get(id) !== false);
    ordered = new Map(displays.map(({ id, on }) => [id, on]));
    orderedAt = monotonicNow();
    const off = offIn(displays);
    const on = off.size < displays.length;
    if (isChange) {
      ports.keepAwake(on);
      ports.suspendRecovery(off);
      // Black before a display switches off, and until it has switched on.
      ports.blackout(new Set(displays.flatMap((each) => (lit.includes(each) ? [] : each.id))));
    }
    by = (await switchPanels(displays)) ?? 'blackout';
    const ways = [...dark].map(({ name }) => name);
    // Unless all are on, or one is not connected yet: what is stored then still holds.
    if ((off.size > 0 && !displays.some(({ isGone }) => isGone)) || ways.length === 0)
      ports.dark?.write(ways, [...off]);
    ports.blackout(off);
    if (isChange) log.info({ on: displays.length - off.size, off: off.size, by }, 'the displays were switched');
  };

  /** Whether displays must be switched, or switched again. */
  const isOrderDue = (displays: readonly Order[]): boolean => {
    if (ordered === null) return true;
    const before = ordered;
    if (displays.some(({ id, on }) => before.has(id) && before.get(id) !== on)) return true;
    const isAllOn = ![...before.values()].includes(false);
    // A television may be connected later, or the session may not be up yet. One that loses its connection by being
    // switched off must not be switched again and again.
    const isMissing = by === 'blackout' || isDarkStill;
    const isLate = isMissing || displays.some(({ id, on }) => !before.has(id) && !(on && isAllOn));
    return isLate && monotonicNow() >= orderedAt + RETRY_MS;
  };

  /** @param isForced switches the displays even if the last order was the same */
  const poll = async (isForced = false): Promise<void> => {
    polled = { displays: ports.displays(), at: monotonicNow() };
    const isClockSet = now() >= builtAt;
    const known = polled.displays.map((each) => (isClockSet ? each : { ...each, hours: null }));
    planned = plan(
      known.map(({ hours }) => hours),
      now(),
      timeZone(),
      LEAD_MS,
    );
    if (known.length === 0) return;
    // The displays of a box without opening hours are never switched.
    const isByHand = known.some(({ id }) => overrides.get(id) !== undefined);
    if (ordered === null && !isByHand && dark.size === 0 && known.every(({ hours }) => hours === null)) return;
    const displays = known.map((each) => ({
      id: each.id,
      bounds: each.bounds,
      on: isOn(each),
      isGone: each.isGone === true,
    }));
    // What is gone is off already, and a clock that is not set says nothing.
    if (displays.every(({ on, isGone }) => isGone && !(on && isClockSet))) return;
    if (isByHand) planned = { ...planned, on: displays.some(({ on }) => on) };
    if (isForced || isOrderDue(displays)) return order(displays);
    const off = offIn(displays);
    ports.suspendRecovery(off);
    ports.blackout(off);
  };

  /** Polls that have not ended: programs that switch displays take their time. */
  let pending = 0;

  /** What tells the state of the displays: of several, what can address one. */
  const readerOf = (name: Panel['name'], count: number): Panel | undefined =>
    (count > 1 ? panels.find(({ isSelective }) => isSelective) : undefined) ??
    panels.find((each) => each.name === name);

  const pollSafely = async (): Promise<void> => {
    pending += 1;
    await enqueue(() => poll()).catch((error: unknown) =>
      log.error({ err: error }, 'the displays could not be switched'),
    );
    pending -= 1;
  };

  /** Planning is far more work than comparing. */
  const isDue = (): boolean => {
    const displays = ports.displays();
    const before = polled.displays;
    const isSame = displays.every(({ id, hours, isEmergency }, index) => {
      const known = before[index];
      return id === known?.id && hours === known.hours && isEmergency === known.isEmergency;
    });
    if (displays.length !== before.length || !isSame) return true;
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
    /** Compares the plan with the clock; `start` repeats this every few seconds, and as soon as the hours change. */
    poll: pollSafely,
    /**
     * Switches displays by hand, by ID, until the opening hours change; in an emergency they are on. Resolves with what they
     * tell, as soon as that is what was ordered, at the latest when `signal` is aborted.
     */
    switchTo: async (ids: readonly number[], on: boolean, signal: AbortSignal): Promise<Switched> => {
      const isOrdered = ({ id }: { id: number }): boolean => ids.includes(id);
      const targets = ports.displays().filter(isOrdered);
      for (const target of targets) {
        const { on: isPlanned, changesAt } = planOf(target);
        overrides.set(target.id, { on, planned: isPlanned, until: changesAt });
      }
      await enqueue(() => poll(true));
      if (by === 'blackout' || by === 'none') return { by: null, states: targets.map(() => null) };
      const panel = readerOf(by, polled.displays.length);
      for (;;) {
        // An adapter serves one program at a time.
        const told = await enqueue(async () => panel?.readPower(targets)).catch(() => undefined);
        const states = told ?? targets.map(() => null);
        const isDone = states.every((state) => state !== null && (on ? state === 'on' : /^(off|standby)$/.test(state)));
        if (isDone || signal.aborted) return { by, states };
        await pause(READ_MS);
      }
    },
    /** Whether a manual override keeps the display with this ID off; never in an emergency. */
    isOffByHand: (id: number): boolean => overrides.get(id)?.on === false && ordered?.get(id) === false,
    /** The plan of the box, which is on while one of its displays is, and what switches the displays. */
    status: () => ({ ...planned, by }),
    /** Does not change the displays, so that a restart at night does not switch them on. */
    close: () => clearInterval(timer),
  };
};

export type Power = ReturnType<typeof createPower>;
