/** The kiosk: runs the service, opens a window for every display, and carries out the orders of the maintenance page. */
import { hostname } from 'node:os';
import { join } from 'node:path';
import type { Session } from 'electron';
import { createDebounce } from '../service/domain/debounce.ts';
import type { KioskSettings, MaintenanceRefusal } from '../service/public.ts';
import { type Appliance, type AppliancePorts, createAppliance } from './appliance.ts';
import { createDeviceKeys } from './device-keys.ts';
import { createHotspot } from './hotspot/index.ts';
import { createMaintenance, type MaintenancePorts, maintenanceView, type Orders } from './maintenance.ts';
import { createOperate, type OperatePorts } from './operate.ts';
import type { Paths } from './paths.ts';
import { hashPin } from './pin.ts';
import { setVolume } from './power/volume.ts';
import type { KioskProxy } from './proxy.ts';
import type { HostedService, KioskState, ServiceHost } from './service-host.ts';
import { createSessions } from './sessions/index.ts';
import { createSignIn } from './sign-in.ts';
import { noScreen, type StartError, startErrorOf, troubleUrl } from './trouble.ts';
import { orderRoot } from './updates/installers.ts';
import { createDisplayWindows, type DisplayWindowsPorts } from './windows/display-windows.ts';
import {
  assignDisplays,
  assignSlots,
  type Display,
  type DisplayAssignment,
  type DisplayIdentity,
  type Slot,
  screenOfUnbound,
  usableDisplays,
  withRotation,
} from './windows/displays.ts';
import type { openSignInPage } from './windows/sign-in-page.ts';

/** How long anybody may choose the PIN, after the first start and after the first binding. */
const PIN_WINDOW_MS = 10 * 60_000;
/** How often to check whether the box is bound, and whether it has another node id, in ms. */
const POLL_MS = 1_000;
/** How often keys of displays that could not be read or saved are tried again. */
const KEYS_MS = 60_000;
/** How long to wait before a failed start of the service is retried, in ms. */
const RETRY_MS = 3_000;
/** A loose cable can connect and remove a display ten times a second; opening a window takes longer. */
const DISPLAY_CHANGES = { quietMs: 250, longestMs: 5_000 };

/** The parts of Electron and of the machine that the kiosk uses. */
export interface KioskPorts
  extends Pick<DisplayWindowsPorts, 'openView' | 'memoryByProcess' | 'graphics'>,
    Pick<MaintenancePorts, 'openPage'>,
    Pick<AppliancePorts, 'app' | 'keepAwake' | 'panels'>,
    Pick<OperatePorts, 'showLabel' | 'execute'> {
  host: ServiceHost;
  proxy: KioskProxy;
  displays(): readonly Display[];
  primaryDisplayId(): number;
  /** Puts the window of each display on its output, where the compositor does not do that itself. */
  placeWindows(displays: readonly Display[]): void;
  /** Restarts the app. */
  relaunch(reason: string): void;
  openPartition(partition: string): Session;
  openSignInPage: typeof openSignInPage;
}

interface KioskOptions {
  paths: Pick<
    Paths,
    | 'rendererDir'
    | 'resourcesDir'
    | 'pagesDir'
    | 'appImage'
    | 'isSupervised'
    | 'painted'
    | 'session'
    | 'system'
    | 'network'
    | 'hotspot'
    | 'systemd'
  >;
  /** The memory of the machine, in bytes. */
  memory: number;
}

