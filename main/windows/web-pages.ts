/** What all web contents of the kiosk have in common. */
import type { EventEmitter } from 'node:events';
import type { WebContents, WebPreferences } from 'electron';
import type { Rotation } from './displays.ts';

export const TRANSPARENT = '#00000000';
/** Resolves in a page once it has been painted: the second frame begins after the first one. */
export const TWO_FRAMES = 'new Promise((resolve) => requestAnimationFrame(() => requestAnimationFrame(resolve)))';

/** Web preferences of all views: everything that a page need not do is disabled. */
export const lockedPreferences = {
  contextIsolation: true,
  sandbox: true,
  nodeIntegration: false,
  nodeIntegrationInSubFrames: false,
  nodeIntegrationInWorker: false,
  webSecurity: true,
  allowRunningInsecureContent: false,
  experimentalFeatures: false,
  webviewTag: false,
  devTools: false,
  disableDialogs: true,
  safeDialogs: true,
  navigateOnDragDrop: false,
  // A page that navigates below another one would take the keyboard from it; layers.ts gives it to the topmost.
  focusOnNavigation: false,
  spellcheck: false,
  enableWebSQL: false,
  // Pages play while they are covered, and without a user gesture.
  backgroundThrottling: false,
  autoplayPolicy: 'no-user-gesture-required',
} as const satisfies WebPreferences;

const isChord = ({ type, control, alt, shift, code }: Electron.Input): boolean =>
  type === 'keyDown' && control && alt && shift && code === 'KeyM';

/** Calls `onChord` when the maintenance key combination is pressed in a page; the page does not get the key. */
export const watchChord = (contents: WebContents, onChord: () => void): void => {
  contents.on('before-input-event', (event, input) => {
    if (!isChord(input)) return;
    event.preventDefault();
    onChord();
  });
};

/**
 * Calls `act` once for each document that the web contents load, as soon as it can take styles: at its first layout, or if
 * that is later at `dom-ready`, which a document that never ends loading does not have. At `did-navigate` Electron drops
 * styles while there is no element yet.
 * @returns does the same for a document that has had neither event, unless it is empty
 */
export const onDocument = (contents: WebContents, act: () => void): (() => Promise<void>) => {
  let isDone = false;
  const begin = (): void => {
    isDone = false;
  };
  const run = (): void => {
    if (isDone) return;
    isDone = true;
    act();
  };
  contents.on('did-navigate', begin);
  // The page of an error is a document too.
  contents.on('did-fail-provisional-load', (_event, _code, _description, _url, isMainFrame) => isMainFrame && begin());
  contents.on('dom-ready', run);
  // `BrowserWindow` alone documents it.
  (contents as EventEmitter).on('ready-to-show', run);
  return async () => {
    try {
      // That of the web contents would wait for the end of loading.
      if ((await contents.mainFrame.executeJavaScript('document.documentElement !== null')) === true) run();
    } catch {
      // The page was closed in the meantime.
    }
  };
};

/** Rotates the whole page about its center; at 90 and 270 degrees width and height are swapped. */
export const rotationCss = (rotation: Rotation): string => {
  const [width, height] = rotation % 180 === 0 ? ['100vw', '100vh'] : ['100vh', '100vw'];
  return `:root {
    position: fixed !important; top: 50% !important; left: 50% !important;
    width: ${width} !important; height: ${height} !important;
    transform: translate(-50%, -50%) rotate(${rotation}deg) !important;
  }`;
};

/**
 * Rotates all pages that the web contents load.
 * @returns changes the rotation
 */
export const rotateContents = (contents: WebContents, initial: Rotation): ((rotation: Rotation) => void) => {
  let rotation = initial;
  /** The key of the style sheet inserted into the current page; null: none. */
  let key: Promise<string> | null = null;

  const insert = async (): Promise<void> => {
    const before = key;
    key = contents.insertCSS(rotationCss(rotation));
    await key;
    const old = await before;
    if (old !== null) await contents.removeInsertedCSS(old);
  };
  // Fails if the page was closed in the meantime.
  const apply = (): void => void insert().catch(() => {});

  onDocument(contents, () => {
    key = null;
    if (rotation !== 0) apply();
  });
  return (next) => {
    if (next === rotation) return;
    rotation = next;
    apply();
  };
};
