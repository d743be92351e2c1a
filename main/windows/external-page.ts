/**
 * External pages, each in a view over a page of the service: in a session of their own and without a preload script, so
 * that they can reach neither the service nor the kiosk.
 */
import { type EventEmitter, once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import { type Session, session as sessions, type WebContents, type WebContentsView } from 'electron';
import { originOf } from '../../service/domain/page-address.ts';
import {
  type ExternalAnswer,
  externalCallSchema,
  type PageHeaders,
  type PageLook,
  type ViewArea,
} from '../../service/public.ts';
import { externalChannel } from '../channels.ts';
import type { PageSession, Sessions } from '../sessions/index.ts';
import type { Rotation } from './displays.ts';
import { type LayeredWindow, openView } from './layers.ts';
import { grantHeaders } from './page-headers.ts';
import { onDocument, rotationCss, TRANSPARENT, watchChord } from './web-pages.ts';

/** How long a page rests at its ends, in ms. */
const REST_MS = 3_000;

/** No element meets a pointer or a touch, and none shows a pointer: a frame would show one of its own. */
const INERT = '*, *::before, *::after { cursor: none !important; pointer-events: none !important; }';

/** What reaches the document itself where no element is met: a page may listen there, and would be scrolled. */
const STILL = `for (const name of ['wheel', 'touchstart', 'touchmove', 'pointerdown', 'mousedown', 'mouseup', 'click']) {
  const stop = (event) => {
    // Scripts of the page may click.
    if (!event.isTrusted) return;
    event.preventDefault();
    event.stopImmediatePropagation();
  };
  addEventListener(name, stop, { capture: true, passive: false });
}`;

const zoomCss = (zoom: number): string => `body { zoom: ${zoom} !important; }`;

/** Scrolls a page, and starts again from the other end. @param speed pixels a second; negative: upwards */
const scrollScript = (speed: number): string => `{
  const speed = ${speed}, rest = ${REST_MS};
  const reach = () => (document.scrollingElement ?? document.documentElement).scrollHeight - innerHeight;
  // A page that is still being loaded has not its full height yet.
  let at = speed > 0 ? 0 : Infinity;
  let before = performance.now();
  let restsUntil = before + rest;
  const step = (now) => {
    if (now >= restsUntil) {
      const end = speed > 0 ? at >= reach() : at <= 0;
      at = end ? (speed > 0 ? 0 : reach()) : Math.min(at, reach()) + speed * Math.min(100, now - before) / 1000;
      const isDone = speed > 0 ? at >= reach() : at <= 0;
      if (end || isDone) restsUntil = now + rest;
      scrollTo({ top: at, behavior: 'instant' });
    }
    before = now;
    requestAnimationFrame(step);
  };
  requestAnimationFrame(step);
}`;

/**
 * Keeps passers-by from operating a page: they would have the rights of the person who has signed in to it. A click gives
 * a page the keyboard even if it does not get the click; touches and wheels have no such event, so {@link INERT} and
 * {@link STILL} stop them.
 */
const refuseInput = (contents: WebContents): void => {
  contents.on('before-input-event', (event) => event.preventDefault());
  contents.on('before-mouse-event', (event, { type }) => {
    // A page that never learns where the pointer is does not hide it.
    if (type !== 'mouseMove') event.preventDefault();
  });
};

/**
 * Dresses each document that the web contents load; the look is for pages of the address's origin.
 * @returns as {@link onDocument}
 */
const dressPage = (
  contents: WebContents,
  { address, rotation, look: { zoom = 1, scroll = 0, css } }: { address: string; rotation: Rotation; look: PageLook },
) =>
  onDocument(contents, () => {
    // Each fails if the page was closed in the meantime.
    const insert = (style: string, cssOrigin: 'user' | 'author' = 'author') =>
      void contents.insertCSS(style, { cssOrigin }).catch(() => {});
    const run = (script: string) => void contents.mainFrame.executeJavaScript(script).catch(() => {});
    // As the user's, it precedes all that the page says.
    insert(INERT, 'user');
    run(STILL);
    if (rotation !== 0) insert(rotationCss(rotation));
    if (originOf(contents.getURL()) !== originOf(address)) return;
    if (zoom !== 1) insert(zoomCss(zoom));
    if (css !== undefined) insert(css);
    if (scroll !== 0) run(scrollScript(scroll));
  });

/** The session of external pages; in memory, so that their storage ends with the app. */
const externalPartition = 'external';
/** Pages of a secret have one of their own, whose cache no other page can ask. */
const partitionOf = (secret: string | undefined): string =>
  secret === undefined ? externalPartition : `${externalPartition}-${secret}`;

const externals = new WeakSet<Session>();
export const openExternalPartition = (partition: string): Session => {
  const session = sessions.fromPartition(partition);
  externals.add(session);
  return session;
};
export const isExternalSession = (session: Session): boolean => externals.has(session);

/** A page needs two: the current one and the next. More of them are not closed by mistake. */
const MAX_VIEWS = 4;
/** How long a page is waited for that does not end loading and has nothing to show. */
export const LOAD_MS = 10_000;
/** How often a page is looked at that somebody is signed in to, in ms, and how often its storage is kept. */
const WATCH_MS = 2_000;
const KEEP_MS = 20_000;
/** How often a page that is shown is asked for an answer, how long it may take, in ms, and how many it may owe in a row. */
const ASK_MS = 10_000;
const ANSWER_MS = 10_000;
const MAX_MISSES = 3;
/** Chromium's ERR_ABORTED: the page navigated elsewhere before it was loaded, as the landing page does once it is bound. */
export const ABORTED = -3;
/** The lowest status of an answer that is no page of the site, as that of a gateway whose site is down. */
export const SERVER_ERROR = 500;
/** This client error is no page of the site: the address is gone. With 403 a page may let itself in by a script. */
const GONE = 410;
/** These may be one: a script leads on from it, or solves its challenge. How long it may take, in ms. */
const DOUBTFUL = [404, 429];
const LEAD_ON_MS = 5_000;
/** In a session it may be the page in which somebody signs in. */
const UNAUTHORIZED = 401;

/** Not by the web contents, which would wait for the end of loading. */
const runScript = async (contents: WebContents): Promise<unknown> => contents.mainFrame.executeJavaScript('1');

interface ExternalPorts {
  rotation: Rotation;
  onChord(): void;
  pageHeaders(name: string): PageHeaders | null;
  openSession: Sessions['open'];
}

/**
 * Allows a page of the service to open external pages, until it navigates or ends.
 * @param ports `rotation` of the external pages; `onChord`: the maintenance key combination was pressed in one of them;
 *   `pageHeaders` as of the service; `openSession` as of {@link Sessions}
 */
export const hostExternalPages = (
  window: LayeredWindow,
  page: WebContents,
  { rotation, onChord, pageHeaders, openSession }: ExternalPorts,
): void => {
  const views = new Map<number, { view: WebContentsView; contents: WebContents; area: ViewArea; isShown: boolean }>();
  /** Pages that wait for their session. */
  const opening = new Set<number>();
  /** Pages that ended because they are signed out. */
  const signedOut = new Set<number>();

  /** A view that is not shown lies under the page at the size that it will have: loaded and laid out, but covered. */
  const setShown = (id: number, isShown: boolean, area?: ViewArea): void => {
    const entry = views.get(id);
    if (entry === undefined) return;
    entry.area = area ?? entry.area;
    entry.isShown = isShown;
    window.put(entry.view, isShown ? 'external' : 'hidden', entry.area);
  };
  const close = (id: number): void => {
    opening.delete(id);
    const entry = views.get(id);
    if (entry === undefined) return;
    views.delete(id);
    window.close(entry.view);
  };
  const closeAll = (): void => {
    for (const id of [...opening, ...views.keys()]) close(id);
    signedOut.clear();
  };

  const awaitEnd = async (id: number): Promise<ExternalAnswer> => {
    const contents = views.get(id)?.contents;
    if (contents !== undefined) await once(contents, 'destroyed');
    return signedOut.delete(id) ? 'signed out' : null;
  };

  /** Ends a page that turns out to be signed out, and keeps its storage. */
  const watch = async (id: number, contents: WebContents, session: PageSession): Promise<void> => {
    const isOpen = (): boolean => views.get(id)?.contents === contents;
    for (let keepsAt = 0; isOpen(); await wait(WATCH_MS, undefined, { ref: false })) {
      if (await session.isOut(contents)) {
        if (isOpen()) signedOut.add(id);
        if (isOpen()) close(id);
      } else if (performance.now() >= keepsAt) {
        await session.keep(contents);
        keepsAt = performance.now() + KEEP_MS;
      }
    }
  };

  /** Ends a page that hangs: Electron reports it only after input. On a slow machine one may be busy for long. */
  const watchAnswers = async (id: number, contents: WebContents, end: () => void): Promise<void> => {
    for (let misses = 0; misses < MAX_MISSES; ) {
      await wait(ASK_MS, undefined, { ref: false });
      const entry = views.get(id);
      if (entry?.contents !== contents) return;
      // An error is an answer too: the page navigates.
      const answered = entry.isShown && runScript(contents).catch(() => {});
      const isMissed = await Promise.race([answered, wait(ANSWER_MS, true, { ref: false })]);
      misses = isMissed === true ? misses + 1 : 0;
    }
    end();
  };

  /** @throws Error if the page is not wanted any more */
  const sessionFor = async (id: number, url: string, look: PageLook): Promise<PageSession | null> => {
    if (look.session === undefined) return null;
    opening.add(id);
    const session = await openSession(look.session, url, look.signed_in_at ?? null);
    if (!opening.delete(id)) throw new Error('the page was closed before it was opened');
    return session;
  };

  /** @throws Error if the page cannot be loaded */
  const open = async (id: number, url: string, area: ViewArea, look: PageLook): Promise<ExternalAnswer> => {
    close(id);
    const { headers: secret } = look;
    if (secret !== undefined && !pageHeaders(secret)?.origins.includes(originOf(url) ?? '')) {
      throw new Error(`there is no secret ${secret} for this address`);
    }
    if (views.size + opening.size >= MAX_VIEWS) throw new Error(`more than ${MAX_VIEWS} external pages are open`);
    const session = await sessionFor(id, url, look);
    const partition = session?.partition ?? partitionOf(secret);
    openExternalPartition(partition);
    // Until it has painted, the page underneath stays visible.
    const view = openView({ partition }, TRANSPARENT);
    const contents = view.webContents;
    views.set(id, { view, contents, area, isShown: false });
    setShown(id, false);
    watchChord(contents, onChord);
    refuseInput(contents);
    if (secret !== undefined) grantHeaders(contents, () => pageHeaders(secret));
    const dressNow = dressPage(contents, { address: url, rotation, look });
    const end = (): void => {
      if (views.get(id)?.contents === contents) close(id);
    };
    // The page may crash or close itself; the service's page awaits its end and continues.
    contents.on('render-process-gone', end);
    contents.on('destroyed', end);
    await session?.restore(contents);
    if (contents.isDestroyed()) throw new Error('the page was closed before it was loaded');
    let hasFailed = false;
    // A page may reload itself at any time; an error page must not stay until the slide ends.
    const fail = (): void => {
      hasFailed = true;
      end();
    };
    let isDoubtful = false;
    const closed = once(contents, 'destroyed');
    /** Waits where a script may lead on from an error; one that is on gives way at once. */
    const awaitNext = async (): Promise<void> => {
      const next = once(contents, 'did-navigate');
      const isOn = views.get(id)?.isShown === true;
      if (isOn || (await Promise.race([next, closed, wait(LEAD_ON_MS, null, { ref: false })])) === null) fail();
    };
    contents.on('did-fail-load', (_event, code, _description, _url, isMainFrame) => {
      if (isMainFrame && code !== ABORTED) fail();
    });
    contents.on('did-navigate', (_event, _url, status) => {
      const isRefused = status === UNAUTHORIZED && session === null;
      isDoubtful = DOUBTFUL.includes(status);
      if (isRefused || status >= SERVER_ERROR || status === GONE) fail();
      else if (isDoubtful) void awaitNext();
    });
    // At the first layout with content, the page of an error's too; `BrowserWindow` alone documents it.
    const laidOut = new Promise<void>((resolve) => {
      (contents as EventEmitter).on('ready-to-show', () => !hasFailed && resolve());
    });
    // From its site, not from the cache: it is as old as its loading says.
    const loading = contents
      .loadURL(url, { extraHeaders: 'pragma: no-cache\n' })
      .catch((error: Error & { errno?: number }) => {
        // If its only navigation was denied, for example back to this service, there is no page.
        if (error.errno === ABORTED && !contents.isDestroyed() && contents.getURL() !== '') return;
        end();
        throw error;
      });
    // One that never ends loading, as a stream of pictures or a hanging script does, is shown as far as it is.
    const started = Promise.race([loading, laidOut]).then(() => false);
    const isLate = await Promise.race([started, wait(LOAD_MS, true, { ref: false })]);
    if (isDoubtful) {
      while (isDoubtful && !contents.isDestroyed()) await Promise.race([once(contents, 'did-navigate'), closed]);
      await Promise.race([once(contents, 'dom-ready'), closed, wait(LOAD_MS, null, { ref: false })]);
    }
    if (hasFailed) throw new Error('the page answered with an error');
    if (isLate && (contents.isDestroyed() || contents.getURL() === '')) {
      end();
      throw new Error(`the page has not begun to load within ${LOAD_MS / 1000} s`);
    }
    // It may have had neither event.
    if (isLate) void dressNow();
    // As in a browser; a page without a background of its own would be see-through.
    if (!contents.isDestroyed()) view.setBackgroundColor('#ffffff');
    void watchAnswers(id, contents, end);
    if (session === null) return null;
    if (await session.isOut(contents)) {
      end();
      return 'signed out';
    }
    void watch(id, contents, session);
    return null;
  };

  page.ipc.handle(externalChannel, async (event, message: unknown) => {
    if (event.senderFrame !== page.mainFrame) throw new Error('only the main frame may open external pages');
    const call = externalCallSchema.parse(message);
    if (call.do === 'open') return open(call.id, call.url, call.area, call.look ?? {});
    if (call.do === 'awaitEnd') return awaitEnd(call.id);
    if (call.do === 'close') close(call.id);
    else if (call.do === 'show') setShown(call.id, true, call.area);
    else setShown(call.id, false);
    return null;
  });
  // After a reload or a crash the page does not know the views that it opened before.
  page.on('did-navigate', closeAll);
  page.on('render-process-gone', closeAll);
  page.on('destroyed', closeAll);
};
