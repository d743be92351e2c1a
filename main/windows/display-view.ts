/** The pages of one display: the visible page, and the next one, which loads beneath it. */
import { setTimeout as wait } from 'node:timers/promises';
import type { WebContents, WebContentsView } from 'electron';
import type { ProofNeeds } from '../../service/domain/device-proof.ts';
import {
  type Heartbeat,
  heartbeatSchema,
  type PageCover,
  type PageHeaders,
  pageCover,
  proofNeeds,
} from '../../service/public.ts';
import { coverChannel, heartbeatChannel, proveChannel } from '../channels.ts';
import { ownPage, ownPartition } from '../own-pages.ts';
import type { Sessions } from '../sessions/index.ts';
import type { Display, Rotation } from './displays.ts';
import { ABORTED, hostExternalPages } from './external-page.ts';
import { handover, LINGER_MS } from './handover.ts';
import { contentsOf, OWN_BACKGROUND, openLayeredWindow, openView } from './layers.ts';
import { jpegOf, type Shot } from './screenshot.ts';
import { rotateContents, TRANSPARENT, TWO_FRAMES, watchChord } from './web-pages.ts';

/** What a display can show. */
export interface Picture {
  url: string;
  rotation: Rotation;
  /** The storage partition of a service page; null: a page of the kiosk, which sends no heartbeats. */
  partition: string | null;
}

export interface DisplayViewHandlers {
  onHeartbeat(heartbeat: Heartbeat): void;
  /** As `KioskBridge.prove`. */
  prove(needs: ProofNeeds): string;
  pageHeaders(name: string): PageHeaders | null;
  openSession: Sessions['open'];
  /** The requested page failed: its process ended, or it could not be loaded. */
  onLost(reason: string): void;
  /** The maintenance key combination was pressed. */
  onChord(): void;
  /** The window was asked to close, for example by Alt+F4. It stays open. */
  onCloseRequest(): void;
}

interface DisplayViewOptions {
  /** The path of the preload script of the service's pages. */
  preload: string;
}

const BLACK = '#000000';
/** When a black cover whose process has ended is loaded again, in ms. */
const COVER_RETRY_MS = 1_000;
/** How long a page that was made visible is waited for, in ms. */
const PAINT_MS = 5_000;
/** Painted but not visible. */
const UNSEEN = ':root { opacity: 0 !important; background: transparent !important; }';

const photograph = async (view: WebContentsView | null): Promise<Shot> => {
  const contents = contentsOf(view);
  if (view === null || contents === undefined || contents.isDestroyed()) throw new Error('the display shows no page');
  return { image: await contents.capturePage(), bounds: view.getBounds() };
};

/** A page in a view. Its web contents can be destroyed at any time, by a crash or because the page closed itself. */
interface Page {
  view: WebContentsView;
  contents: WebContents;
  /** Answers the page's pending request for a change of the cover; null: there is none. */
  answer: (() => void) | null;
}

