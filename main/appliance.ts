/** What makes an app an appliance: it is configured, watched and updated, and its displays keep hours, with nobody there. */
import { dirname, join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { app, powerSaveBlocker } from 'electron';
import { startWithLogin } from './autostart.ts';
import { readBuiltAt } from './built.ts';
import type { Paths } from './paths.ts';
import { systemPanels } from './power/panels.ts';
import { createPower, type Power } from './power/power.ts';
import { createFirstConfig, searchedBy } from './provisioning.ts';
import type { Screens } from './screens.ts';
import type { HostedService, KioskHealth, ServiceHost } from './service-host.ts';
import { orderRoot } from './updates/installers.ts';
import { openUpdates } from './updates/open.ts';
import { createWatchdog } from './watchdog.ts';

interface Dependencies {
  host: Pick<ServiceHost, 'log' | 'dataDir' | 'checkConfig'>;
  paths: Pick<Paths, 'rendererDir' | 'resourcesDir' | 'appImage' | 'systemd'>;
  screens: Pick<Screens, 'list' | 'health' | 'rest' | 'blackout'>;
  /** Null while there is none. */
  service(): HostedService | null;
  /** Starts the app anew. */
  onRelaunch(reason: string): void;
}

export interface Appliance {
  /**
   * Before anything else is begun: takes in a first configuration, and asks whether this version may run. Where it may
   * not, the app ends before this resolves; where it ought to have ended but did not, it runs on rather than show nothing.
   */
  prepare(): Promise<void>;
  /** There are windows: whoever watches the app is told. */
  ready(): void;
  /** The service is there: the displays keep its hours. */
  serve(service: HostedService): void;
  health(): Pick<KioskHealth, 'displays' | 'updates'>;
  /** Ends the kiosk until somebody starts it again. */
  quit(): Promise<void>;
  close(): void;
}

/** How often a box looks for a configuration. */
const CONFIG_MS = 5_000;
/** A stick that does not answer must not keep a screen from playing. */
const CONFIG_PATIENCE_MS = 10_000;
/** So long the version before this one takes to come back. */
const END_MS = 60_000;
/** So long root takes to stop the kiosk. */
const ORDER_MS = 5_000;
/** A page that is heard of within this is alive, whether it paints or not. */
const ALIVE_MS = 60_000;

/** How often screens had to be made anew: a version under which they do crashes. */
const crashesOf = ({ recoveries }: Pick<KioskHealth, 'recoveries'>): number =>
  recoveries.recreate + recoveries.fallback + recoveries.relaunch;

export const createAppliance = (deps: Dependencies): Appliance => {
  const { host, paths, screens, service } = deps;
  const { log, dataDir } = host;
  const { platform } = process;
  const builtAt = readBuiltAt(paths.rendererDir);
  const watchdog = createWatchdog({ log }, paths.systemd);
  const firstConfig = createFirstConfig(
    { log, check: host.checkConfig },
    { dataDir, places: searchedBy(platform, dirname(paths.appImage ?? process.execPath)) },
  );
  const lookForConfig = (): Promise<boolean> =>
    firstConfig.look().catch((error: unknown) => {
      log.warn({ err: error }, 'no configuration could be looked for');
      return false;
    });
  const startWithConfig = (isNew: boolean): void => {
    if (isNew) deps.onRelaunch('a configuration was found');
  };
  let power: Power | null = null;
  let looking: NodeJS.Timeout | undefined;

  let crashes = 0;
  const isWell = (): boolean => {
    const health = screens.health();
    const before = crashes;
    crashes = crashesOf(health);
    if (service() === null || health.screens.length === 0 || crashes > before) return false;
    // In closed hours nothing is painted, and that is well.
    const isClosed = power?.status().on === false;
    return isClosed
      ? screens.list().every((screen) => screen.silentMs() < ALIVE_MS)
      : health.screens.every(({ state }) => state === 'playing');
  };

  const updates = openUpdates(
    {
      app,
      log,
      relaunch: deps.onRelaunch,
      isWell,
      settings: () => {
        const running = service();
        if (running === null) return null;
        const { kiosk, timeZone } = running.options;
        return { ...kiosk.updates, feed: kiosk.updates.feed ?? null, peers: running.updateFeeds(), timeZone };
      },
    },
    { platform, dataDir, resourcesDir: paths.resourcesDir, appImage: paths.appImage, builtAt },
  );

  let blocker: number | null = null;
  const stayAwake = (awake: boolean): void => {
    if (awake === (blocker !== null)) return;
    if (blocker !== null) powerSaveBlocker.stop(blocker);
    blocker = awake ? powerSaveBlocker.start('prevent-display-sleep') : null;
  };

  return {
    prepare: async () => {
      stayAwake(true);
      startWithLogin(app, platform);
      if (app.isPackaged) {
        const found = lookForConfig();
        const isLate = await Promise.race([found.then(() => false), wait(CONFIG_PATIENCE_MS, true, { ref: false })]);
        // Whatever else reads the configuration has done so by then.
        if (isLate) void found.then(startWithConfig);
      }
      if (!(await updates.mayRun())) await wait(END_MS);
      updates.start();
    },
    ready: watchdog.ready,
    serve: (running) => {
      power = createPower(
        {
          log,
          hours: () =>
            screens.list().map(({ place }) => {
              const slug = place.screen ?? running.screenOf(place.deviceId);
              return slug === null ? null : running.hours(slug);
            }),
          panels: systemPanels(platform),
          cover: screens.blackout,
          stayAwake,
          rest: screens.rest,
          now: Date.now,
          steady: () => performance.now(),
        },
        { timeZone: running.options.timeZone, builtAt },
      );
      power.start();
      if (!app.isPackaged) return;
      looking = setInterval(() => void lookForConfig().then(startWithConfig), CONFIG_MS);
    },
    health: () => {
      const { on, changesAt, by } = power?.status() ?? { on: true, changesAt: null, by: 'none' };
      const next = changesAt === null ? null : new Date(changesAt).toISOString();
      return { displays: { on, changesAt: next, by }, updates: updates.status() };
    },
    quit: async () => {
      // Whatever ends by itself, systemd starts again; root alone can have it stay away.
      if (paths.systemd.isWatched) {
        await orderRoot(join(dataDir, 'updates'), 'quit');
        await wait(ORDER_MS);
      }
      app.quit();
    },
    close: () => {
      clearInterval(looking);
      updates.close();
      watchdog.close();
      power?.close();
    },
  };
};
