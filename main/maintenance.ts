/** Opens the maintenance page over a display, answers its requests once the PIN was entered, and assembles its data. */
import type {
  Hours,
  KioskHealth,
  KioskSettings,
  MaintenanceAnswer,
  MaintenanceCall,
  MaintenanceOrder,
  MaintenanceShown,
  MaintenanceView,
} from '../service/public.ts';
import { createLock, hashPin } from './pin.ts';
import type { KioskState } from './service-host.ts';
import type { StartError } from './trouble.ts';
import type { DisplayAssignment, Rotation } from './windows/displays.ts';
import type { LayeredWindow } from './windows/layers.ts';

interface Sources {
  version: string;
  address: string | null;
  root: string | null;
  timeZone: string | null;
  site: MaintenanceView['site'];
  startError: StartError | null;
  screens: MaintenanceView['screens'];
  updates: KioskHealth['updates'];
  /** Null: they cannot be read. */
  settings: Pick<KioskSettings, 'displays' | 'updates'> | null;
  assignments: readonly DisplayAssignment[];
  /** The slug of the screen that a device is bound to; null: none. */
  screenOf(deviceId: string): string | null;
  hours(slug: string): Hours;
  sessions: MaintenanceView['sessions'];
  signingIn: MaintenanceView['signingIn'];
  machine: boolean;
  canQuit: boolean;
  hotspot: MaintenanceView['hotspot'];
  log: readonly string[];
}

export const maintenanceView = ({
  version,
  updates,
  settings,
  assignments,
  screenOf,
  hours,
  startError,
  ...rest
}: Sources): MaintenanceView => ({
  ...rest,
  version: settings === null ? version : `${version} (${settings.updates.channel})`,
  updates: { ...updates, hours: settings?.updates.hours ?? null },
  error: startError?.message ?? null,
  displays: settings === null ? 'all' : typeof settings.displays === 'string' ? settings.displays : 'chosen',
  assignments: assignments.map((assignment) => {
    const screen = assignment.screen ?? screenOf(assignment.deviceId);
    const { width, height } = assignment.display.bounds;
    return {
      id: assignment.display.id,
      name: `${assignment.display.label || `Display ${assignment.number}`}, ${width} × ${height}`,
      deviceId: assignment.deviceId,
      screen,
      isFixed: assignment.screen !== null,
      rotation: assignment.rotation,
      hours: screen === null ? null : hours(screen),
    };
  }),
});

type Locked = Extract<MaintenanceAnswer, { state: 'locked' }>;
type Open = Extract<MaintenanceAnswer, { state: 'open' }>;

export interface MaintenancePage {
  rotate(rotation: Rotation): void;
  /** Leaves room for the page in which somebody signs in, or covers the whole window again. */
  makeRoom(on: boolean): void;
  close(): void;
}

export interface MaintenancePageHandlers {
  rotation: Rotation;
  /** Answers a request of the page; null: the page is closing. */
  answer(call: MaintenanceCall): Promise<MaintenanceAnswer | null>;
  /** The page was asked to close, failed, or ended. */
  onClose(): void;
}

/**
 * What carries out each order.
 * @param display the id of that with the page
 * @returns what the page shows once
 * @throws Error whose message is a {@link MaintenanceRefusal}, or one for the user
 */
export type Orders = {
  [Do in MaintenanceOrder['do']]: (
    order: Extract<MaintenanceOrder, { do: Do }>,
    display: number,
  ) => Promise<MaintenanceShown> | Promise<void>;
};

export interface MaintenancePorts {
  openPage(window: LayeredWindow, handlers: MaintenancePageHandlers): MaintenancePage;
  /** The hash of the PIN; null: none was set; undefined: the settings cannot be read. */
  readPin(): Promise<KioskState['pin'] | undefined>;
  savePin(pin: NonNullable<KioskState['pin']>): Promise<void>;
  /** Whether the box is new enough for the first person at the page to choose the PIN. */
  isNew(): boolean;
  /** The secret of the site; null: none, or the settings cannot be read. */
  secret(): string | null;
  view(): MaintenanceView;
  /** Whether the PIN stands in config.json. */
  isPinGiven(): boolean;
  orders: Orders;
  /** Called after the page was closed. */
  onClosed(): void;
  /** The window of a display; undefined: the display has none. */
  windowOf(assignment: DisplayAssignment): LayeredWindow | undefined;
}

