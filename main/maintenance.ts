/** The maintenance page: for whoever stands before the box with a keyboard and knows the PIN. */
import { WebContentsView } from 'electron';
import { maintenanceChannel } from './channels.ts';
import { hearChord } from './display-view.ts';
import type { Place } from './displays.ts';
import type { LayeredWindow } from './layers.ts';
import { ownPage, ownPartition } from './own-pages.ts';
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
  /** The window of a display, over whose page it opens; undefined: the display has none. */
  windowOf(place: Place): LayeredWindow | undefined;
}

interface Options {
  preload: string;
}

export interface Maintenance {
  /** Opens the page over a display, or closes it where it is open. */
  toggle(place: Place): void;
  /** The displays are elsewhere now, turned otherwise, or gone. */
  arrange(places: readonly Place[]): void;
  close(): void;
}

export const createMaintenance = (
  { pin, keepPin, view, obey, windowOf }: Dependencies,
  { preload }: Options,
): Maintenance => {
  // Outlives the page, so that opening it anew is no way round the wait.
  const lock = createLock(() => performance.now());
  let opened: { close(): void; follow(places: readonly Place[]): void } | null = null;

  const close = (): void => opened?.close();

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

  const open = (place: Place): void => {
    const window = windowOf(place);
    if (window === undefined) return;
    const page = new WebContentsView({
      webPreferences: { ...lockedPreferences, partition: ownPartition, preload },
    });
    page.setBackgroundColor('#17343a');
    const { webContents } = page;
    const turn = turnContents(webContents, place.rotation);
    const mine = {
      follow: (places: readonly Place[]): void => {
        const now = places.find((each) => each.display.id === place.display.id);
        if (now === undefined) mine.close();
        else turn(now.rotation);
      },
      close: (): void => {
        if (opened === mine) opened = null;
        window.remove(page);
        if (!webContents.isDestroyed()) webContents.close();
      },
    };
    opened = mine;
    const answer = answerTo();
    webContents.ipc.handle(maintenanceChannel, (event, call: unknown) =>
      event.senderFrame === webContents.mainFrame ? answer(maintenanceCall.parse(call)) : null,
    );
    webContents.on('render-process-gone', mine.close);
    webContents.on('unresponsive', mine.close);
    webContents.on('destroyed', mine.close);
    hearChord(webContents, mine.close);
    webContents.once('did-finish-load', () => {
      if (opened === mine) window.put(page, 'maintenance');
    });
    window.put(page, 'hidden');
    webContents.loadURL(ownPage('maintenance.html')).catch(mine.close);
  };

  return {
    toggle: (place) => {
      if (opened === null) open(place);
      else close();
    },
    arrange: (places) => opened?.follow(places),
    close,
  };
};
