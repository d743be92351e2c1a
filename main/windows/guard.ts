/** Restricts every page to its addresses, and denies everything that a passer-by could open. */
import { app, type Session, type WebContents } from 'electron';
import { mayBeFramed } from '../../service/domain/framing.ts';
import { parseUrl } from '../../service/public.ts';
import { ownOrigin } from '../own-pages.ts';
import { isOwnHost } from '../service-host.ts';
import { isExternalSession } from './external-page.ts';

interface GuardOptions {
  /** The origin of the service; null: it does not run. */
  serviceOrigin(): string | null;
}

/** Whether a URL is a page of the service or of the kiosk. */
const isOwn = (url: string, { serviceOrigin }: GuardOptions): boolean =>
  url.startsWith(`${ownOrigin}/`) || (serviceOrigin() !== null && parseUrl(url)?.origin === serviceOrigin());

/** Whether a URL is the service's, by any name or IP address of this machine. */
const isService = (url: URL, { serviceOrigin }: GuardOptions): boolean => {
  const own = serviceOrigin();
  return own !== null && (url.origin === own || (url.port === new URL(own).port && isOwnHost(url.hostname)));
};

/** Whether a frame may load a URL: external pages, which are sandboxed; media of the service; a page's own markup. */
const isFrameable = (address: string, options: GuardOptions): boolean => {
  if (/^about:(blank|srcdoc)$/.test(address)) return true;
  const url = parseUrl(address);
  if (url === null || !/^https?:$/.test(url.protocol)) return false;
  return !isService(url, options) || mayBeFramed(url.pathname);
};

/** Whether an external page may navigate to a URL: anywhere but to the service, which trusts its own origin. */
const isExternal = (address: string, options: GuardOptions): boolean => {
  const url = parseUrl(address);
  return url !== null && /^https?:$/.test(url.protocol) && !isService(url, options);
};

const guardContents = (contents: WebContents, options: GuardOptions): void => {
  const isAllowed = isExternalSession(contents.session) ? isExternal : isOwn;
  const restrict = (event: { preventDefault(): void; url: string; isMainFrame: boolean }): void => {
    if (!(event.isMainFrame ? isAllowed(event.url, options) : isFrameable(event.url, options))) event.preventDefault();
  };
  contents.on('will-navigate', restrict);
  contents.on('will-frame-navigate', restrict);
  contents.on('will-redirect', restrict);
  // A page that asks whether somebody wants to leave it would stay.
  contents.on('will-prevent-unload', (event) => event.preventDefault());
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
 * Denies permissions, devices, downloads, pop-ups, navigation to other origins and invalid certificates for every page and session.
 * Must be called before the first page or session exists.
 */
export const guardPages = (options: GuardOptions): void => {
  app.on('session-created', guardSession);
  app.on('web-contents-created', (_event, contents) => guardContents(contents, options));
  app.on('certificate-error', (event, _contents, _url, _error, _certificate, accept) => {
    event.preventDefault();
    accept(false);
  });
  app.on('select-client-certificate', (event, _contents, _url, _certificates, choose) => {
    event.preventDefault();
    choose();
  });
};
