/** What one display shows: the window in front, and the one that is being made ready behind it. */
import { BrowserWindow, type WebContents } from 'electron';
import { beatChannel } from './channels.ts';
import type { Display, Rotation } from './displays.ts';
import { ABORTED, hostForeign } from './foreign.ts';
import { lockedPreferences } from './preferences.ts';
import { turnContents } from './rotation.ts';
import { type Beat, beatSchema } from './service-host.ts';

/** What a pane can show. */
export type Picture =
  /** A page of the service. */
  | { url: string; partition: string; rotation: Rotation }
  /** A page of the kiosk's own, which needs no service. */
  | { file: string; query: Record<string, string>; rotation: Rotation };

interface Handlers {
  onBeat(beat: Beat): void;
  /** The page that was last asked for is lost: its process, or its way here. */
  onLost(reason: string): void;
  /** A window came to the front. */
  onShown(): void;
  /** Somebody pressed the maintenance chord. */
  onChord(): void;
}

interface PaneOptions {
  /** Path of the preload script of the service's pages. */
  preload: string;
}

export interface Pane {
  /** Makes a picture ready, and brings it to the front once it is painted; until then what is in front stays. */
  show(picture: Picture): void;
  /** Moves to where its display is now. */
  move(display: Display): void;
  /** The process of the page that was last asked for; null: it has none. */
  processId(): number | null;
  focus(): void;
  close(): void;
}

/** A page that paints but has nothing to show yet is waited for, ms; then it is shown as it is. */
const READY_MS = 10_000;

const isChord = ({ type, control, alt, shift, code }: Electron.Input): boolean =>
  type === 'keyDown' && control && alt && shift && code === 'KeyM';

export const createPane = (
  display: Display,
  { onBeat, onLost, onShown, onChord }: Handlers,
  { preload }: PaneOptions,
): Pane => {
  let { bounds } = display;

  const hearChord = (contents: WebContents): void => {
    contents.on('before-input-event', (event, input) => {
      if (!isChord(input)) return;
      event.preventDefault();
      onChord();
    });
  };

  const openWindow = (partition: string | null): BrowserWindow => {
    const window = new BrowserWindow({
      ...bounds,
      kiosk: true,
      fullscreen: true,
      frame: false,
      show: false,
      autoHideMenuBar: true,
      backgroundColor: '#000000',
      title: 'Signage player',
      webPreferences: { ...lockedPreferences, ...(partition !== null && { partition, preload }) },
    });
    // Whatever asks a window to close, Alt+F4 too: only `destroy` does.
    window.on('close', (event) => event.preventDefault());
    hearChord(window.webContents);
    return window;
  };

  // A black one, so that nobody ever sees the desktop.
  let front = openWindow(null);
  front.show();
  let coming: BrowserWindow | null = null;

  const bringToFront = (window: BrowserWindow): void => {
    if (window !== coming) return;
    const behind = front;
    front = window;
    coming = null;
    window.show();
    onShown();
    behind.destroy();
  };

  const watch = (window: BrowserWindow, picture: Picture): void => {
    const { webContents } = window;
    const openedAt = performance.now();
    /** Of a page that is no longer wanted nothing is heard. */
    const isWanted = (): boolean => window === (coming ?? front);

    webContents.ipc.on(beatChannel, (event, given: unknown) => {
      const { success, data } = beatSchema.safeParse(given);
      if (!success || !isWanted() || event.senderFrame !== webContents.mainFrame) return;
      onBeat(data);
      const isPainted = data.frames > 0 && (data.ready || performance.now() - openedAt > READY_MS);
      if (isPainted) bringToFront(window);
    });
    if ('file' in picture) window.once('ready-to-show', () => bringToFront(window));
    webContents.on('did-fail-load', (_event, code, description, _url, isMainFrame) => {
      if (isMainFrame && code !== ABORTED && isWanted()) onLost(`the page could not be loaded (${description})`);
    });
    webContents.on('render-process-gone', (_event, { reason }) => {
      if (isWanted()) onLost(`the page's process is gone (${reason})`);
    });
    turnContents(webContents, picture.rotation);
    if ('file' in picture) return;
    hostForeign(window, (contents) => {
      turnContents(contents, picture.rotation);
      hearChord(contents);
    });
  };

  return {
    show: (picture) => {
      coming?.destroy();
      const window = openWindow('url' in picture ? picture.partition : null);
      coming = window;
      watch(window, picture);
      // Where it can't be loaded, an event says so.
      const loading = 'url' in picture ? window.loadURL(picture.url) : window.loadFile(picture.file, picture);
      loading.catch(() => {});
    },
    move: (next) => {
      bounds = next.bounds;
      for (const window of [front, coming]) window?.setBounds(bounds);
    },
    processId: () => (coming ?? front).webContents.getOSProcessId() || null,
    focus: () => front.focus(),
    close: () => {
      coming?.destroy();
      front.destroy();
    },
  };
};
