import { join } from 'node:path';
import { app } from 'electron';
import { ownAppImage } from './app-image.ts';

/** Where things are, packaged or run from a checkout. */
export interface Paths {
  /** The platform's folder for this app's data; `SIGNAGE_DATA_DIR` goes before it. */
  dataDir: string;
  rendererDir: string;
  resourcesDir: string;
  /** The kiosk's own pages, which need no service. */
  pagesDir: string;
  /** The preload scripts, by what they are for. */
  preload: { player: string; maintenance: string };
  /** Says whether the box draws without its GPU. */
  rendering: string;
  /** The AppImage that the app was started from; null: it is none. */
  appImage: string | null;
  /** What systemd waits for, as sd_notify(3) and sd_watchdog_enabled(3) have it. */
  systemd: { isWatched: boolean; intervalMs: number | null };
  /** Whether the compositor is sway, which its windows and outputs can be asked of (`SWAYSOCK`). */
  isSway: boolean;
}

export const findPaths = (): Paths => {
  const dist = join(app.getAppPath(), 'dist');
  const { APPIMAGE, APPDIR, NOTIFY_SOCKET, WATCHDOG_USEC, SWAYSOCK } = process.env;
  return {
    dataDir: app.getPath('userData'),
    rendererDir: join(dist, 'renderer'),
    resourcesDir: app.isPackaged ? process.resourcesPath : join(app.getAppPath(), 'resources'),
    pagesDir: join(dist, 'main', 'pages'),
    preload: {
      player: join(dist, 'main', 'preload', 'player.cjs'),
      maintenance: join(dist, 'main', 'preload', 'maintenance.cjs'),
    },
    rendering: join(app.getPath('userData'), 'software-rendering'),
    appImage: ownAppImage({ image: APPIMAGE, mount: APPDIR }, process.execPath),
    systemd: {
      isWatched: NOTIFY_SOCKET !== undefined,
      intervalMs: WATCHDOG_USEC === undefined ? null : Number(WATCHDOG_USEC) / 1000,
    },
    isSway: SWAYSOCK !== undefined,
  };
};
