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

/** The headers of each page, by the id of its web contents; null: its secret was deleted. */
const grants = new WeakMap<Session, Map<number, () => PageHeaders | null>>();

const originOfFrame = (frame: WebFrameMain | null | undefined): string => originOf(frame?.origin ?? '') ?? '';

/** Whether a request is the page's own: it loads the page, or a frame of the right origin sends it. */
const isOwn = ({ resourceType, frame, webContents }: Details, origins: readonly string[]): boolean => {
  if (resourceType === 'mainFrame') return true;
  const sender = resourceType === 'subFrame' ? frame?.parent : frame;
  return origins.includes(originOfFrame(sender)) && origins.includes(originOfFrame(webContents?.mainFrame));
};

const without = (all: Record<string, string>, left: Record<string, string>): Record<string, string> => {
  const names = new Set(Object.keys(left).map((name) => name.toLowerCase()));
  return Object.fromEntries(Object.entries(all).filter(([name]) => !names.has(name.toLowerCase())));
};

const listen = (session: Session): Map<number, () => PageHeaders | null> => {
  const pages = new Map<number, () => PageHeaders | null>();
  const strayed = new Set<number>();
  session.webRequest.onBeforeSendHeaders((details: Details, answer) => {
    const { id, url, webContentsId, requestHeaders } = details;
    const granted = webContentsId === undefined ? null : (pages.get(webContentsId)?.() ?? null);
    if (granted === null) return answer({});
    const { origins, headers } = granted;
    // A redirect keeps the id. What was elsewhere once gets none any more, wherever it leads to.
    if (!origins.includes(originOf(url) ?? '')) {
      if (strayed.size >= MAX_STRAYED) strayed.clear();
      strayed.add(id);
    }
    // Nothing is left to a runtime that carries headers over a redirect.
    const bare = without(requestHeaders, headers);
    answer({ requestHeaders: strayed.has(id) || !isOwn(details, origins) ? bare : { ...bare, ...headers } });
  });
  grants.set(session, pages);
  return pages;
};

/**
 * Gives a page its headers, until its main frame shows another origin, or it ends. Must be called before it loads.
 * @param read is called for each request; null: there is no such secret any more
 */
export const grantHeaders = (contents: WebContents, read: () => PageHeaders | null): void => {
  const { session, id } = contents;
  const pages = grants.get(session) ?? listen(session);
  pages.set(id, read);
  const end = (): void => void pages.delete(id);
  contents.on('did-navigate', (_event, url) => {
    if (!read()?.origins.includes(originOf(url) ?? '')) end();
  });
  contents.on('destroyed', end);
};
