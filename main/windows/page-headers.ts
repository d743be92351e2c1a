/** Adds the headers of secrets to requests of external pages: to their own origins, for pages of these origins alone. */
import type { OnBeforeSendHeadersListenerDetails, Session, WebContents, WebFrameMain } from 'electron';
import { originOf } from '../../service/domain/page-address.ts';
import type { PageHeaders } from '../../service/public.ts';

/** Limit of remembered requests that were redirected elsewhere. */
const MAX_STRAYED = 1_000;

type Details = Pick<
  OnBeforeSendHeadersListenerDetails,
  'id' | 'url' | 'webContentsId' | 'resourceType' | 'requestHeaders' | 'frame' | 'webContents'
>;

/** The pages of a session that get headers. */
interface Grants {
  /** By the id of their web contents; null: the secret of the page was deleted. */
  pages: Map<number, () => PageHeaders | null>;
  /** Names of all headers that were given, in lower case. */
  names: Set<string>;
}
const grants = new WeakMap<Session, Grants>();

type Frame = WebFrameMain | null | undefined;

const isOf = (frame: Frame, origins: readonly string[]): boolean =>
  origins.includes(originOf(frame?.origin ?? '') ?? '');

/** Whether a frame shows nothing yet. */
const isEmpty = (frame: Frame): boolean =>
  ['', 'null'].includes(frame?.origin ?? 'null') && ['', 'about:blank'].includes(frame?.url ?? '');

/** Whether a request is the page's own: it loads the page, or a frame of the right origin sends it. */
const isOwn = ({ resourceType, frame, webContents }: Details, origins: readonly string[]): boolean => {
  if (resourceType === 'mainFrame') return true;
  if (!isOf(webContents?.mainFrame, origins)) return false;
  // A frame of others may lead itself to the page's origin: such a request is theirs.
  if (resourceType === 'subFrame') return isOf(frame?.parent, origins) && (isOf(frame, origins) || isEmpty(frame));
  return isOf(frame, origins);
};

const without = (all: Record<string, string>, names: ReadonlySet<string>): Record<string, string> =>
  Object.fromEntries(Object.entries(all).filter(([name]) => !names.has(name.toLowerCase())));

const listen = (session: Session): Grants => {
  const pages: Grants['pages'] = new Map();
  const names: Grants['names'] = new Set();
  const strayed = new Set<number>();
  session.webRequest.onBeforeSendHeaders((details: Details, answer) => {
    const { id, url, webContentsId, requestHeaders } = details;
    // The requests of a service worker are nobody's, so that a page would have no headers behind one.
    if (requestHeaders['Service-Worker'] === 'script') return answer({ cancel: true });
    const granted = webContentsId === undefined ? null : (pages.get(webContentsId)?.() ?? null);
    const isRight = granted?.origins.includes(originOf(url) ?? '') === true;
    // A redirect keeps the id. What was elsewhere once gets none any more, wherever it leads to.
    if (!isRight) {
      if (strayed.size >= MAX_STRAYED) strayed.clear();
      strayed.add(id);
    }
    // Nothing is left to a runtime that carries headers over a redirect, which may come after the page has ended.
    if (granted === null || !isRight || strayed.has(id) || !isOwn(details, granted.origins))
      return answer(names.size === 0 ? {} : { requestHeaders: without(requestHeaders, names) });
    const given = new Set(Object.keys(granted.headers).map((name) => name.toLowerCase()));
    for (const name of given) names.add(name);
    answer({ requestHeaders: { ...without(requestHeaders, given), ...granted.headers } });
  });
  const made = { pages, names };
  grants.set(session, made);
  return made;
};

/**
 * Gives a page its headers, until its main frame shows another origin, or it ends. Must be called before it loads.
 * @param read is called for each request; null: there is no such secret any more
 */
export const grantHeaders = (contents: WebContents, read: () => PageHeaders | null): void => {
  const { session, id } = contents;
  const { pages } = grants.get(session) ?? listen(session);
  pages.set(id, read);
  const end = (): void => void pages.delete(id);
  // A frame of others leads the whole page nowhere, such as to an address that changes something.
  contents.on('will-navigate', (event) => {
    const { initiator } = event;
    if (initiator?.parent != null && !isOf(initiator, read()?.origins ?? [])) event.preventDefault();
  });
  contents.on('did-navigate', (_event, url) => {
    if (!read()?.origins.includes(originOf(url) ?? '')) end();
  });
  contents.on('destroyed', end);
};
