/** What makes the app an appliance: provisioning, autostart, watchdog, updates, and displays that follow opening hours. */
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { type KioskHealth, type KioskSettings, readBuiltAt } from '../service/public.ts';
import type { Paths } from './paths.ts';
import { createLock, hashPin } from './pin.ts';
import { openDark, openOverrides } from './power/kept.ts';
import type { Panel } from './power/panels.ts';
import { createPower, type Power } from './power/power.ts';
import { createProvisioning, mayHaveBeenBound, type Proof, provisioningSources } from './provisioning.ts';
import type { KioskProxy } from './proxy.ts';
import type { HostedService, ServiceHost } from './service-host.ts';
import { orderRoot } from './updates/installers.ts';
import { openUpdates, type UpdatesApp } from './updates/open.ts';
import { createWatchdog } from './watchdog.ts';
import type { DisplayWindows } from './windows/display-windows.ts';
import type { DisplayIdentity } from './windows/displays.ts';

export interface AutostartApp {
  isPackaged: boolean;
  getLoginItemSettings(): { openAtLogin: boolean };
  setLoginItemSettings(settings: { openAtLogin: boolean }): void;
}

/** @param isSupervised whether it is the shell of the account, which starts after what starts with the login */
export const startWithLogin = (app: AutostartApp, platform: NodeJS.Platform, isSupervised: boolean): void => {
  const openAtLogin = !isSupervised;
  if (platform !== 'win32' || !app.isPackaged || app.getLoginItemSettings().openAtLogin === openAtLogin) return;
  app.setLoginItemSettings({ openAtLogin });
};

export interface AppliancePorts {
  app: AutostartApp & UpdatesApp;
  host: Pick<ServiceHost, 'log' | 'dataDir' | 'checkConfig' | 'files'>;
  /** The displays that are connected. */
  displays(): readonly unknown[];
  windows: Pick<DisplayWindows, 'list' | 'health' | 'suspendRecovery' | 'blackout'>;
  /** The ways to switch the displays on and off, the best one first. */
  panels: readonly Panel[];
  /** Prevents the system from turning the displays off. */
  keepAwake(on: boolean): void;
  /** Gives the outgoing proxy its user and password. */
  answerProxy: KioskProxy['answer'];
  /** Null if the service does not run. */
  service(): HostedService | null;
  /** Restarts the app. */
  relaunch(reason: string): void;
}

const PROVISIONING_MS = 5_000;
/** How long the start waits for a configuration: a USB stick may never answer. */
const PROVISIONING_TIMEOUT_MS = 10_000;
/** How long the previous version takes to start. */
const ROLLBACK_MS = 60_000;
/** How long root takes to stop the kiosk. */
const ORDER_MS = 5_000;
/** A page that sent a heartbeat within this time is alive, whether it paints or not. */
const ALIVE_MS = 60_000;

/** How often pages had to be opened again: an update that crashes them is rolled back. */
const crashesOf = ({ recoveries }: Pick<KioskHealth, 'recoveries'>): number =>
  recoveries.recreate + recoveries.fallback + recoveries.relaunch;

