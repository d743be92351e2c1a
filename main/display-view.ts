/** What one display shows: the page that is on, and the one that is being loaded under it. */
import { View, type WebContents, WebContentsView } from 'electron';
import { beatChannel } from './channels.ts';
import type { Display, Rotation } from './displays.ts';
import { ABORTED, hostForeign } from './external-page.ts';
import { handOver, LINGER_MS } from './hand-over.ts';
import { type LayeredWindow, openLayeredWindow } from './layers.ts';
import { ownPartition } from './own-pages.ts';
import { lockedPreferences } from './preferences.ts';
import { turnContents } from './rotation.ts';
import { type Beat, beatSchema } from './service-host.ts';

/** What a display can show. */
export interface Picture {
  url: string;
  rotation: Rotation;
  /** The storage of a page of the service; null: a page of the kiosk's own, which reports no beats. */
  partition: string | null;
}

interface Handlers {
  onBeat(beat: Beat): void;
  /** The page that was last asked for is lost: its process, or its way here. */
  onLost(reason: string): void;
  /** Somebody pressed the maintenance chord. */
  onChord(): void;
  /** Somebody asked the window to close, as Alt+F4 does. It stays open. */
  onCloseRequest(): void;
}

interface DisplayViewOptions {
  /** Path of the preload script of the service's pages. */
  preload: string;
}

export interface DisplayView {
  /** The window, for what lies over the page. */
  readonly window: LayeredWindow;
  /** Loads a picture, and shows it once it is painted; until then the one before it stays. */
  show(picture: Picture): void;
  /** Covers everything but the maintenance page with black, or uncovers it. */
  blackout(on: boolean): void;
  /** The process of the page that was last asked for; null: it has none. */
  processId(): number | null;
  close(): void;
}

/** The background of the kiosk's own pages, before their first frame. */
const OWN_BACKGROUND = '#17343a';
const TRANSPARENT = '#00000000';
/** Painted, and not seen. */
const UNSEEN = ':root { opacity: 0 !important; background: transparent !important; }';

const isChord = ({ type, control, alt, shift, code }: Electron.Input): boolean =>
  type === 'keyDown' && control && alt && shift && code === 'KeyM';

/** Calls `onChord` when the maintenance chord is pressed in a page, which does not get the key. */
export const hearChord = (contents: WebContents, onChord: () => void): void => {
  contents.on('before-input-event', (event, input) => {
    if (!isChord(input)) return;
    event.preventDefault();
    onChord();
  });
};

/** A page in a view. Its web contents can be gone at any time: by a crash, or because the page closed itself. */
interface Page {
  view: WebContentsView;
  contents: WebContents;
}

export const createDisplayView = (
  display: Display,
  { onBeat, onLost, onChord, onCloseRequest }: Handlers,
  { preload }: DisplayViewOptions,
): DisplayView => {
  const window = openLayeredWindow(display, onCloseRequest);
  let front: Page | null = null;
  let coming: Page | null = null;
  let black: View | null = null;

  const createPage = ({ partition }: Picture): Page => {
    const preferences = partition === null ? { partition: ownPartition } : { partition, preload };
    const view = new WebContentsView({ webPreferences: { ...lockedPreferences, ...preferences } });
    view.setBackgroundColor(partition === null ? OWN_BACKGROUND : TRANSPARENT);
    return { view, contents: view.webContents };
  };

  const discard = ({ view, contents }: Page): void => {
    window.remove(view);
    if (!contents.isDestroyed()) contents.close();
  };

  const reveal = (page: Page): void => {
    const before = front;
    front = page;
    coming = null;
    window.put(page.view, 'page');
    if (before !== null) setTimeout(discard, LINGER_MS, before);
  };

  const watch = (page: Page, { rotation, partition }: Picture): void => {
    const { contents, view } = page;
    const askedAt = performance.now();
    let unseen: Promise<string> | null = null;
    /** A page that is no longer wanted is not listened to. */
    const isWanted = (): boolean => page === (coming ?? front);

    const advance = (beat: Beat): void => {
      const next = handOver(beat, performance.now() - askedAt, unseen !== null);
      if (next === 'lift') {
        unseen = contents.insertCSS(UNSEEN);
        unseen.then(
          () => page === coming && window.put(view, 'page'),
          () => {},
        );
      } else if (next === 'reveal') {
        reveal(page);
        unseen?.then((key) => contents.removeInsertedCSS(key)).catch(() => {});
      }
    };

    contents.ipc.on(beatChannel, (event, given: unknown) => {
      const { success, data } = beatSchema.safeParse(given);
      if (!success || !isWanted() || event.senderFrame !== contents.mainFrame) return;
      onBeat(data);
      if (page === coming) advance(data);
    });
    if (partition === null) contents.once('did-finish-load', () => page === coming && reveal(page));
    contents.on('did-fail-load', (_event, code, description, _url, isMainFrame) => {
      if (isMainFrame && code !== ABORTED && isWanted()) onLost(`the page could not be loaded (${description})`);
    });
    contents.on('render-process-gone', (_event, { reason }) => {
      if (isWanted()) onLost(`the page's process is gone (${reason})`);
    });
    contents.on('destroyed', () => {
      window.remove(view);
      if (isWanted()) onLost('the page closed itself');
    });
    hearChord(contents, onChord);
    turnContents(contents, rotation);
    if (partition === null) return;
    hostForeign(window, contents, (foreign) => {
      turnContents(foreign, rotation);
      hearChord(foreign, onChord);
    });
  };

  return {
    window,
    show: (picture) => {
      const before = coming;
      const page = createPage(picture);
      // First, so that the end of the one before is not taken for a loss.
      coming = page;
      if (before !== null) discard(before);
      window.put(page.view, 'hidden');
      watch(page, picture);
      // Where it can't be loaded, an event says so.
      page.contents.loadURL(picture.url).catch(() => {});
    },
    blackout: (on) => {
      if (on === (black !== null)) return;
      if (black !== null) {
        window.remove(black);
        black = null;
        return;
      }
      black = new View();
      black.setBackgroundColor('#000000');
      window.put(black, 'blackout');
    },
    processId: () => {
      const contents = (coming ?? front)?.contents;
      return contents === undefined || contents.isDestroyed() ? null : contents.getOSProcessId() || null;
    },
    close: () => {
      const pages = [coming, front];
      // So that what happens to them from now on is not heard.
      coming = null;
      front = null;
      for (const page of pages) if (page !== null) discard(page);
      window.destroy();
    },
  };
};
