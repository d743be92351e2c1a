/** The windows of all displays. */

import type { KioskHealth } from '../service/public.ts';
import { createDisplayWindow, type DisplayWindow, type DisplayWindowPorts } from './display-window.ts';
import type { DisplayAssignment } from './displays.ts';
import type { RecoveryStep } from './recovery-policy.ts';

export interface DisplayWindowsPorts extends Omit<DisplayWindowPorts, 'onRecovery'> {
  /** The memory of each process of the app in bytes, by process ID. */
  memoryByProcess(): ReadonlyMap<number, number>;
  /** Restarts the app: the last step of the recovery. */
  relaunch(reason: string): void;
}

export interface DisplayWindows {
  /** Opens, moves and closes windows, so that each assignment has one. */
  arrange(assignments: readonly DisplayAssignment[]): void;
  /** Opens the page of every window again: the service started or stopped. */
  open(): void;
  /** Suspends the recovery of these displays, by ID, and resumes that of all others: off, they need not paint. */
  suspendRecovery(displays: ReadonlySet<number>): void;
  /** Covers these displays with black, by ID, and uncovers all others. */
  blackout(displays: ReadonlySet<number>): void;
  list(): readonly DisplayWindow[];
  health(): Pick<KioskHealth, 'screens' | 'recoveries' | 'lastRecovery'>;
  close(): void;
}

const TICK_MS = 1_000;
const MEMORY_MS = 60_000;

/** @param options the memory of the machine, in bytes */
export const createDisplayWindows = (ports: DisplayWindowsPorts, options: { memory: number }): DisplayWindows => {
  const windows = new Map<number, DisplayWindow>();
  const recoveries = { reload: 0, recreate: 0, fallback: 0, relaunch: 0 };
  let lastRecovery: KioskHealth['lastRecovery'] = null;
  let suspended: ReadonlySet<number> = new Set();

  const onRecovery = ({ to, reason }: RecoveryStep, { display, deviceId }: DisplayAssignment): void => {
    recoveries[to] += 1;
    lastRecovery = { at: new Date().toISOString(), step: to, reason };
    ports.log.warn({ step: to, reason, display: display.label, deviceId }, 'recovering the page of a display');
    if (to === 'relaunch') ports.relaunch(reason);
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
    for (const [id, window] of windows) if (!suspended.has(id)) window.handle({ type: 'tick' });
    if (performance.now() - measuredAt >= MEMORY_MS) measureMemory();
  }, TICK_MS);

  return {
    arrange: (assignments) => {
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
    open: () => {
      for (const window of windows.values()) window.open();
    },
    suspendRecovery: (displays) => {
      suspended = displays;
    },
    blackout: (displays) => {
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
