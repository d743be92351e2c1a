/** Updates as this build and this machine have them. */
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import electronUpdater, { type AppUpdater } from 'electron-updater';
import type { Logger } from 'pino';
import { createDownloads } from './downloads.ts';
import { appImageInstaller, debInstaller, type Installer, nsisInstaller } from './installers.ts';
import { minutesOf } from './quiet.ts';
import { readPublicKey } from './signature.ts';
import { createUpdates, type Updates } from './updates.ts';

interface Dependencies {
  /** Electron's. */
  app: {
    isPackaged: boolean;
    getVersion(): string;
    getPath(name: 'home'): string;
    quit(): void;
  };
  log: Logger;
  /** Starts the app anew: whatever is in its place by then. */
  relaunch(reason: string): void;
  /** What the box is told to do; null: not known yet. */
  settings(): UpdateChoice | null;
  isWell(): boolean | Promise<boolean>;
  /** Makes electron-updater's part for this platform and package. */
  createUpdater?: (platform: NodeJS.Platform, appImage: string | null) => AppUpdater;
}

interface OpenOptions {
  platform: NodeJS.Platform;
  dataDir: string;
  resourcesDir: string;
  /** The AppImage that runs; null: it is none. */
  appImage: string | null;
  /** Of this program, ms since the epoch. */
  builtAt: number;
}

export interface UpdateChoice {
  /** The address of a release folder; null: the one that the build names. */
  feed: string | null;
  /** Release folders of other boxes. */
  peers: readonly string[];
  channel: string;
  /** `HH:MM-HH:MM`, by the site's clocks. */
  hours: string;
  timeZone: string;
}

// Not its own choice: what a deb leaves in the folder that both are made from is in the AppImage too.
const updaterOf = (platform: NodeJS.Platform, appImage: string | null): AppUpdater => {
  if (platform === 'win32') return new electronUpdater.NsisUpdater();
  return appImage === null ? new electronUpdater.DebUpdater() : new electronUpdater.AppImageUpdater();
};

const read = (path: string): string | null => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return null;
  }
};

/** One value of electron-builder's app-update.yml, which has one a line. */
const settingOf = (yaml: string | null, name: string): string | null =>
  new RegExp(`^${name}: (.+)$`, 'm').exec(yaml ?? '')?.[1]?.trim() ?? null;

/** The key that the build trusts; null: it has none. A bad one must not keep a screen from playing. */
const keyIn = (resourcesDir: string, log: Logger): KeyObject | null => {
  const pem = read(join(resourcesDir, 'update-key.pem'));
  if (pem === null) return null;
  try {
    return readPublicKey(pem);
  } catch (error) {
    log.error({ err: error }, 'the key for updates can not be used');
    return null;
  }
};

export const openUpdates = (deps: Dependencies, options: OpenOptions): Updates => {
  const { app, log, relaunch, settings, isWell, createUpdater = updaterOf } = deps;
  const { platform, dataDir, resourcesDir, appImage, builtAt } = options;
  const updatesDir = join(dataDir, 'updates');
  const key = app.isPackaged ? keyIn(resourcesDir, log) : null;
  const built = read(join(resourcesDir, 'app-update.yml'));
  const updater = key === null ? null : createUpdater(platform, appImage);
  if (updater === null) log.info('this build has no key for updates, so it does not update itself');

  const installerOf = (): Installer => {
    if (platform === 'win32') {
      const cache = join(app.getPath('home'), 'AppData', 'Local', settingOf(built, 'updaterCacheDirName') ?? '');
      return nsisInstaller({
        installed: join(cache, 'installer.exe'),
        kept: join(updatesDir, 'previous-setup.exe'),
        runDownloaded: () => updater?.quitAndInstall(true, true),
        quit: app.quit,
      });
    }
    if (appImage === null) return debInstaller(updatesDir);
    return appImageInstaller(appImage, () => relaunch('another version is in its place'));
  };

  return createUpdates(
    {
      log,
      installer: installerOf(),
      downloads:
        updater === null || key === null
          ? null
          : createDownloads({ updater, log, key }, { readyDir: join(updatesDir, 'ready') }),
      settings: () => {
        const chosen = settings();
        if (chosen === null) return null;
        const { feed, peers, channel, hours, timeZone } = chosen;
        const [from = '', until = ''] = hours.split('-');
        const quiet = { from: minutesOf(from), until: minutesOf(until) };
        return { feed: feed ?? settingOf(built, 'url'), peers, channel, quiet, timeZone };
      },
      isWell,
      now: Date.now,
      steady: () => performance.now(),
      random: Math.random,
    },
    { version: app.getVersion(), updatesDir, builtAt },
  );
};
