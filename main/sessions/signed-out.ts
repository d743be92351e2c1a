/** Whether a page shows what it shows to somebody who is signed in. */
import { setTimeout as wait } from 'node:timers/promises';
import type { WebContents } from 'electron';
import { parseUrl } from '../../service/public.ts';

/** `elsewhere`: it may be on its way, as over a provider that sends people back. */
export type Verdict = 'in' | 'elsewhere' | 'password';

/** How long a page may be elsewhere before it counts as signed out, in ms. */
const ON_ITS_WAY_MS = 3_000;
const LOOK_MS = 250;
/** How long a page may take to answer; one that hangs is judged by others. */
const ANSWER_MS = 2_000;

/** Whether a page has a field for a password that can be seen, in open shadow trees and in frames of its origin, too. */
const ASKS = `(() => {
  const isSeen = (input) => input.checkVisibility({ visibilityProperty: true, opacityProperty: true });
  const frameOf = (frame) => { try { return frame.contentDocument; } catch { return null; } };
  const asks = (root, depth) =>
    [...root.querySelectorAll('input[type="password" i]')].some(isSeen) ||
    (depth < 5 && [...root.querySelectorAll('*')].some((element) => {
      const inner = element.shadowRoot ?? (element instanceof HTMLIFrameElement ? frameOf(element) : null);
      return inner !== null && asks(inner, depth + 1);
    }));
  return asks(document, 0);
})()`;

const withSlash = (path: string): string => (path.endsWith('/') ? path : `${path}/`);

/** Whether an address begins like another one: its origin, whole segments of its path, and its fragment, if it has one. */
export const isWithin = (address: string, beginning: string): boolean => {
  const [url, start] = [parseUrl(address), new URL(beginning)];
  if (url === null || url.origin !== start.origin || !url.hash.startsWith(start.hash)) return false;
  return withSlash(url.pathname).startsWith(withSlash(start.pathname));
};

/** @param signedInAt null: the origin of the slide */
export const judge = (
  { url, asks }: { url: string; asks: boolean },
  { address, signedInAt }: { address: string; signedInAt: string | null },
): Verdict => {
  if (asks) return 'password';
  return isWithin(url, signedInAt ?? new URL(address).origin) ? 'in' : 'elsewhere';
};

/** Null: the page does not tell, as one that is loading or hangs. */
const look = async (contents: WebContents, page: Parameters<typeof judge>[1]): Promise<Verdict | null> => {
  const answer = contents.mainFrame.executeJavaScript(ASKS).catch(() => null);
  const asks = await Promise.race([answer, wait(ANSWER_MS, null, { ref: false })]);
  if (typeof asks !== 'boolean' || contents.isDestroyed()) return null;
  return judge({ url: contents.getURL(), asks }, page);
};

/** Resolves with whether a page is signed out, once it has arrived somewhere. False for one that is gone, or does not tell. */
export const isSignedOut = async (contents: WebContents, page: Parameters<typeof judge>[1]): Promise<boolean> => {
  const since = performance.now();
  for (;;) {
    if (contents.isDestroyed()) return false;
    const verdict = await look(contents, page);
    if (verdict === 'password') return true;
    if (verdict !== 'elsewhere') return false;
    if (performance.now() - since >= ON_ITS_WAY_MS) return true;
    await wait(LOOK_MS, undefined, { ref: false });
  }
};
