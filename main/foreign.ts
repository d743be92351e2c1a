/**
 * Pages of others that no frame may hold, each in a view of its own over a page of the service: in a session apart from
 * it, with no preload script and so with no way back to it.
 */
import { once } from 'node:events';
import { type BrowserWindow, type WebContents, WebContentsView } from 'electron';
import { foreignChannel } from './channels.ts';
import { lockedPreferences } from './preferences.ts';
import { foreignCallSchema } from './service-host.ts';

/** The session of all of them; what they store ends with the app. */
export const foreignPartition = 'foreign';

/** The one that is on and the one that comes; a page that asks for more has lost count. */
const MOST_VIEWS = 4;
/** Chromium's ERR_ABORTED: the page went elsewhere by itself before it was loaded, as a landing page that is bound does. */
export const ABORTED = -3;

/**
 * Lets the page of a window open them, until it goes.
 * @param dress is called with each of them, to be made like any other page of the display
 */
export const hostForeign = (window: BrowserWindow, dress: (contents: WebContents) => void): void => {
  const { webContents: page } = window;
  const views = new Map<number, { view: WebContentsView; isShown: boolean }>();

  /** One that is not shown lies beside the window, where it is painted and not seen. */
  const place = (id: number): void => {
    const entry = views.get(id);
    if (entry === undefined) return;
    const { width, height } = window.getContentBounds();
    entry.view.setBounds({ x: entry.isShown ? 0 : width, y: 0, width, height });
    entry.view.webContents.setAudioMuted(!entry.isShown);
  };
  const turn = (id: number, isShown: boolean): void => {
    const entry = views.get(id);
    if (entry !== undefined) entry.isShown = isShown;
    place(id);
  };
  const close = (id: number): void => {
    const entry = views.get(id);
    views.delete(id);
    if (entry === undefined) return;
    if (!window.isDestroyed()) window.contentView.removeChildView(entry.view);
    entry.view.webContents.close();
  };
  const closeAll = (): void => {
    for (const id of views.keys()) close(id);
  };

  const ended = async (id: number): Promise<void> => {
    const contents = views.get(id)?.view.webContents;
    if (contents !== undefined) await once(contents, 'destroyed');
  };

  /** @throws Error where the page can't be loaded */
  const open = async (id: number, url: string): Promise<void> => {
    close(id);
    if (views.size >= MOST_VIEWS) throw new Error(`more than ${MOST_VIEWS} pages at a time`);
    const view = new WebContentsView({ webPreferences: { ...lockedPreferences, partition: foreignPartition } });
    views.set(id, { view, isShown: false });
    window.contentView.addChildView(view);
    place(id);
    dress(view.webContents);
    // One that is lost is a black hole in the picture; the page underneath awaits its end, and goes on.
    view.webContents.on('render-process-gone', () => close(id));
    await view.webContents.loadURL(url).catch((error: Error & { errno?: number }) => {
      // One that was kept from where it led, as back to this service, has no page at all.
      if (error.errno === ABORTED && view.webContents.getURL() !== '') return;
      close(id);
      throw error;
    });
  };

  page.ipc.handle(foreignChannel, async (event, given: unknown) => {
    if (event.senderFrame !== page.mainFrame) throw new Error('only the page itself may ask');
    const call = foreignCallSchema.parse(given);
    if (call.do === 'open') await open(call.id, call.url);
    else if (call.do === 'close') close(call.id);
    else if (call.do === 'awaitEnd') await ended(call.id);
    else turn(call.id, call.do === 'show');
  });
  window.on('resize', () => {
    for (const id of views.keys()) place(id);
  });
  // A page that comes anew, or is lost, knows nothing of those that were opened before.
  page.on('did-navigate', closeAll);
  page.on('render-process-gone', closeAll);
  window.on('closed', closeAll);
};
