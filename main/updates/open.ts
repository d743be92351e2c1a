/** Creates the updates for this build and this machine. */
import type { KeyObject } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import electronUpdater, { type AppUpdater } from 'electron-updater';
import type { Logger } from 'pino';
import { systemDisk } from '../../service/public.ts';
import type { KioskProxy } from '../proxy.ts';
import { readSystem } from '../system.ts';
import { createDownloads, readPublicKey } from './downloads.ts';
import { appImageInstaller, debInstaller, type Installer, imageInstaller, nsisInstaller } from './installers.ts';
import { createUpdates, type UpdateSettings, type Updates } from './updates.ts';

/** The used part of Electron's `app`. */
export interface UpdatesApp {
  isPackaged: boolean;
  getVersion(): string;
  getPath(name: 'home'): string;
  quit(): void;
}

interface UpdatesPorts {
  app: UpdatesApp;
  log: Logger;
  /** Restarts the app, from its path. */
  relaunch(reason: string): void;
  /** Called before this process is replaced by another version. Never rejects. */
  beforeInstall(): Promise<void>;
  /** The settings, whose `feed` is null for the one that the build names; null: not known yet. */
  settings(): UpdateSettings | null;
  isHealthy(): boolean | null | Promise<boolean | null>;
  /** Gives the outgoing proxy its user and password. */
  answerProxy: KioskProxy['answer'];
  /** Makes electron-updater's part for this platform and package. */
  createUpdater?: (platform: NodeJS.Platform, appImage: string | null) => AppUpdater;
}

interface OpenOptions {
  platform: NodeJS.Platform;
  dataDir: string;
  resourcesDir: string;
  /** The path of the AppImage that contains this program; null: none. */
  appImage: string | null;
  /** The file with the state of an image's systems; null: not an image. */
  system: string | null;
  /** When this program was built, in ms since the epoch. */
  builtAt: number;
  /** Whether the shell launcher of Windows starts the program again once it has ended: then no installer does. */
  isSupervised: boolean;
}

// electron-updater's own choice is wrong: the marker file of the deb is in the AppImage too, made from the same folder.
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

/** A value in electron-builder's app-update.yml, which has one per line. */
const settingOf = (yaml: string | null, name: string): string | null =>
  new RegExp(`^${name}: (.+)$`, 'm').exec(yaml ?? '')?.[1]?.trim() ?? null;

/** The public key of the build; null: none, or an invalid one, which must not keep a screen from playing. */
const keyIn = (resourcesDir: string, log: Logger): KeyObject | null => {
  const pem = read(join(resourcesDir, 'update-key.pem'));
  if (pem === null) return null;
  try {
    return readPublicKey(pem);
  } catch (error) {
    log.error({ err: error }, 'the public key for updates is invalid');
    return null;
  }
};

export const openUpdates = (ports: UpdatesPorts, options: OpenOptions): Updates => {
  const { app, log, relaunch, settings, beforeInstall, isHealthy, createUpdater = updaterOf } = ports;
  const { platform, dataDir, resourcesDir, appImage, system, builtAt, isSupervised } = options;
  const updatesDir = join(dataDir, 'updates');
  const key = app.isPackaged ? keyIn(resourcesDir, log) : null;
  const built = read(join(resourcesDir, 'app-update.yml'));
  const updater = key === null ? null : createUpdater(platform, appImage);
  updater?.on('login', ports.answerProxy);
  if (updater === null) log.info('this build has no public key for updates, so it does not update itself');

  const installerOf = (): Installer => {
    if (platform === 'win32') {
      const cache = join(app.getPath('home'), 'AppData', 'Local', settingOf(built, 'updaterCacheDirName') ?? '');
      return nsisInstaller({
        installed: join(cache, 'installer.exe'),
        kept: join(updatesDir, 'previous-setup.exe'),
        starts: !isSupervised,
        free: () => systemDisk.free(dirname(process.execPath)),
        runDownloaded: () => updater?.quitAndInstall(true, !isSupervised),
        quit: app.quit,
      });
    }
    if (system !== null) return imageInstaller(updatesDir, () => readSystem(system));
    if (appImage === null) return debInstaller(updatesDir);
    return appImageInstaller(appImage, () => relaunch('the AppImage was replaced by an update'));
  };

  return createUpdates(
    {
      log,
      installer: installerOf(),
      downloads:
        updater === null || key === null
          ? null
          : createDownloads(
              { updater, log, key },
              { readyDir: join(updatesDir, 'ready'), ...(system !== null && { kind: 'image' }) },
            ),
      settings: () => {
        const chosen = settings();
        return chosen && { ...chosen, feed: chosen.feed ?? settingOf(built, 'url') };
      },
      beforeInstall,
      isHealthy,
      now: Date.now,
      monotonicNow: () => performance.now(),
      random: Math.random,
    },
    { version: app.getVersion(), updatesDir, builtAt },
  );
};
