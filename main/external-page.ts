/**
 * Pages of others, each in a view of its own over a page of the service: in a session apart from it, with no preload script
 * and so with no way back to it.
 */
import { once } from 'node:events';
import { type WebContents, WebContentsView } from 'electron';
import { foreignChannel } from './channels.ts';
import type { LayeredWindow } from './layers.ts';
import { lockedPreferences } from './preferences.ts';
import { foreignCallSchema } from './service-host.ts';

/** The session of all of them; what they store ends with the app. */
export const foreignPartition = 'foreign';

/** The one that is on and the one that comes; a page that asks for more has lost count. */
const MOST_VIEWS = 4;
/** Chromium's ERR_ABORTED: the page went elsewhere by itself before it was loaded, as a landing page that is bound does. */
export const ABORTED = -3;

/**
 * Lets a page of the service open pages of others, until it navigates or is gone.
 * @param dress is called with each of them, to be made like any other page of the display
 */
export const hostForeign = (window: LayeredWindow, page: WebContents, dress: (contents: WebContents) => void): void => {
  const views = new Map<number, { view: WebContentsView; contents: WebContents }>();

  /** One that is not shown lies under the page at full size: loaded and laid out, but covered and silent. */
  const turn = (id: number, isShown: boolean): void => {
    const entry = views.get(id);
    if (entry === undefined) return;
    window.put(entry.view, isShown ? 'external' : 'hidden');
    entry.contents.setAudioMuted(!isShown);
  };
  const close = (id: number): void => {
    const entry = views.get(id);
    if (entry === undefined) return;
    views.delete(id);
    window.remove(entry.view);
    if (!entry.contents.isDestroyed()) entry.contents.close();
  };
  const closeAll = (): void => {
    for (const id of views.keys()) close(id);
  };

  const ended = async (id: number): Promise<void> => {
    const contents = views.get(id)?.contents;
    if (contents !== undefined) await once(contents, 'destroyed');
  };

  /** @throws Error where the page can't be loaded */
  const open = async (id: number, url: string): Promise<void> => {
    close(id);
    if (views.size >= MOST_VIEWS) throw new Error(`more than ${MOST_VIEWS} pages at a time`);
    const view = new WebContentsView({ webPreferences: { ...lockedPreferences, partition: foreignPartition } });
    // What has not painted yet shows what is underneath.
    view.setBackgroundColor('#00000000');
    const contents = view.webContents;
    views.set(id, { view, contents });
    turn(id, false);
    dress(contents);
    // A page may crash, or close itself: the page underneath awaits its end, and goes on.
    contents.on('render-process-gone', () => close(id));
    contents.on('destroyed', () => close(id));
    await contents.loadURL(url).catch((error: Error & { errno?: number }) => {
      // One that was kept from where it led, as back to this service, has no page at all.
      if (error.errno === ABORTED && !contents.isDestroyed() && contents.getURL() !== '') return;
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
  // A page that is loaded again, or is lost, does not know those that were opened before.
  page.on('did-navigate', closeAll);
  page.on('render-process-gone', closeAll);
  page.on('destroyed', closeAll);
};
