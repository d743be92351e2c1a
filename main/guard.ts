/** Keeps every page to where it belongs, and shut to everything that a passer-by could open. */
import { app, type Session, session, type WebContents } from 'electron';
import { foreignPartition } from './external-page.ts';
import { ownOrigin } from './own-pages.ts';
import { isOwnHost, mayBeFramed } from './service-host.ts';

/** Where pages of the kiosk may be. */
export interface Territory {
  /** The service's origin; null while there is no service. */
  origin(): string | null;
}

/** Whether a window may be at an address. */
const isOwn = (url: string, { origin }: Territory): boolean =>
  URL.canParse(url) && (new URL(url).origin === origin() || url.startsWith(`${ownOrigin}/`));

/** Whether an address is the service's, by whichever name or address of this machine. */
const isService = (url: URL, { origin }: Territory): boolean => {
  const own = origin();
  return own !== null && (url.origin === own || (url.port === new URL(own).port && isOwnHost(url.hostname)));
};

/** What frames may hold: pages of the web, which are sandboxed, media of the service, and what a page writes itself. */
const isFrameable = (address: string, territory: Territory): boolean => {
  if (/^about:(blank|srcdoc)$/.test(address)) return true;
  if (!/^https?:/.test(address) || !URL.canParse(address)) return false;
  const url = new URL(address);
  return !isService(url, territory) || mayBeFramed(url.pathname);
};

/** Where a page of others may go: anywhere on the web but to the service, which would take it for its own. */
const isForeign = (url: string, territory: Territory): boolean =>
  URL.canParse(url) && /^https?:/.test(url) && !isService(new URL(url), territory);

const guardContents = (contents: WebContents, territory: Territory): void => {
  const isAllowed = contents.session === session.fromPartition(foreignPartition) ? isForeign : isOwn;
  const stay = (event: { preventDefault(): void; url: string; isMainFrame: boolean }): void => {
    if (!(event.isMainFrame ? isAllowed(event.url, territory) : isFrameable(event.url, territory)))
      event.preventDefault();
  };
  contents.on('will-navigate', stay);
  contents.on('will-frame-navigate', stay);
  contents.on('will-redirect', stay);
  contents.on('will-attach-webview', (event) => event.preventDefault());
  contents.setWindowOpenHandler(() => ({ action: 'deny' }));
};

const guardSession = (session: Session): void => {
  session.setPermissionRequestHandler((_contents, _permission, answer) => answer(false));
  session.setPermissionCheckHandler(() => false);
  session.setDevicePermissionHandler(() => false);
  session.on('will-download', (event) => event.preventDefault());
};

/**
 * Denies, for every page and session of the app: permissions, devices, downloads, pop-ups, foreign navigation, bad
 * certificates. To be called before there is any.
 */
export const guardEverything = (territory: Territory): void => {
  app.on('session-created', guardSession);
  app.on('web-contents-created', (_event, contents) => guardContents(contents, territory));
  app.on('certificate-error', (event, _contents, _url, _error, _certificate, accept) => {
    event.preventDefault();
    accept(false);
  });
  app.on('select-client-certificate', (event, _contents, _url, _certificates, choose) => {
    event.preventDefault();
    choose();
  });
};
