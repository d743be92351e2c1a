/** Opens the maintenance page over a display, and answers its requests once the PIN was entered. */

import type { MaintenanceAnswer, MaintenanceCall, MaintenanceOrder, MaintenanceView } from '../service/public.ts';
import type { DisplayAssignment, Rotation } from './displays.ts';
import type { LayeredWindow } from './layers.ts';
import { createLock, hashPin } from './pin.ts';
import type { KioskState } from './service-host.ts';

/** An open maintenance page. */
export interface MaintenancePage {
  rotate(rotation: Rotation): void;
  close(): void;
}

export interface MaintenancePageHandlers {
  rotation: Rotation;
  /** Answers a request of the page; null: the page is closing. */
  answer(call: MaintenanceCall): Promise<MaintenanceAnswer | null>;
  /** The page was asked to close, failed, or ended. */
  onClose(): void;
}

export interface MaintenancePorts {
  openPage(window: LayeredWindow, handlers: MaintenancePageHandlers): MaintenancePage;
  /** The hash of the PIN; null: none was set; undefined: the settings cannot be read. */
  readPin(): Promise<KioskState['pin'] | undefined>;
  savePin(pin: NonNullable<KioskState['pin']>): Promise<void>;
  view(): MaintenanceView;
  /** @throws Error with a message for the user */
  carryOut(order: MaintenanceOrder): Promise<void>;
  /** The window of a display; undefined: the display has none. */
  windowOf(assignment: DisplayAssignment): LayeredWindow | undefined;
}

export interface Maintenance {
  /** Opens the page over a display, or closes it. */
  toggle(assignment: DisplayAssignment): void;
  /** Rotates the page, or closes it if its display was disconnected. */
  arrange(assignments: readonly DisplayAssignment[]): void;
  close(): void;
}

export const createMaintenance = ({
  openPage,
  readPin,
  savePin,
  view,
  carryOut,
  windowOf,
}: MaintenancePorts): Maintenance => {
  // Outlives the page: reopening it must not reset the delay after wrong PINs.
  const lock = createLock(() => performance.now());
  let opened: { page: MaintenancePage; displayId: number } | null = null;

  const close = (): void => {
    const before = opened;
    opened = null;
    before?.page.close();
  };

  /** Answers the requests of one page, which is locked at first. */
  const createAnswer = (): MaintenancePageHandlers['answer'] => {
    let isUnlocked = false;
    const unlock = async (pin: string | undefined): Promise<MaintenanceAnswer | null> => {
      const stored = await readPin();
      if (stored === undefined) return null;
      if (pin === undefined) return { state: 'locked', isNew: stored === null, waitMs: 0, wasWrong: false };
      if (stored === null) await savePin(await hashPin(pin));
      else {
        const attempt = await lock.try(pin, stored);
        if (!attempt.open) return { state: 'locked', isNew: false, waitMs: attempt.waitMs, wasWrong: true };
      }
      isUnlocked = true;
      return { state: 'open', view: view(), error: null };
    };
    return async ({ pin, order, close: isDone }) => {
      if (isDone) {
        close();
        return null;
      }
      if (!isUnlocked) return unlock(pin);
      let error: string | null = null;
      if (order !== undefined) {
        await carryOut(order).catch((cause: Error) => {
          error = cause.message;
        });
      }
      return { state: 'open', view: view(), error };
    };
  };

  const open = (assignment: DisplayAssignment): void => {
    const window = windowOf(assignment);
    if (window === undefined) return;
    const page = openPage(window, {
      rotation: assignment.rotation,
      answer: createAnswer(),
      onClose: () => {
        if (opened?.page === page) close();
      },
    });
    opened = { page, displayId: assignment.display.id };
  };

  return {
    toggle: (assignment) => {
      if (opened === null) open(assignment);
      else close();
    },
    arrange: (assignments) => {
      if (opened === null) return;
      const current = assignments.find(({ display }) => display.id === opened?.displayId);
      if (current === undefined) close();
      else opened.page.rotate(current.rotation);
    },
    close,
  };
};
