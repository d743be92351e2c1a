/** The kiosk: one app that hosts the service and shows its pages. */
import { totalmem } from 'node:os';
import { setTimeout as wait } from 'node:timers/promises';
import { app, Menu, screen } from 'electron';
import { createAppliance } from './appliance.ts';
import { assignSlots, type Place, placesOf, type Slot, titleOf } from './displays.ts';
import { guardEverything } from './guard.ts';
import { boxIdOf } from './identity.ts';
import { createMaintenance } from './maintenance.ts';
import { ownMemory } from './memory.ts';
import { registerOwnPages, serveOwnPages } from './own-pages.ts';
import { findPaths } from './paths.ts';
import { hashPin } from './pin.ts';
import { createPlacement } from './placement.ts';
import { run } from './programs.ts';
import { gpuLost } from './recovery-policy.ts';
import { createRelaunch } from './relaunch.ts';
import { openRendering, STEP_MS } from './rendering.ts';
import { createScreens } from './screens.ts';
import {
  createServiceHost,
  EXIT_CONFIG,
  type Fault,
  faultOf,
  type HostedService,
  type MaintenanceOrder,
} from './service-host.ts';
import { withRotation } from './settings.ts';
import { refusal, refusedSwitches } from './switches.ts';
import { troublePage } from './trouble.ts';
import { viewOf } from './view.ts';

/** How long to wait before a failed start of the service is retried, in ms. */
const RETRY_MS = 3_000;
/** The deadline for closing everything on quit, in ms. */
const STOP_MS = 5_000;

let service: HostedService | null = null;
let fault: Fault | null = null;
let isStopping = false;

const paths = findPaths();
const rendering = openRendering(paths.rendering);

const host = createServiceHost(paths, () => ({
  ...screens.health(),
  ...appliance.health(),
  rendering: rendering.isSoftware ? 'software' : 'hardware',
}));
const { log } = host;

const relaunch = createRelaunch({ app, log, lendSecrets: host.lendSecrets, isStopping: () => isStopping }, paths);

const screens = createScreens(
  {
    log,
    pageOf: ({ deviceId, screen: fixed }) => {
      if (service === null) return null;
      const slug = fixed ?? service.screenOf(deviceId);
      const path = slug === null ? '/' : `/screen/${slug}`;
      return `${service.url}${path}?deviceId=${encodeURIComponent(deviceId)}`;
    },
    troublePage: (retryMs) =>
      service === null && fault === null ? null : troublePage(service === null ? fault : null, retryMs ?? RETRY_MS),
    memoryByProcess: () =>
      new Map(app.getAppMetrics().map(({ pid, memory }) => [pid, ownMemory(pid, memory.workingSetSize * 1024)])),
    onRelaunch: relaunch,
    onChord: (place) => maintenance.toggle(place),
    onCloseRequest: () => maintenance.close(),
  },
  { preload: paths.preload.player, memory: totalmem() },
);

const appliance = createAppliance({
  host,
  paths,
  screens,
  service: () => service,
  onRelaunch: relaunch,
});

const placement = createPlacement({ log, execute: run }, paths);

const placesNow = (): Place[] => screens.list().map(({ place }) => place);

/** Handles the requests of the maintenance page. @throws Error with a message for the user */
const obey = async (order: MaintenanceOrder): Promise<void> => {
  const files = host.files();
  if (order.do === 'restart') return relaunch('the maintenance page asked for it');
  if (order.do === 'quit') return appliance.quit();
  if (files === null) throw new Error('The settings can not be read');
  if (order.do === 'bind') {
    const place = placesNow().find(({ display }) => display.id === order.display);
    if (place !== undefined) await service?.bind(place.deviceId, order.screen);
    return;
  }
  await files.configure(
    order.do === 'rotate'
      ? withRotation(files.settings, placesNow(), order.display, order.rotation)
      : { displays: order.displays },
  );
  arrange();
};

const maintenance = createMaintenance(
  {
    pin: async () => {
      const files = host.files();
      if (files === null) return undefined;
      return files.settings.pin === undefined ? files.state.read().pin : hashPin(files.settings.pin);
    },
    keepPin: async (pin) => host.files()?.state.update((state) => ({ ...state, pin })),
    view: () =>
      viewOf({
        version: app.getVersion(),
        address: service === null ? null : host.lanUrl(service),
        fault: service === null ? fault : null,
        updates: appliance.health().updates,
        screens: service?.screens().map(({ slug, name }) => ({ slug, name })) ?? [],
        settings: host.files()?.settings ?? null,
        places: placesNow(),
        screenOf: (deviceId) => service?.screenOf(deviceId) ?? null,
        hours: (slug) => service?.hours(slug) ?? null,
        log: host.lines(),
      }),
    obey,
    windowOf: ({ display }) => screens.list().find(({ place }) => place.display.id === display.id)?.window,
  },
  { preload: paths.preload.maintenance },
);

/** Logs a fatal error and ends the app; its supervisor starts it again. */
const fail = (error: unknown): void => {
  log.fatal({ err: error }, 'the kiosk can not go on');
  app.exit(1);
};

