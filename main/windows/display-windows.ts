/** The windows of all displays, and the recovery of their pages. */
import type { Logger } from 'pino';
import type { ProofNeeds } from '../../service/domain/device-proof.ts';
import type { KioskHealth, PageHeaders } from '../../service/public.ts';
import type { Sessions } from '../sessions/index.ts';
import type { DisplayView, DisplayViewHandlers } from './display-view.ts';
import { type Display, type DisplayAssignment, nameOf } from './displays.ts';
import {
  decideRecovery,
  initialRecoveryState,
  memoryBudget,
  type RecoveryEvent,
  type RecoveryStep,
} from './recovery-policy.ts';

export interface DisplayWindowPorts {
  log: Pick<Logger, 'warn'>;
  openView(display: Display, handlers: DisplayViewHandlers): DisplayView;
  /** The URL of the service's page for an assignment; null: there is none, as while the service does not run. */
  pageUrl(assignment: DisplayAssignment): string | null;
  /**
   * The URL of the trouble page: shown while there is no page, and after the page failed too often.
   * @param retryMs until the page is opened again; null: there is none
   * @returns null if the service is still starting for the first time
   */
  troubleUrl(retryMs: number | null): string | null;
  /** As `KioskBridge.prove`. */
  prove(assignment: DisplayAssignment, needs: ProofNeeds): string;
  pageHeaders(name: string): PageHeaders | null;
  openSession: Sessions['open'];
  /** What the runtime tells of the GPU. */
  graphics(): Pick<KioskHealth['screens'][number], 'gpu' | 'gpu_features' | 'video_decode'>;
  /** @returns the step that is taken */
  onRecovery(step: RecoveryStep, assignment: DisplayAssignment): RecoveryStep;
  /** The maintenance key combination was pressed. */
  onChord(assignment: DisplayAssignment): void;
  /** The window was asked to close. It stays open. */
  onCloseRequest(): void;
}

/** @param memory of the machine, in bytes */
export const createDisplayWindow = (
  initial: DisplayAssignment,
  ports: DisplayWindowPorts,
  { memory }: { memory: number },
) => {
  const { log, pageUrl, troubleUrl, graphics } = ports;
  let assignment = initial;
  let recovery = initialRecoveryState(performance.now());
  let isBlack = false;
  let lastHeartbeat: { date: Date; at: number } | null = null;
  const budget = memoryBudget(memory);

  const handle = (event: RecoveryEvent): void => {
    const [next, step] = decideRecovery(recovery, event, performance.now(), budget);
    recovery = next;
    if (step !== null) recover(step);
  };

  const view = ports.openView(assignment.display, {
    onHeartbeat: (heartbeat) => {
      lastHeartbeat = { date: new Date(), at: performance.now() };
      // Some runtimes do not paint a covered page.
      handle({ type: 'heartbeat', heartbeat: { ...heartbeat, hidden: heartbeat.hidden || view.window.isCovered() } });
    },
    onLost: (reason) => {
      if (pageUrl(assignment) !== null) handle({ type: 'lost', reason });
      else log.warn({ display: assignment.display.label, reason }, 'the trouble page failed');
    },
    prove: (needs) => ports.prove(assignment, needs),
    pageHeaders: ports.pageHeaders,
    openSession: ports.openSession,
    onChord: () => ports.onChord(assignment),
    onCloseRequest: ports.onCloseRequest,
  });

  const showTrouble = (retryMs: number | null): void => {
    const url = troubleUrl(retryMs);
    if (url !== null) view.show({ url, partition: null, rotation: assignment.rotation });
  };

  const open = (): void => {
    const url = pageUrl(assignment);
    if (url === null) return showTrouble(null);
    handle({ type: 'opened' });
    view.show({ url, partition: assignment.partition, rotation: assignment.rotation });
  };

  const recover = (asked: RecoveryStep): void => {
    const step = ports.onRecovery(asked, assignment);
    if (step.to === 'fallback') showTrouble(step.ms);
    else if (step.to !== 'relaunch') open();
  };

  const state = (): KioskHealth['screens'][number]['state'] => {
    if (recovery.fallbackUntil !== null) return 'fallback';
    if (recovery.last?.ready) return 'playing';
    return recovery.failures.length > 0 ? 'recovering' : 'starting';
  };

  return {
    get assignment() {
      return assignment;
    },
    /** Opens the page, or the trouble page if there is no service. */
    open,
    /** Moves the window, and reloads the page if its address has changed. */
    arrange: (next: DisplayAssignment) => {
      const before = assignment;
      assignment = next;
      view.window.move(next.display.bounds);
      const isSame = (['deviceId', 'screen', 'rotation', 'partition'] as const).every(
        (key) => next[key] === before[key],
      );
      if (!isSame) open();
    },
    /** Passes a clock tick or a memory measurement to the recovery policy. */
    handle: (event: Extract<RecoveryEvent, { type: 'tick' | 'memory' }>) => {
      if (pageUrl(assignment) !== null) handle(event);
    },
    /** For views over the page. */
    window: view.window,
    /** Opens the maintenance page over the display, or closes it. */
    toggleMaintenance: () => ports.onChord(assignment),
    /** Covers the page with black, or uncovers it. */
    blackout: (on: boolean) => {
      isBlack = on;
      view.blackout(on);
    },
    isBlack: () => isBlack,
    processId: view.processId,
    /** As {@link DisplayView.capture}. */
    capture: view.capture,
    /** How long ago the last heartbeat was, in ms. */
    silentMs: () => performance.now() - (lastHeartbeat?.at ?? Number.NEGATIVE_INFINITY),
    health: () => ({
      display: nameOf(assignment.display),
      deviceId: assignment.deviceId,
      state: state(),
      slide: recovery.last?.slide ?? null,
      lastBeatAt: lastHeartbeat?.date.toISOString() ?? null,
      ...graphics(),
      // The service adds what the page counts.
      video: null,
    }),
    close: view.close,
  };
};

