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
  /** Suspends or resumes the recovery: pages of displays that are off need not paint. */
  suspendRecovery(isSuspended: boolean): void;
  /** Covers all displays with black, also those that are connected later, or uncovers them. */
  blackout(on: boolean): void;
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
  let isSuspended = false;
  let isBlack = false;

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
    for (const window of windows.values()) {
      const bytes = memory.get(window.processId() ?? Number.NaN);
      if (bytes !== undefined) window.handle({ type: 'memory', bytes });
    }
  };

  const ticking = setInterval(() => {
    if (isSuspended) return;
    for (const window of windows.values()) window.handle({ type: 'tick' });
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
          windows.set(assignment.display.id, added);
          added.blackout(isBlack);
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
    suspendRecovery: (suspended) => {
      isSuspended = suspended;
    },
    blackout: (on) => {
      isBlack = on;
      for (const window of windows.values()) window.blackout(on);
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
