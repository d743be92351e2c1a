import { BrowserWindow } from 'electron';

/** A page that could not be loaded is tried again after this. */
const RETRY_MS = 2_000;
/** Chromium's ERR_ABORTED: the page went elsewhere before it was loaded, as a landing page that is bound does. */
const ABORTED = -3;
/** A page that crashed is made anew after this. */
const RECREATE_MS = 500;

/**
 * Opens the kiosk window on a page of the service and keeps it there: a page that fails to load is loaded again, one
 * that crashes comes back. Until there is a picture the window is not shown.
 */
export const openKioskWindow = (url: string): BrowserWindow => {
  const window = new BrowserWindow({
    kiosk: true,
    fullscreen: true,
    frame: false,
    show: false,
    backgroundColor: '#000000',
    autoHideMenuBar: true,
    webPreferences: {
      contextIsolation: true,
      sandbox: true,
      nodeIntegration: false,
      webSecurity: true,
      webviewTag: false,
      devTools: false,
      disableDialogs: true,
      backgroundThrottling: false,
      autoplayPolicy: 'no-user-gesture-required',
      spellcheck: false,
    },
  });
  const load = (): void => {
    if (!window.isDestroyed()) window.loadURL(url).catch(() => {});
  };
  window.once('ready-to-show', () => window.show());
  window.webContents.on('did-fail-load', (_event, code, _description, _url, isMainFrame) => {
    if (isMainFrame && code !== ABORTED) setTimeout(load, RETRY_MS);
  });
  window.webContents.on('render-process-gone', () => setTimeout(load, RECREATE_MS));
  load();
  return window;
};
