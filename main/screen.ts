/** One display's screen: its page, and the ladder that brings it back. */
import type { Logger } from 'pino';
import { createDisplayView } from './display-view.ts';
import type { Place } from './displays.ts';
import type { LayeredWindow } from './layers.ts';
import { climb, createLadder, type Happening, memoryBudget, type Step } from './recovery-policy.ts';
import type { KioskHealth } from './service-host.ts';

interface Dependencies {
  log: Pick<Logger, 'warn'>;
  /** The page of the service for a place; null while there is no service. */
  pageOf(place: Place): string | null;
  /** What to show while there is none, or after it failed too often; null: nothing is known to be wrong yet. */
  troublePage(retryMs: number | null): string | null;
  onStep(step: Step, place: Place): void;
  onChord(place: Place): void;
  /** Somebody asked the display's window to close. */
  onCloseRequest(): void;
}

interface ScreenOptions {
  preload: string;
  /** Of the machine, bytes. */
  memory: number;
}

export interface Screen {
  readonly place: Place;
  /** For what lies over its page. */
  readonly window: LayeredWindow;
  /** Opens its page, or the trouble page where there is no service. */
  open(): void;
  /** The display moved, or shows something else now. */
  arrange(place: Place): void;
  /** @param happening from outside: a look at the clock, a measurement */
  happen(happening: Extract<Happening, { type: 'look' | 'memory' }>): void;
  processId(): number | null;
  /** Since its page last told how it is. */
  silentMs(): number;
  /** Black over its page, or not. */
  blackout(on: boolean): void;
  health(): KioskHealth['screens'][number];
  close(): void;
}

export const createScreen = (
  given: Place,
  { log, pageOf, troublePage, onStep, onChord, onCloseRequest }: Dependencies,
  { preload, memory }: ScreenOptions,
): Screen => {
  let place = given;
  let ladder = createLadder(performance.now());
  let lastBeat: { date: Date; at: number } | null = null;
  const budget = memoryBudget(memory);

  const happen = (happening: Happening): void => {
    const [next, step] = climb(ladder, happening, performance.now(), budget);
    ladder = next;
    if (step !== null) take(step);
  };

  const view = createDisplayView(
    place.display,
    {
      onBeat: (beat) => {
        lastBeat = { date: new Date(), at: performance.now() };
        happen({ type: 'beat', beat });
      },
      onLost: (reason) => {
        if (pageOf(place) === null) log.warn({ display: place.display.label, reason }, 'a page of the kiosk is lost');
        else happen({ type: 'lost', reason });
      },
      onChord: () => onChord(place),
      onCloseRequest,
    },
    { preload },
  );

  const showTrouble = (retryMs: number | null): void => {
    const url = troublePage(retryMs);
    if (url !== null) view.show({ url, partition: null, rotation: place.rotation });
  };

  const open = (): void => {
    const url = pageOf(place);
    if (url === null) return showTrouble(null);
    happen({ type: 'opened' });
    view.show({ url, partition: place.partition, rotation: place.rotation });
  };

  const take = (step: Step): void => {
    onStep(step, place);
    if (step.to === 'fallback') showTrouble(step.ms);
    else if (step.to !== 'relaunch') open();
  };

  return {
    get place() {
      return place;
    },
    open,
    arrange: (next) => {
      const before = place;
      place = next;
      view.window.move(next.display.bounds);
      const isSame = (['deviceId', 'screen', 'rotation', 'partition'] as const).every(
        (key) => next[key] === before[key],
      );
      if (!isSame) open();
    },
    happen: (happening) => {
      if (pageOf(place) !== null) happen(happening);
    },
    window: view.window,
    blackout: view.blackout,
    processId: view.processId,
    silentMs: () => performance.now() - (lastBeat?.at ?? Number.NEGATIVE_INFINITY),
    health: () => ({
      display: place.display.label || `Display ${place.display.id}`,
      deviceId: place.deviceId,
      state:
        ladder.fallbackUntil !== null
          ? 'fallback'
          : ladder.last?.ready
            ? 'playing'
            : ladder.failures.length > 0
              ? 'recovering'
              : 'starting',
      slide: ladder.last?.slide ?? null,
      lastBeatAt: lastBeat?.date.toISOString() ?? null,
    }),
    close: view.close,
  };
};