export const createMaintenance = ({
  openPage,
  readPin,
  savePin,
  isNew,
  secret,
  view,
  isPinGiven,
  orders,
  onClosed,
  windowOf,
}: MaintenancePorts) => {
  // Outlives the page: reopening it must not reset the delay after wrong PINs.
  const lock = createLock(() => performance.now());
  // A right PIN does not end the delay after wrong secrets.
  const secretLock = createLock(() => performance.now());
  let opened: { page: MaintenancePage; displayId: number } | null = null;

  const close = (): void => {
    const before = opened;
    opened = null;
    if (before === null) return;
    before.page.close();
    onClosed();
  };

  /** Answers the requests of one page, which is locked at first. */
  const createAnswer = (displayId: number): MaintenancePageHandlers['answer'] => {
    let isUnlocked = false;
    let knowsSecret = false;
    const locked = (ask: Locked['ask'], attempt?: { waitMs: number }): Locked => {
      return { state: 'locked', ask, waitMs: attempt?.waitMs ?? 0, wasWrong: attempt !== undefined };
    };
    const answered = (more: Partial<Open> = {}): Open => {
      return { state: 'open', view: view(), error: null, shown: null, wrongSecret: null, ...more };
    };
    const unlock = async ({ pin, secret: given }: MaintenanceCall): Promise<MaintenanceAnswer | null> => {
      const stored = await readPin();
      if (stored === undefined) return null;
      const siteSecret = secret();
      if (stored === null && !knowsSecret && !isNew()) {
        if (siteSecret === null) return locked('settings');
        if (given === undefined) return locked('secret');
        const attempt = await secretLock.try(given, await hashPin(siteSecret));
        if (!attempt.open) return locked('secret', attempt);
        knowsSecret = true;
      }
      if (pin === undefined) return locked(stored === null ? 'new pin' : 'pin');
      if (stored === null) await savePin(await hashPin(pin));
      else {
        const attempt = await lock.try(pin, stored);
        if (!attempt.open) return locked('pin', attempt);
      }
      isUnlocked = true;
      return answered();
    };
    /** Null: the order may be carried out. */
    const wrongSecret = async (order: MaintenanceOrder): Promise<Open['wrongSecret']> => {
      const siteSecret = secret();
      if (order.do !== 'admin' || isPinGiven() || siteSecret === null) return null;
      const attempt = await secretLock.try(order.secret ?? '', await hashPin(siteSecret));
      return attempt.open ? null : { waitMs: attempt.waitMs };
    };
    return async (call) => {
      const { order, close: isDone } = call;
      if (isDone) {
        close();
        return null;
      }
      if (!isUnlocked) return unlock(call);
      if (order === undefined) return answered();
      const wrong = await wrongSecret(order);
      if (wrong !== null) return answered({ wrongSecret: wrong });
      const carryOut = orders[order.do] as (order: MaintenanceOrder, display: number) => ReturnType<Orders['admin']>;
      return carryOut(order, displayId).then(
        (shown) => answered({ shown: shown ?? null }),
        (cause: Error) => answered({ error: cause.message }),
      );
    };
  };

  const open = (assignment: DisplayAssignment): void => {
    const window = windowOf(assignment);
    if (window === undefined) return;
    const page = openPage(window, {
      rotation: assignment.rotation,
      answer: createAnswer(assignment.display.id),
      onClose: () => {
        if (opened?.page === page) close();
      },
    });
    opened = { page, displayId: assignment.display.id };
  };

  return {
    /** Opens the page over a display, or closes it. */
    toggle: (assignment: DisplayAssignment) => {
      if (opened === null) open(assignment);
      else close();
    },
    /** Rotates the page, or closes it if its display was disconnected. */
    arrange: (assignments: readonly DisplayAssignment[]) => {
      if (opened === null) return;
      const current = assignments.find(({ display }) => display.id === opened?.displayId);
      if (current === undefined) close();
      else opened.page.rotate(current.rotation);
    },
    /** Leaves room for the page in which somebody signs in, or takes it back. */
    makeRoom: (on: boolean) => opened?.page.makeRoom(on),
    close,
  };
};
