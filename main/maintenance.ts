/** The maintenance page: for whoever stands before the box with a keyboard and knows the PIN. */
import { join } from 'node:path';
import { BrowserWindow } from 'electron';
import { maintenanceChannel } from './channels.ts';
import type { Place } from './displays.ts';
import { createLock, hashPin } from './pin.ts';
import { lockedPreferences } from './preferences.ts';
import { turnContents } from './rotation.ts';
import {
  type KioskState,
  type MaintenanceAnswer,
  type MaintenanceCall,
  type MaintenanceOrder,
  type MaintenanceView,
  maintenanceCall,
} from './service-host.ts';

interface Dependencies {
  /** The PIN, as it is kept; null: none was set. Undefined: not known, since the settings can't be read. */
  pin(): Promise<KioskState['pin'] | undefined>;
  keepPin(pin: NonNullable<KioskState['pin']>): Promise<void>;
  view(): MaintenanceView;
  /** @throws Error with a sentence for a person */
  obey(order: MaintenanceOrder): Promise<void>;
}

interface Options {
  pagesDir: string;
  preload: string;
}

export interface Maintenance {
  /** Opens the page over a display, or closes it where it is open. */
  toggle(place: Place): void;
  /** Whether somebody has it open. */
  isOpen(): boolean;
  /** The displays are elsewhere now, turned otherwise, or gone. */
  arrange(places: readonly Place[]): void;
  close(): void;
}

export const createMaintenance = (
  { pin, keepPin, view, obey }: Dependencies,
  { pagesDir, preload }: Options,
): Maintenance => {
  // Outlives the page, so that opening it anew is no way round the wait.
  const lock = createLock(() => performance.now());
  let window: BrowserWindow | null = null;
  let follow: (places: readonly Place[]) => void = () => {};

  const close = (): void => {
    window?.destroy();
    window = null;
  };

  const answerTo = (): ((call: MaintenanceCall) => Promise<MaintenanceAnswer | null>) => {
    let isOpen = false;
    const unlock = async (given: string | undefined): Promise<MaintenanceAnswer | null> => {
      const stored = await pin();
      if (stored === undefined) return null;
      if (given === undefined) return { state: 'locked', isNew: stored === null, waitMs: 0, wasWrong: false };
      if (stored === null) await keepPin(await hashPin(given));
      else {
        const attempt = await lock.try(given, stored);
        if (!attempt.open) return { state: 'locked', isNew: false, waitMs: attempt.waitMs, wasWrong: true };
      }
      isOpen = true;
      return { state: 'open', view: view(), error: null };
    };
    return async ({ pin: given, order, close: isDone }) => {
      if (isDone) {
        close();
        return null;
      }
      if (!isOpen) return unlock(given);
      let error: string | null = null;
      if (order !== undefined) {
        await obey(order).catch((fault: Error) => {
          error = fault.message;
        });
      }
      return { state: 'open', view: view(), error };
    };
  };

  const open = ({ display, rotation }: Place): void => {
    const opened = new BrowserWindow({
      ...display.bounds,
      kiosk: true,
      fullscreen: true,
      frame: false,
      show: false,
      alwaysOnTop: true,
      autoHideMenuBar: true,
      backgroundColor: '#17343a',
      title: 'Maintenance',
      webPreferences: { ...lockedPreferences, preload },
    });
    window = opened;
    const { webContents } = opened;
    const turn = turnContents(webContents, rotation);
    follow = (places) => {
      const place = places.find((each) => each.display.id === display.id);
      if (place === undefined) return close();
      opened.setBounds(place.display.bounds);
      turn(place.rotation);
    };
    const answer = answerTo();
    webContents.ipc.handle(maintenanceChannel, (event, call: unknown) =>
      event.senderFrame === webContents.mainFrame ? answer(maintenanceCall.parse(call)) : null,
    );
    // By Alt+F4 too.
    opened.on('closed', () => {
      if (window === opened) window = null;
    });
    // What happens to one that is gone is no affair of the next.
    const closeThis = (): void => {
      if (window === opened) close();
    };
    webContents.on('render-process-gone', closeThis);
    webContents.on('unresponsive', closeThis);
    opened.once('ready-to-show', () => opened.show());
    opened.loadFile(join(pagesDir, 'maintenance.html')).catch(closeThis);
  };

  return {
    toggle: (place) => {
      if (window === null) open(place);
      else close();
    },
    isOpen: () => window !== null,
    arrange: (places) => {
      if (window !== null) follow(places);
    },
    close,
  };
};
