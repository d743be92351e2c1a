/**
 * The third-party page in which somebody signs in, next to the maintenance page, which becomes a bar above it. Like every
 * third-party page it has no preload script, permissions, windows or downloads, and here no sound.
 */
import { once } from 'node:events';
import { setTimeout as wait } from 'node:timers/promises';
import type { ViewArea } from '../../service/public.ts';
import type { Rotation } from './displays.ts';
import { ABORTED, LOAD_MS, SERVER_ERROR } from './external-page.ts';
import { type LayeredWindow, openView } from './layers.ts';
import { rotateContents, watchChord } from './web-pages.ts';

/** The share of the height that the bar takes. */
const BAR = 0.14;

const areas: Readonly<Record<Rotation, readonly [bar: ViewArea, page: ViewArea]>> = {
  0: [
    { x: 0, y: 0, width: 1, height: BAR },
    { x: 0, y: BAR, width: 1, height: 1 - BAR },
  ],
  90: [
    { x: 1 - BAR, y: 0, width: BAR, height: 1 },
    { x: 0, y: 0, width: 1 - BAR, height: 1 },
  ],
  180: [
    { x: 0, y: 1 - BAR, width: 1, height: BAR },
    { x: 0, y: 0, width: 1, height: 1 - BAR },
  ],
  270: [
    { x: 0, y: 0, width: BAR, height: 1 },
    { x: BAR, y: 0, width: 1 - BAR, height: 1 },
  ],
};

/** Where the bar is: at the top, as people see it. */
export const barArea = (rotation: Rotation): ViewArea => areas[rotation][0];

export type SignInPage = ReturnType<typeof openSignInPage>;

/** @param handlers `onChord`: the maintenance key combination was pressed; `onEnd`: the page has crashed or closed itself */
export const openSignInPage = (
  window: LayeredWindow,
  { partition, address, rotation }: { partition: string; address: string; rotation: Rotation },
  { onChord, onEnd }: { onChord(): void; onEnd(): void },
) => {
  const view = openView({ partition }, '#ffffff');
  const { webContents: contents } = view;
  contents.on('render-process-gone', onEnd);
  contents.on('destroyed', onEnd);
  watchChord(contents, onChord);
  const rotate = rotateContents(contents, rotation);
  window.put(view, 'sign-in', areas[rotation][1]);
  /** Whether the document that is shown is a page of the site; null: another one is being loaded. */
  let isPage: boolean | null = null;
  contents.on('did-navigate', (_event, _url, status) => {
    isPage = status < SERVER_ERROR;
  });
  contents.on('did-fail-load', (_event, code, _reason, _url, isMainFrame) => {
    if (isMainFrame && code !== ABORTED) isPage = false;
  });
  const settle = async (): Promise<void> => {
    try {
      // It settles with the load before, too.
      await contents.loadURL(address);
      // An address that differs in what follows its # alone loads no document again.
      if (isPage === null && contents.isLoading()) await once(contents, 'did-stop-loading');
      if (isPage === null) contents.reload();
      while (isPage === null) await once(contents, 'did-stop-loading');
    } catch {
      // The page may have gone on to another one before it was loaded.
      if (!contents.isDestroyed() && contents.isLoading()) await once(contents, 'did-stop-loading');
    }
  };
  const load = async (): Promise<boolean> => {
    isPage = null;
    await Promise.race([settle().catch(() => {}), wait(LOAD_MS, undefined, { ref: false })]);
    return isPage === true;
  };
  void load();
  return {
    contents,
    /** Loads the address once more; resolves with whether it has loaded. */
    load,
    rotate: (next: Rotation): void => {
      rotate(next);
      window.put(view, 'sign-in', areas[next][1]);
    },
    close: (): void => window.close(view),
  };
};
