/**
 * Media of this service, and its copies of remote ones, held by the page, so that a playlist keeps turning while the
 * service is away. Service workers and the Cache API want a secure context, which plain http on a LAN is not; blobs
 * do not.
 */

interface Held {
  etag: string | null;
  bytes: number;
  url: string;
}

export interface Shelf {
  /**
   * An address to load a medium from. Media of this service, and remote ones that it has a copy of, are fetched, or
   * looked up again where they are held, and come as `blob:` URLs; what is too large to hold comes as its address at
   * the service, and everything else as it is. Rejects where a medium of this service can't be had, and where one that
   * a third party names, such as a feed, is neither to be had from the service nor led to by it.
   */
  take(url: string, options?: { isThirdParty?: boolean }): Promise<string>;
}

const MIB = 1024 ** 2;
/** Larger media are streamed by the browser, in ranges. */
const LARGEST_BYTES = 64 * MIB;
const MOST_BYTES = 512 * MIB;
const ANSWER_MS = 10_000;
const BODY_MS = 120_000;

export const createShelf = (): Shelf => {
  /** In the order in which they came. */
  const held = new Map<string, Held>();
  /** Two that want one medium share one request. */
  const taking = new Map<string, Promise<string>>();

  const drop = (url: string): void => {
    const medium = held.get(url);
    held.delete(url);
    // A slide may be about to load it, or to loop it.
    if (medium !== undefined) setTimeout(() => URL.revokeObjectURL(medium.url), 60_000);
  };

  const hold = (url: string, medium: Held): void => {
    drop(url);
    held.set(url, medium);
    let total = [...held.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const [oldest, { bytes }] of held) {
      if (total <= MOST_BYTES) break;
      total -= bytes;
      drop(oldest);
    }
  };

  /** Fetches a medium, or looks it up again; the address to load it from. */
  const fetchMedium = async (url: string, isThirdParty: boolean): Promise<string> => {
    const before = held.get(url);
    const isRemote = !url.startsWith('/media/');
    const path = isRemote ? `/copies?url=${encodeURIComponent(url)}` : url;
    const abort = new AbortController();
    const deadline = setTimeout(() => abort.abort(), ANSWER_MS);
    let response: Response;
    try {
      // Where there is no copy the service leads to the remote medium, which only an element may load.
      response = await fetch(path, { cache: 'no-cache', redirect: 'manual', signal: abort.signal });
    } catch (error) {
      if (before !== undefined) return before.url;
      if (isRemote && !isThirdParty) return url;
      throw error;
    } finally {
      clearTimeout(deadline);
    }
    if (!response.ok) {
      if (isRemote && before !== undefined) return before.url;
      const isLedThere = response.type === 'opaqueredirect';
      if (isRemote && (isLedThere || (!isThirdParty && response.status !== 403))) return url;
      throw new Error(`${url} answers ${response.status}`);
    }
    const etag = response.headers.get('ETag');
    const isHeld = before !== undefined && before.etag === etag;
    if (isHeld || Number(response.headers.get('Content-Length')) > LARGEST_BYTES) {
      abort.abort();
      if (isHeld) return before.url;
      // The hash of a copy: what plays is not to become another medium in the middle.
      return isRemote && etag !== null ? `${path}&sha256=${etag.replaceAll('"', '')}` : path;
    }
    const patience = setTimeout(() => abort.abort(), BODY_MS);
    const blob = await response.blob().finally(() => clearTimeout(patience));
    const medium = { etag, bytes: blob.size, url: URL.createObjectURL(blob) };
    hold(url, medium);
    return medium.url;
  };

  return {
    take: async (url, { isThirdParty = false } = {}) => {
      if (!/^(?:\/media\/|https?:)/i.test(url)) return url;
      // A fragment, such as the second to begin at, is of what is loaded, wherever from.
      const [medium = '', ...fragment] = url.split('#');
      const key = `${isThirdParty} ${medium}`;
      const running = taking.get(key) ?? fetchMedium(medium, isThirdParty).finally(() => taking.delete(key));
      taking.set(key, running);
      return [await running, ...fragment].join('#');
    },
  };
};
