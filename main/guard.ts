import { app, session, type WebContents } from 'electron';

/** Keeps one page to the service's own origin, and shut to everything that a passer-by could open. */
const guardContents = (contents: WebContents, origin: string): void => {
  const isOwn = (url: string): boolean => URL.canParse(url) && new URL(url).origin === origin;
  const stay = (event: { preventDefault(): void; url: string }): void => {
    if (!isOwn(event.url)) event.preventDefault();
  };
  contents.on('will-navigate', stay);
  contents.on('will-redirect', (event) => {
    if (event.isMainFrame) stay(event);
  });
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
};

/** Denies, for every page of the app: permissions, downloads, pop-ups, foreign navigation, bad certificates. */
export const guardEverything = (origin: string): void => {
  session.defaultSession.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.defaultSession.setPermissionCheckHandler(() => false);
  session.defaultSession.on('will-download', (event) => event.preventDefault());
  app.on('web-contents-created', (_event, contents) => guardContents(contents, origin));
  app.on('certificate-error', (event, _contents, _url, _error, _certificate, accept) => {
    event.preventDefault();
    accept(false);
  });
};
