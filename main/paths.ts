import { realpathSync } from 'node:fs';
import { isAbsolute, join, relative } from 'node:path';
import type { App } from 'electron';

/**
 * Detects an AppImage by the environment variables of its runtime, which its child processes inherit.
 * @param image `APPIMAGE`: the path of the AppImage
 * @param mount `APPDIR`: where it is mounted
 * @param program the path of the running program
 * @returns the path of the AppImage that contains the program; null: none does, though its parent process may run from one
 */
export const ownAppImage = (
  { image, mount }: { image: string | undefined; mount: string | undefined },
  program: string,
): string | null => {
  if (!image || !mount) return null;
  try {
    const inside = relative(realpathSync(mount), realpathSync(program));
    return inside.startsWith('..') || isAbsolute(inside) ? null : image;
  } catch {
    // The mount is gone, so the running program is not in it.
    return null;
  }
};

/** File locations, in a package or in a checkout, and the environment of the session. */
export interface Paths {
  /** The platform's folder for this app's data; `SIGNAGE_DATA_DIR` overrides it. */
  dataDir: string;
  rendererDir: string;
  resourcesDir: string;
  /** The kiosk's own pages, which need no service. */
  pagesDir: string;
  preload: { player: string; maintenance: string };
  /** The file that marks software rendering. */
  rendering: string;
  /** The AppImage that contains this program; null: none. */
  appImage: string | null;
  /** Whether systemd expects notifications, and its watchdog interval; see sd_notify(3) and sd_watchdog_enabled(3). */
  systemd: { isWatched: boolean; intervalMs: number | null };
  /** Whether the shell launcher of Windows runs the app, and starts it again (`--supervised`). */
  isSupervised: boolean;
  /** Where an image's root tells which of its systems runs (`KIOSK_SYSTEM`); null: this is no image. */
  system: string | null;
  /** Where an image's root tells what is wrong with `kiosk.network` (`KIOSK_NETWORK`); null: this is no image. */
  network: string | null;
  /** Where an image's root tells of the box's own Wi-Fi (`KIOSK_HOTSPOT`); null: this is no image. */
  hotspot: string | null;
  /** A file to touch while pages paint, for the hardware watchdog (`KIOSK_PAINTED`); null: nobody looks at it. */
  painted: string | null;
  /** Whether the compositor is sway (`SWAYSOCK`), which can be asked to move windows. */
  isSway: boolean;
  /** The session that runs the app (resources/linux/session); null: it runs elsewhere. */
  session: Session | null;
}

export interface Session {
  /** How the compositor draws; none: it does not start, so there are no windows. */
  renderer: 'gpu' | 'pixman' | 'none';
  /** Why it does not draw with the GPU, or does not start; null: it does. */
  fault: string | null;
  /** The path of the console, for a page of text; null: there is a compositor, or no console. */
  terminal: string | null;
}

const findSession = (): Session | null => {
  const { KIOSK_RENDERER: renderer, KIOSK_FAULT, KIOSK_TERMINAL } = process.env;
  if (renderer !== 'gpu' && renderer !== 'pixman' && renderer !== 'none') return null;
  return { renderer, fault: KIOSK_FAULT || null, terminal: KIOSK_TERMINAL || null };
};

export const findPaths = (app: App): Paths => {
  const dist = join(app.getAppPath(), 'dist');
  const {
    APPIMAGE,
    APPDIR,
    NOTIFY_SOCKET,
    WATCHDOG_USEC,
    SWAYSOCK,
    KIOSK_SYSTEM,
    KIOSK_PAINTED,
    KIOSK_NETWORK,
    KIOSK_HOTSPOT,
  } = process.env;
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
    isSupervised: process.argv.includes('--supervised'),
    system: KIOSK_SYSTEM ?? null,
    network: KIOSK_NETWORK ?? null,
    hotspot: KIOSK_HOTSPOT ?? null,
    painted: KIOSK_PAINTED ?? null,
    isSway: SWAYSOCK !== undefined,
    session: findSession(),
  };
};
