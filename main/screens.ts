/** The screens of all displays: as many as there are, wherever they are now. */
import type { Logger } from 'pino';
import type { Place } from './displays.ts';
import type { Step } from './recovery-policy.ts';
import { createScreen, type Screen } from './screen.ts';
import type { KioskHealth } from './service-host.ts';

interface Dependencies {
  log: Logger;
  pageOf(place: Place): string | null;
  troublePage: Parameters<typeof createScreen>[1]['troublePage'];
  /** The memory that each of the app's processes takes, bytes, by process id. */
  memoryByProcess(): ReadonlyMap<number, number>;
  /** The last rung: start the whole app anew. */
  onRelaunch(reason: string): void;
  onChord(place: Place): void;
  onCloseRequest(): void;
}

type Settings = Parameters<typeof createScreen>[2];

export interface Screens {
  /** Opens, moves and closes windows, so that there is one for each place. */
  arrange(places: readonly Place[]): void;
  /** Opens every screen's page again: the service has come, or is gone. */
  open(): void;
  /** While at rest nothing is recovered: the panels are off, and need not paint. */
  rest(resting: boolean): void;
  /** Black over every display, those that are plugged in later too: for displays that can't be switched off. */
  blackout(on: boolean): void;
  list(): readonly Screen[];
  health(): Pick<KioskHealth, 'screens' | 'recoveries' | 'lastRecovery'>;
  close(): void;
}

const LOOK_MS = 1_000;
const MEMORY_MS = 60_000;

export const createScreens = (dependencies: Dependencies, settings: Settings): Screens => {
  const { log, memoryByProcess, onRelaunch } = dependencies;
  const screens = new Map<number, Screen>();
  const recoveries = { reload: 0, recreate: 0, fallback: 0, relaunch: 0 };
  let lastRecovery: KioskHealth['lastRecovery'] = null;
  let isResting = false;
  let isBlack = false;

  const onStep = ({ to, reason }: Step, { display, deviceId }: Place): void => {
    recoveries[to] += 1;
    lastRecovery = { at: new Date().toISOString(), step: to, reason };
    log.warn({ step: to, reason, display: display.label, deviceId }, 'a screen is being recovered');
    if (to === 'relaunch') onRelaunch(reason);
  };

  let measuredAt = performance.now();

  const measure = (): void => {
    measuredAt = performance.now();
    const memory = memoryByProcess();
    for (const screen of screens.values()) {
      const bytes = memory.get(screen.processId() ?? Number.NaN);
      if (bytes !== undefined) screen.happen({ type: 'memory', bytes });
    }
  };

  const looking = setInterval(() => {
    if (isResting) return;
    for (const screen of screens.values()) screen.happen({ type: 'look' });
    if (performance.now() - measuredAt >= MEMORY_MS) measure();
  }, LOOK_MS);

  return {
    arrange: (places) => {
      const wanted = new Set(places.map(({ display }) => display.id));
      for (const place of places) {
        const screen = screens.get(place.display.id);
        if (screen !== undefined) screen.arrange(place);
        else {
          const added = createScreen(place, { ...dependencies, onStep }, settings);
          screens.set(place.display.id, added);
          added.blackout(isBlack);
          added.open();
        }
      }
      // Last, so that the app is never without a window.
      for (const [id, screen] of screens) {
        if (wanted.has(id)) continue;
        screens.delete(id);
        screen.close();
      }
    },
    open: () => {
      for (const screen of screens.values()) screen.open();
    },
    rest: (resting) => {
      isResting = resting;
    },
    blackout: (on) => {
      isBlack = on;
      for (const screen of screens.values()) screen.blackout(on);
    },
    list: () => [...screens.values()],
    health: () => ({ screens: [...screens.values()].map((screen) => screen.health()), recoveries, lastRecovery }),
    close: () => {
      clearInterval(looking);
      for (const screen of screens.values()) screen.close();
      screens.clear();
    },
  };
};