// Phase 1: allow a single instance, without remote debugging.
const takeLock = (): boolean => {
  const refused = app.isPackaged ? refusedSwitches(process.argv.slice(1)) : [];
  if (refused.length > 0) {
    console.error(refusal(refused, paths.appImage));
    app.exit(EXIT_CONFIG);
    return false;
  }
  if (app.requestSingleInstanceLock()) return true;
  app.quit();
  return false;
};

/** A failed write must not end playback: after a restart the disk would still be full. */
const keepRendering = (act: () => void): void => {
  try {
    act();
  } catch (error) {
    log.error({ err: error }, 'the rendering mode could not be saved for the next start');
  }
};

// Phase 2: handle crashes.
const handleCrashes = (): void => {
  process.on('uncaughtException', fail);
  process.on('unhandledRejection', fail);
  let losses: readonly number[] = [];
  app.on('child-process-gone', (_event, { type, reason }) => {
    log.warn({ type, reason }, 'a process of the kiosk ended');
    if (type !== 'GPU' || rendering.isSoftware) return;
    const judged = gpuLost(losses, performance.now());
    losses = judged.losses;
    if (!judged.isUnfit) return;
    keepRendering(() => {
      rendering.giveUpGpu();
      relaunch('the GPU process was lost too often');
    });
  });
  if (!rendering.isSoftware) return;
  app.disableHardwareAcceleration();
  const step = (): void => {
    if (rendering.step()) relaunch('the GPU is tried again');
  };
  setInterval(() => keepRendering(step), STEP_MS).unref();
};

/** The slots of the displays; null: the saved ones are not loaded yet. */
let slots: readonly Slot[] | null = null;

/** Assigns each display its slot, without waiting for the disk: displays may change while it writes. */
const arrange = (): void => {
  const displays = screen.getAllDisplays();
  // If all displays are off, keep the windows for when one is back.
  if (displays.length === 0 || isStopping) return;
  const primaryId = screen.getPrimaryDisplay().id;
  const ordered = displays.toSorted((a, b) => Number(b.id === primaryId) - Number(a.id === primaryId));
  const files = host.files();
  const before = slots ?? files?.state.read().slots ?? [];
  const next = assignSlots(before, ordered);
  if (files !== null) {
    slots = next;
    if (JSON.stringify(next) !== JSON.stringify(before)) {
      // A full disk must not keep a display from playing; the next start may assign different slots.
      files.state
        .update((state) => ({ ...state, slots: next }))
        .catch((error: unknown) => log.error({ err: error }, 'the slots of the displays could not be saved'));
    }
  }
  const places = placesOf({
    displays,
    primaryId,
    slots: next,
    settings: files?.settings ?? { displays: 'all', rotation: 0 },
    boxId: service === null ? '' : boxIdOf(service.nodeId),
  });
  screens.arrange(places);
  placement.arrange(places.map(({ display }) => ({ title: titleOf(display), bounds: display.bounds })));
  maintenance.arrange(places);
};

// Phase 3: open the windows at once; without a service they show a status page.
const openWindows = (): void => {
  Menu.setApplicationMenu(null);
  arrange();
  // `npm start` falls back to the headless service where Electron ends before this.
  if (screens.list().length > 0) process.send?.('window-opened');
  screen.on('display-added', arrange);
  screen.on('display-removed', arrange);
  screen.on('display-metrics-changed', arrange);
  app.on('second-instance', () => screens.list()[0]?.window.focus());
  appliance.ready();
};

const tryService = async (): Promise<HostedService | null> => {
  try {
    return await host.start();
  } catch (error) {
    const before = fault;
    fault = faultOf(error);
    log.error({ err: error }, 'the service could not be started');
    if (JSON.stringify(fault) !== JSON.stringify(before)) screens.open();
    return null;
  }
};

// Phase 4: start the service, with retries.
const hostService = async (): Promise<void> => {
  while (service === null && !isStopping) {
    service = await tryService();
    if (service === null) await wait(RETRY_MS);
  }
  if (service === null || isStopping) return;
  console.log(`Signage player listening on ${service.url}`);
  arrange();
  appliance.serve(service);
};

// Phase 5: quit.
const stopWell = (): void => {
  app.on('before-quit', (event) => {
    if (isStopping && service === null) return;
    event.preventDefault();
    if (isStopping) return;
    isStopping = true;
    setTimeout(() => app.exit(1), STOP_MS).unref();
    appliance.close();
    // First, so that the service does not wait for the connections of its own pages.
    maintenance.close();
    placement.close();
    screens.close();
    void Promise.resolve(service?.close())
      .catch((error: unknown) => log.error({ err: error }, 'the service did not stop cleanly'))
      .finally(() => {
        service = null;
        app.quit();
      });
  });
  for (const signal of ['SIGTERM', 'SIGINT'] as const) process.on(signal, () => app.quit());
};

app.enableSandbox();
// A locked keyring would show a password dialog over the page.
app.commandLine.appendSwitch('password-store', 'basic');
registerOwnPages();
handleCrashes();
if (takeLock()) {
  guardEverything({ origin: () => service?.url ?? null });
  stopWell();
  const boot = async (): Promise<void> => {
    await app.whenReady();
    serveOwnPages(paths.pagesDir);
    await appliance.prepare();
    openWindows();
    await hostService();
  };
  boot().catch(fail);
}