export type DisplayWindow = ReturnType<typeof createDisplayWindow>;

export interface DisplayWindowsPorts extends Omit<DisplayWindowPorts, 'onRecovery'> {
  /** Whether there is a display: without one pages get no frames, though they are visible. */
  hasDisplay(): boolean;
  /** The memory of each process of the app in bytes, by process ID. */
  memoryByProcess(): ReadonlyMap<number, number>;
  /** Restarts the app: the last step of the recovery. */
  relaunch(reason: string): void;
}

const TICK_MS = 1_000;
const MEMORY_MS = 60_000;
/** A display whose page was heard within this time plays. */
const OTHERS_MS = 15_000;

/** @param options the memory of the machine, in bytes */
export const createDisplayWindows = (ports: DisplayWindowsPorts, options: { memory: number }) => {
  const windows = new Map<number, DisplayWindow>();
  const recoveries = { reload: 0, recreate: 0, fallback: 0, relaunch: 0 };
  let lastRecovery: KioskHealth['lastRecovery'] = null;
  let suspended: ReadonlySet<number> = new Set();

  const onRecovery = (asked: RecoveryStep, { display, deviceId }: DisplayAssignment): RecoveryStep => {
    const othersPlay = [...windows].some(([id, window]) => id !== display.id && window.silentMs() < OTHERS_MS);
    // They would go dark for one whose page is at fault.
    const step: RecoveryStep = asked.to === 'relaunch' && othersPlay ? { to: 'recreate', reason: asked.reason } : asked;
    const { to, reason } = step;
    recoveries[to] += 1;
    lastRecovery = { at: new Date().toISOString(), step: to, reason };
    ports.log.warn({ step: to, reason, display: display.label, deviceId }, 'recovering the page of a display');
    if (to === 'relaunch') ports.relaunch(reason);
    return step;
  };

  let measuredAt = performance.now();

  const measureMemory = (): void => {
    measuredAt = performance.now();
    const memory = ports.memoryByProcess();
    for (const [id, window] of windows) {
      if (suspended.has(id)) continue;
      const bytes = memory.get(window.processId() ?? Number.NaN);
      if (bytes !== undefined) window.handle({ type: 'memory', bytes });
    }
  };

  const ticking = setInterval(() => {
    // Without a display pages cannot be judged: the pause counts as sleep.
    for (const [id, window] of windows) if (ports.hasDisplay() && !suspended.has(id)) window.handle({ type: 'tick' });
    if (performance.now() - measuredAt >= MEMORY_MS) measureMemory();
  }, TICK_MS);

  return {
    /** Opens, moves and closes windows, so that each assignment has one. */
    arrange: (assignments: readonly DisplayAssignment[]) => {
      const wanted = new Set(assignments.map(({ display }) => display.id));
      for (const assignment of assignments) {
        const window = windows.get(assignment.display.id);
        if (window !== undefined) window.arrange(assignment);
        else {
          const added = createDisplayWindow(assignment, { ...ports, onRecovery }, options);
          // Beside displays that are all black it must not light up before its own hours are known.
          added.blackout(windows.size > 0 && [...windows.values()].every((each) => each.isBlack()));
          windows.set(assignment.display.id, added);
          added.open();
        }
      }
      // Last, because Electron quits without windows.
      for (const [id, window] of windows) {
        if (wanted.has(id)) continue;
        windows.delete(id);
        window.close();
      }
    },
    /** Opens the page of every window again: the service started or stopped. */
    open: () => {
      for (const window of windows.values()) window.open();
    },
    /** Suspends the recovery of these displays, by ID, and resumes that of all others: off, they need not paint. */
    suspendRecovery: (displays: ReadonlySet<number>) => {
      suspended = displays;
    },
    /** Covers these displays with black, by ID, and uncovers all others. */
    blackout: (displays: ReadonlySet<number>) => {
      for (const [id, window] of windows) window.blackout(displays.has(id));
    },
    list: () => [...windows.values()],
    health: () => ({ screens: [...windows.values()].map((window) => window.health()), recoveries, lastRecovery }),
    close: () => {
      clearInterval(ticking);
      for (const window of windows.values()) window.close();
      windows.clear();
    },
  };
};

export type DisplayWindows = ReturnType<typeof createDisplayWindows>;