export const createKiosk = (ports: KioskPorts, { paths, memory }: KioskOptions) => {
  const { host, relaunch } = ports;
  const { log } = host;
  const deviceKeys = createDeviceKeys(host);
  const sessions = createSessions({
    log,
    dataDir: host.dataDir,
    openPartition: ports.openPartition,
    service: () => service,
  });
  const startedAs = hostname();
  let service: HostedService | null = null;
  /** The attempt to start the service that is in progress. */
  let starting: Promise<HostedService | null> = Promise.resolve(null);
  let startError: StartError | null = null;
  let isStopping = false;
  /** The slots of the displays; null: the saved slots are not loaded yet. */
  let slots: readonly Slot[] | null = null;
  /** The node id that the devices of the displays belong to. */
  let arrangedFor: string | null = null;
  let arrangedAt = 0;

  /** As {@link screenOfUnbound}. */
  let unboundScreen: string | null = null;
  const screenOf = ({ deviceId, screen }: DisplayIdentity): string | null =>
    screen ?? service?.screenOf(deviceId) ?? unboundScreen;

  const pageUrl = (assignment: DisplayAssignment): string | null => {
    if (service === null) return null;
    const { deviceId } = assignment;
    const slug = screenOf(assignment);
    if (slug === null && service.options.variant === 'baseline') return null;
    const path = slug === null ? '/' : `/screen/${slug}`;
    return `${service.url}${path}?deviceId=${encodeURIComponent(deviceId)}`;
  };

  const windows = createDisplayWindows(
    {
      log,
      openView: ports.openView,
      memoryByProcess: ports.memoryByProcess,
      graphics: ports.graphics,
      hasDisplay: () => usableDisplays(ports.displays()).length > 0,
      relaunch,
      pageUrl,
      troubleUrl: (retryMs) => {
        if (service === null && startError === null) return null;
        const error = service === null ? startError : noScreen;
        // With a time it is the page that failed.
        return troubleUrl(retryMs === null ? error : null, retryMs ?? RETRY_MS);
      },
      prove: ({ slot, deviceId }, needs) => {
        if (service === null) throw new Error('the service does not run');
        return deviceKeys.prove(slot, deviceId, needs, service.nodeId);
      },
      pageHeaders: (name) => service?.pageHeaders(name) ?? null,
      openSession: sessions.open,
      onChord: (assignment) => maintenance.toggle(assignment),
      onCloseRequest: () => maintenance.close(),
    },
    { memory },
  );

  const appliance: Appliance = createAppliance(
    {
      host,
      windows,
      displays: ports.displays,
      relaunch,
      service: () => service,
      app: ports.app,
      keepAwake: ports.keepAwake,
      panels: ports.panels,
      answerProxy: ports.proxy.answer,
    },
    paths,
  );

  const operate = createOperate(
    {
      log,
      windows,
      appliance,
      showLabel: ports.showLabel,
      execute: ports.execute,
      state: () => host.files()?.state,
      folders: () => (service === null ? host.mediaFolders() : [service.options.uploadDir, service.options.mediaDir]),
    },
    { dataDir: host.dataDir, isWatched: paths.systemd.isWatched },
  );

  const assignments = (): DisplayAssignment[] => windows.list().map(({ assignment }) => assignment);

  /** Assigns slots without waiting for the disk: displays may change while it writes. */
  const updateSlots = (displays: readonly Display[]): readonly Slot[] => {
    const files = host.files();
    const before = slots ?? files?.state.read().slots ?? [];
    const next = assignSlots(before, displays);
    if (files === null) return next;
    slots = next;
    if (JSON.stringify(next) !== JSON.stringify(before)) {
      // A full disk must not keep a display from playing; the next start may assign different slots.
      files.state
        .update((state) => ({ ...state, slots: next }))
        .catch((error: unknown) => log.error({ err: error }, 'the slots of the displays could not be saved'));
    }
    return next;
  };

  const arrange = (): void => {
    const displays = usableDisplays(ports.displays());
    // While all displays are off, the windows stay for when one is back.
    if (displays.length === 0 || isStopping) return;
    const primaryId = ports.primaryDisplayId();
    arrangedFor = service?.nodeId ?? null;
    arrangedAt = performance.now();
    const next = assignDisplays({
      displays,
      primaryId,
      slots: updateSlots(displays.toSorted((a, b) => Number(b.id === primaryId) - Number(a.id === primaryId))),
      settings: host.files()?.settings ?? { displays: 'all', rotation: 0 },
      idOf: (slot) => (service === null ? '' : deviceKeys.idOf(slot, service.nodeId)),
    });
    windows.arrange(next);
    ports.placeWindows(next.map(({ display }) => display));
    maintenance.arrange(next);
    signIn.arrange(next);
  };

  const displaysChanged = createDebounce(arrange, DISPLAY_CHANGES);

  /** Until when the box is new; recorded, so that no later start makes it new again. */
  let newUntil = Number.NEGATIVE_INFINITY;
  const wasBound = ({ bound }: KioskState['past']): boolean =>
    bound || assignments().some((assignment) => screenOf(assignment) !== null);
  const updateNew = (): void => {
    const state = host.files()?.state;
    if (state === undefined) return;
    const { past } = state.read();
    const bound = wasBound(past);
    if (past.started && bound === past.bound) return;
    newUntil = performance.now() + PIN_WINDOW_MS;
    state
      .update((before) => ({ ...before, past: { started: true, bound } }))
      .catch((error: unknown) => log.error({ err: error }, 'it could not be recorded that the box is no longer new'));
  };
  const hotspot = createHotspot(
    {
      log,
      // A full disk keeps no record of it.
      wasBound: () => {
        const files = host.files();
        return files === null ? null : wasBound(files.state.read().past);
      },
      settings: () => host.files()?.settings ?? null,
      configure: async (changes) => host.files()?.configure(changes),
      order: (word) => orderRoot(join(host.dataDir, 'updates'), word),
    },
    paths,
  );
  const followScreens = (running: HostedService): boolean => {
    const before = unboundScreen;
    unboundScreen = screenOfUnbound(before, { variant: running.options.variant, screens: running.screens() });
    return unboundScreen !== before;
  };
  const polling = setInterval(() => {
    if (service !== null && followScreens(service)) windows.open();
    updateNew();
    hotspot.look();
    // Root names an image after the start that has read the name; the service has that of its start in all that it shows.
    const name = host.files()?.settings.network?.hostname;
    if (name !== undefined && name !== startedAs && name === hostname()) relaunch('the host name was set');
    // A copied disk: with its own node id the box has other devices.
    const isRetried = deviceKeys.isPending() && performance.now() - arrangedAt > KEYS_MS;
    if (service !== null && (service.nodeId !== arrangedFor || isRetried)) arrange();
  }, POLL_MS).unref();

  /** The service starts again with its secret once the page, which shows it, is closed. */
  let isSecretNew = false;

  const refuse = (reason: MaintenanceRefusal) => new Error(reason);

  /** Takes settings of config.json, which the windows follow. */
  const configure = async (change: (files: NonNullable<ReturnType<typeof host.files>>) => Partial<KioskSettings>) => {
    const files = host.files();
    if (files === null) throw refuse('noSettings');
    await files.configure(change(files));
    arrange();
  };

  const orders: Orders = {
    restart: async () => relaunch('restart was chosen on the maintenance page'),
    quit: appliance.quit,
    machine: async ({ action }) => {
      if (action === 'reboot' && appliance.isOnTrial()) throw refuse('onTrial');
      // Most of all where the service does not run.
      const answer = await (service?.end(action) ?? operate({ action }, { name: '', address: null }));
      if (!('result' in answer) || answer.result !== 'done') throw refuse('notTaken');
    },
    'sign in': async ({ session, address }, displayId) => {
      if (!sessions.list().some((each) => each.session === session && each.address === address))
        throw refuse('noSession');
      const shown = windows.list().find(({ assignment }) => assignment.display.id === displayId);
      if (shown === undefined) return;
      const { window, assignment } = shown;
      await signIn.begin(session, address, { window, displayId, rotation: assignment.rotation });
    },
    'signed in': async () => {
      if ((await signIn.finish()) === false) throw refuse('stillAsks');
    },
    'sign out': ({ session, address }) => sessions.signOut(session, address),
    hotspot: async ({ open }) => hotspot.look(open ? 'open' : 'close'),
    bind: async ({ display: wanted, screen }) => {
      const assignment = assignments().find(({ display }) => display.id === wanted);
      if (assignment !== undefined) await service?.bind(assignment.deviceId, screen);
      // There the service has no command that moves the pages of a device.
      if (service?.options.variant !== 'baseline') return;
      for (const window of windows.list()) if (window.assignment.deviceId === assignment?.deviceId) window.open();
    },
    rotate: ({ display, rotation }) =>
      configure(({ settings }) => withRotation(settings, assignments(), display, rotation)),
    displays: ({ displays }) => configure(() => ({ displays })),
    admin: async () => {
      if (service === null) throw refuse('noService');
      return { what: 'invitation', ...(await service.recover()) };
    },
    protect: async ({ secret: given }) => {
      if (service === null) throw refuse('noService');
      const { secret, config, boxes } = await service.protect(given);
      isSecretNew = true;
      return given === undefined
        ? { what: 'secret', secret, config, boxes: boxes.map(({ url }) => url) }
        : { what: 'entered' };
    },
  };

  const isPinGiven = (): boolean => host.files()?.settings.pin !== undefined;

  const maintenance = createMaintenance({
    openPage: ports.openPage,
    readPin: async () => {
      const files = host.files();
      if (files === null) return undefined;
      return files.settings.pin === undefined ? files.state.read().pin : hashPin(files.settings.pin);
    },
    savePin: async (pin) => host.files()?.state.update((state) => ({ ...state, pin })),
    isNew: () => {
      updateNew();
      return performance.now() < newUntil;
    },
    secret: () => service?.options.sharedSecret ?? null,
    view: () =>
      maintenanceView({
        version: ports.app.getVersion(),
        address: service === null ? null : host.lanUrl(service),
        root: service?.rootFingerprint() ?? null,
        timeZone: service?.timeZone() ?? null,
        site:
          service === null || service.options.variant === 'baseline'
            ? null
            : { isProtected: service.options.sharedSecret !== null || isSecretNew, pin: isPinGiven() },
        startError: service === null ? startError : null,
        updates: appliance.health().updates,
        screens: service?.screens().map(({ slug, name }) => ({ slug, name })) ?? [],
        settings: host.files()?.settings ?? null,
        assignments: assignments(),
        screenOf: (deviceId) => service?.screenOf(deviceId) ?? null,
        hours: (slug) => service?.hours(slug) ?? null,
        sessions: sessions.list(),
        signingIn: signIn.shown(),
        machine: paths.systemd.isWatched,
        canQuit: paths.system === null,
        hotspot: { phase: hotspot.phase(), shown: hotspot.shown() },
        log: host.lines(),
      }),
    isPinGiven,
    orders,
    onClosed: () => {
      signIn.end();
      if (isSecretNew && !isStopping) relaunch('the site was protected on the maintenance page');
    },
    windowOf: ({ display }) => windows.list().find(({ assignment }) => assignment.display.id === display.id)?.window,
  });

  const signIn = createSignIn({
    sessions,
    openPage: ports.openSignInPage,
    makeRoom: maintenance.makeRoom,
    onChord: () => {
      signIn.end();
      maintenance.close();
    },
  });

  const tryService = async (): Promise<HostedService | null> => {
    try {
      const started = await host.start();
      await ports.proxy.use(started.options);
      return started;
    } catch (error) {
      const before = startError;
      startError = startErrorOf(error);
      log.error({ err: error }, 'the service could not be started');
      if (JSON.stringify(startError) !== JSON.stringify(before)) windows.open();
      return null;
    }
  };

  return {
    /** Prepares the appliance; must be called before the first window is opened. */
    prepare: appliance.prepare,
    /** Opens the windows; while there is no service they show the trouble page. Returns how many windows are open. */
    openWindows: () => {
      arrange();
      appliance.ready();
      return windows.list().length;
    },
    /** Starts the service, with retries; resolves when it runs or the kiosk stops. */
    startService: async () => {
      while (service === null && !isStopping) {
        starting = tryService();
        service = await starting;
        if (service === null) await new Promise((resolve) => setTimeout(resolve, RETRY_MS).unref());
      }
      if (service === null || isStopping) return;
      console.log(`Signage player listening on ${service.url}`);
      const volume = host.files()?.state.read().volume;
      if (volume !== undefined) void setVolume(ports.execute, volume);
      followScreens(service);
      arrange();
      appliance.serve(service, screenOf);
      await sessions.load();
    },
    /** Must be called when displays were connected, removed or changed; once that settles, the windows follow. */
    displaysChanged,
    focus: () => windows.list()[0]?.window.focus(),
    /** The URL of the service for other machines, null where it does not run or there is no network, and whether it has a console. */
    network: () => ({
      address: service === null ? null : host.lanUrl(service),
      hasConsole: service?.options.console === true,
    }),
    /** The origin of the service; null: it does not run. */
    serviceOrigin: () => service?.url ?? null,
    health: () => {
      const off = windows
        .list()
        .map(({ assignment: { display, number } }) => (appliance.isOffByHand(display.id) ? { off: true, number } : {}));
      const { screens, ...rest } = windows.health();
      return {
        screens: screens.map((screen, index) => ({ ...screen, ...off[index] })),
        ...rest,
        ...appliance.health(),
        sessions: sessions.health(),
      };
    },
    /** The Wi-Fi of the box itself; null: it is not open. */
    hotspot: hotspot.shown,
    /** Acts on the machine and its displays. */
    operate,
    /** A JPEG screenshot of the display of a device; null: no display is this device, or it shows no screen. */
    capture: (deviceId: string) =>
      windows
        .list()
        .find(({ assignment }) => assignment.deviceId === deviceId)
        ?.capture() ?? null,
    isStopping: () => isStopping,
    /** Closes the windows, then the service. */
    stop: async () => {
      isStopping = true;
      displaysChanged.cancel();
      clearInterval(polling);
      hotspot.close();
      appliance.close();
      maintenance.close();
      // Before the service, so that it does not wait for the connections of its own pages.
      windows.close();
      await sessions.close();
      await (await starting)?.close();
      service = null;
    },
  };
};

export type Kiosk = ReturnType<typeof createKiosk>;