export const createDisplayView = (
  display: Display,
  { onHeartbeat, prove, pageHeaders, openSession, onLost, onChord, onCloseRequest }: DisplayViewHandlers,
  { preload }: DisplayViewOptions,
) => {
  const window = openLayeredWindow(display, onCloseRequest);
  let front: Page | null = null;
  let next: Page | null = null;
  let black: WebContentsView | null = null;
  /** The replaced page; it keeps playing briefly. */
  let last: Page | null = null;

  const createPage = ({ partition }: Picture): Page => {
    const preferences = partition === null ? { partition: ownPartition } : { partition, preload };
    const view = openView(preferences, partition === null ? OWN_BACKGROUND : TRANSPARENT);
    return { view, contents: view.webContents, answer: null };
  };

  /** Electron paints a plain view below all web contents, whatever their order. Until its page has loaded it is black too. */
  const createCover = (): WebContentsView => {
    const view = openView({ partition: ownPartition }, BLACK);
    const { webContents } = view;
    watchChord(webContents, onChord);
    const load = (): void => {
      if (!webContents.isDestroyed()) webContents.loadURL(ownPage('black.html')).catch(() => {});
    };
    webContents.on('render-process-gone', () => void setTimeout(load, COVER_RETRY_MS).unref());
    load();
    return view;
  };

  const answerAll = (): void => {
    for (const page of [front, next, last]) page?.answer?.();
  };
  window.onChange(answerAll);

  /** Makes a transparent page visible. Resolves once it has been painted, or never; a page under another view is not painted. */
  const uncover = async ({ contents }: Page, unseen: Promise<string> | null): Promise<void> => {
    if (unseen !== null) await contents.removeInsertedCSS(await unseen);
    // That of the web contents would wait for the end of loading.
    if (!window.isCovered()) await contents.mainFrame.executeJavaScript(TWO_FRAMES);
  };

  /** @param unseen the key of the style sheet that makes the page transparent; null: none */
  const reveal = (page: Page, unseen: Promise<string> | null): void => {
    const before = front;
    last = before;
    front = page;
    next = null;
    window.put(page.view, 'page');
    // Fails if the page was closed in the meantime.
    const uncovered = uncover(page, unseen).catch(() => {});
    if (before === null) return;
    void Promise.race([uncovered, wait(PAINT_MS)])
      .then(() => wait(LINGER_MS))
      .then(() => window.close(before.view));
  };

  const watch = (page: Page, { url, rotation, partition }: Picture): void => {
    const { contents, view } = page;
    const requestedAt = performance.now();
    let unseen: Promise<string> | null = null;
    /** Events of a page that was replaced are ignored. */
    const isWanted = (): boolean => page === (next ?? front);

    const advance = (heartbeat: Heartbeat): void => {
      const step = handover(heartbeat, performance.now() - requestedAt, {
        isLifted: unseen !== null,
        isCovered: window.isCovered(),
      });
      if (step === 'lift') {
        unseen = contents.insertCSS(UNSEEN);
        unseen.then(
          () => page === next && window.put(view, 'page'),
          () => {},
        );
      } else if (step === 'reveal') {
        reveal(page, unseen);
      }
    };

    contents.ipc.on(heartbeatChannel, (event, message: unknown) => {
      const { success, data } = heartbeatSchema.safeParse(message);
      if (!success || !isWanted() || event.senderFrame !== contents.mainFrame) return;
      onHeartbeat(data);
      if (page === next) advance(data);
    });
    contents.ipc.handle(coverChannel, (_, message: unknown) => {
      const known = pageCover.parse(message);
      return new Promise<PageCover>((resolve) => {
        page.answer = () => {
          const cover = page === front ? window.shutBy() : 'hidden';
          if (cover === known) return;
          page.answer = null;
          resolve(cover);
        };
        page.answer();
      });
    });
    contents.ipc.handle(proveChannel, (event, message: unknown) => {
      const { senderFrame: frame } = event;
      if (frame === null || frame !== contents.mainFrame || new URL(frame.url).origin !== new URL(url).origin) {
        throw new Error('only the main frame of a page of this box has a device');
      }
      return prove(proofNeeds.parse(message));
    });
    if (partition === null) contents.once('did-finish-load', () => page === next && reveal(page, null));
    contents.on('did-fail-load', (_event, code, description, _url, isMainFrame) => {
      if (isMainFrame && code !== ABORTED && isWanted()) onLost(`the page could not be loaded (${description})`);
    });
    contents.on('render-process-gone', (_event, { reason }) => {
      // It no longer shows anything, and must not prevent the page below it from being painted.
      window.remove(view);
      if (isWanted()) onLost(`the page's process is gone (${reason})`);
    });
    contents.on('destroyed', () => {
      window.remove(view);
      if (isWanted()) onLost('the page closed itself');
    });
    watchChord(contents, onChord);
    rotateContents(contents, rotation);
    if (partition === null) return;
    hostExternalPages(window, contents, { rotation, onChord, pageHeaders, openSession });
  };

  /** The maintenance page, and a landing page with its code or the password of the Wi-Fi, are for people in front of the display. */
  const isForAll = (): boolean =>
    window.shutBy() !== 'maintenance' &&
    front?.contents.isDestroyed() === false &&
    /^https?:\/\/[^/]+\/screen\//.test(front.contents.getURL());

  const takePicture = async (): Promise<Uint8Array> => {
    const cover = window.over();
    const page = front?.view ?? null;
    const isWhole = cover === null || window.isCovered();
    const [below, above] = await Promise.all([
      photograph(isWhole ? (cover ?? page) : page),
      isWhole ? null : photograph(cover),
    ]);
    // It may have gone elsewhere meanwhile.
    if (!isForAll()) throw new Error('the display shows no page of a screen');
    return jpegOf(below, above);
  };

  const blackout = (on: boolean): void => {
    if (on === (black !== null)) return;
    const before = black;
    black = on ? createCover() : null;
    if (black !== null) window.put(black, 'blackout');
    if (before !== null) window.close(before);
  };

  return {
    /** The window, for views that lie over the page. */
    window,
    /** Loads a page and shows it once it is painted; until then the previous page stays. */
    show: (picture: Picture) => {
      const before = next;
      const page = createPage(picture);
      // First, so that the end of the previous page does not count as a failure.
      next = page;
      if (before !== null) window.close(before.view);
      window.put(page.view, 'hidden');
      watch(page, picture);
      // A failed load is reported by an event.
      page.contents.loadURL(picture.url).catch(() => {});
    },
    /** Covers everything but the maintenance page with black, or uncovers it. */
    blackout,
    /** The process ID of the requested page; null: it has no process. */
    processId: () => {
      const contents = (next ?? front)?.contents;
      return contents === undefined || contents.isDestroyed() ? null : contents.getOSProcessId() || null;
    },
    /** Resolves with a JPEG of the screen that the display shows; may never resolve while nothing is painted. Null: it shows none. */
    capture: () => (isForAll() ? takePicture() : null),
    close: () => {
      const pages = [next, front];
      // So that later events of the pages are ignored.
      next = null;
      front = null;
      for (const page of pages) if (page !== null) window.close(page.view);
      // The web contents of its views outlive a window.
      blackout(false);
      window.destroy();
    },
  };
};

export type DisplayView = ReturnType<typeof createDisplayView>;