export const createAppliance = (
  { app, host, windows, displays, panels, keepAwake, answerProxy, service, relaunch }: AppliancePorts,
  paths: Pick<
    Paths,
    'rendererDir' | 'resourcesDir' | 'appImage' | 'isSupervised' | 'painted' | 'session' | 'system' | 'systemd'
  >,
) => {
  const { log, dataDir } = host;
  const { platform } = process;
  const builtAt = readBuiltAt(paths.rendererDir);
  // Outside opening hours pages need not paint.
  const paints = (window: ReturnType<DisplayWindows['list']>[number]): boolean =>
    window.isBlack() ? window.silentMs() < ALIVE_MS : window.health().state === 'playing';
  // A compositor that does not start has none either, which is a fault.
  const hasNoDisplay = (): boolean => paths.session?.renderer !== 'none' && displays().length === 0;
  const isPainting = (): boolean => hasNoDisplay() || windows.list().some(paints);
  const watchdog = createWatchdog({ log, isPainting }, { ...paths.systemd, painted: paths.painted });
  const stickLock = createLock(() => performance.now());
  const isRight = async ({ what, value }: Proof): Promise<boolean | null> => {
    const files = host.files();
    const running = service();
    if (files === null || (what === 'secret' && running === null)) return null;
    const given = what === 'secret' ? running?.options.sharedSecret : files.settings.pin;
    const stored = given == null ? (what === 'pin' ? files.state.read().pin : null) : await hashPin(given);
    if (stored === null) return false;
    return stickLock.isWaiting() ? null : (await stickLock.try(value, stored)).open;
  };
  const provisioning = createProvisioning(
    {
      log,
      check: host.checkConfig,
      isRight,
      // Before the service starts, and where it cannot, its file tells.
      wasBound: () => host.files()?.state.read().past.bound ?? mayHaveBeenBound(join(dataDir, 'kiosk.json')),
      isProtected: () => {
        const files = host.files();
        const running = service();
        if (files === null || running === null) return null;
        return (files.settings.pin ?? files.state.read().pin ?? running.options.sharedSecret ?? null) !== null;
      },
      setNetwork: async (network) => host.files()?.configure({ network: network as KioskSettings['network'] }),
    },
    { dataDir, sources: provisioningSources(platform, dirname(paths.appImage ?? process.execPath)) },
  );
  const importConfig = (): Promise<boolean> =>
    provisioning.poll().catch((error: unknown) => {
      log.warn({ err: error }, 'the search for a configuration failed');
      return false;
    });
  const relaunchIfImported = (isImported: boolean): void => {
    if (isImported) relaunch('a configuration was imported');
  };
  let power: Power | null = null;
  let polling: NodeJS.Timeout | undefined;

  let crashes = 0;
  /** Whether all displays play, and no page had to be recovered since the previous call; null: there is no display. */
  const isHealthy = (): boolean | null => {
    const health = windows.health();
    const before = crashes;
    crashes = crashesOf(health);
    if (service() !== null && hasNoDisplay()) return null;
    if (service() === null || health.screens.length === 0 || crashes > before) return false;
    return windows.list().every(paints);
  };

  const updates = openUpdates(
    {
      app,
      log,
      relaunch,
      isHealthy,
      answerProxy,
      beforeInstall: async () => service()?.beginUpdate(),
      settings: () => {
        const running = service();
        if (running === null) return null;
        const { updates } = running.options.kiosk;
        const timeZone = running.timeZone();
        return { ...updates, feed: updates.feed ?? null, peers: running.updateFeeds(), timeZone };
      },
    },
    { ...paths, platform, dataDir, builtAt },
  );

  return {
    /**
     * Imports a configuration, and checks whether this version may run. If it may not, the app ends before this resolves;
     * if the rollback fails, it resolves, because an old picture is better than none.
     */
    prepare: async () => {
      keepAwake(true);
      startWithLogin(app, platform, paths.isSupervised);
      if (app.isPackaged) {
        const imported = importConfig();
        const isLate = await Promise.race([
          imported.then(() => false),
          wait(PROVISIONING_TIMEOUT_MS, true, { ref: false }),
        ]);
        // By then the service has read the previous configuration.
        if (isLate) void imported.then(relaunchIfImported);
      }
      if (!(await updates.mayRun())) await wait(ROLLBACK_MS);
      updates.start();
    },
    /** Reports that windows are open to the watchdog. */
    ready: watchdog.ready,
    /** From now on the displays follow the opening hours of the service's content. */
    serve: (running: HostedService, screenOf: (display: DisplayIdentity) => string | null) => {
      const state = host.files()?.state;
      const dark = openDark({ log, state }, (id) => assignmentOf(id));
      /** As of the start; by IDs that no display has. */
      const gone = dark.displays();
      const assignmentOf = (id: number) =>
        id < 0 ? gone[-1 - id] : windows.list().find(({ assignment }) => assignment.display.id === id)?.assignment;
      const hoursOf = (display: DisplayIdentity) => {
        const slug = screenOf(display);
        return {
          hours: slug === null ? null : running.hours(slug),
          isEmergency: slug !== null && running.isEmergency(slug),
        };
      };
      power = createPower(
        {
          log,
          displays: () => {
            const shown = windows
              .list()
              .map(({ assignment }) => ({ ...assignment.display, ...hoursOf(assignment), isGone: false }));
            const bounds = { x: 0, y: 0, width: 0, height: 0 };
            return shown.length > 0
              ? shown
              : gone.map((each, index) => ({ id: -1 - index, bounds, ...hoursOf(each), isGone: true }));
          },
          panels,
          blackout: windows.blackout,
          keepAwake,
          suspendRecovery: windows.suspendRecovery,
          overrides: openOverrides({ log, state }, (id) => assignmentOf(id)?.deviceId),
          dark,
          now: Date.now,
          monotonicNow: () => performance.now(),
        },
        { timeZone: running.timeZone, builtAt },
      );
      power.start();
      if (!app.isPackaged) return;
      polling = setInterval(() => void importConfig().then(relaunchIfImported), PROVISIONING_MS);
    },
    health: () => {
      const { on, changesAt, by } = power?.status() ?? { on: true, changesAt: null, by: 'none' };
      const next = changesAt === null ? null : new Date(changesAt).toISOString();
      return { displays: { on, changesAt: next, by }, updates: updates.status() };
    },
    /** As {@link Power.switchTo}; null: there is no service yet. */
    switchTo: (...given: Parameters<Power['switchTo']>) => power?.switchTo(...given) ?? null,
    /** See {@link Power}. */
    isOffByHand: (id: number): boolean => power?.isOffByHand(id) ?? false,
    /** Whether the running version is on trial. */
    isOnTrial: () => updates.status().onTrial,
    /** Ends the kiosk; its supervisor does not restart it. */
    quit: async () => {
      // systemd restarts an app that ends by itself; only root can stop the unit.
      if (paths.systemd.isWatched) {
        await orderRoot(join(dataDir, 'updates'), 'quit');
        await wait(ORDER_MS);
      }
      app.quit();
    },
    close: () => {
      clearInterval(polling);
      updates.close();
      watchdog.close();
      power?.close();
    },
  };
};

export type Appliance = ReturnType<typeof createAppliance>;
