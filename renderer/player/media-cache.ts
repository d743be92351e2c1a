/**
 * Keeps media of the service, and its copies of remote media, in the page, so that a playlist keeps playing while the
 * service is unreachable. Service workers and the Cache API need a secure context, which plain HTTP on a LAN is not;
 * blobs do not.
 */
import type { Slide } from '../../service/contract/playlist.ts';
import { fileKinds } from '../../service/contract/slide-values.ts';
import { remember } from '../../service/domain/collections.ts';
import { nextFlight } from '../../service/domain/single-flight.ts';
import { readBody } from '../shared/retry.ts';
import { isLoadable } from './plain-http.ts';
import type { SlideContext, SlideFactory } from './slides/slide.ts';

interface CachedMedium {
  etag: string | null;
  bytes: number;
  url: string;
}

export type MediaCache = ReturnType<typeof createMediaCache>;

const MIB = 1024 ** 2;
/** Larger media are streamed by the browser, in ranges. */
const MAX_MEDIUM_BYTES = 64 * MIB;
const MAX_BYTES = 512 * MIB;
const ANSWER_MS = 10_000;
const REVOKE_MS = 60_000;

/** LUFS that all media are played at (EBU R 128). */
const TARGET_LUFS = -23;
/** How many media are remembered. */
const MAX_KNOWN = 1_000;

/** @param loudness LUFS; NaN: not known */
const gainFor = (loudness: number): number =>
  Number.isNaN(loudness) ? 1 : Math.min(1, 10 ** ((TARGET_LUFS - loudness) / 20));

/** Answers of a proxy whose service is away, or of one that has trouble. */
const isPassing = (status: number): boolean => status === 429 || status >= 500;

const isRemote = (url: string): boolean => !url.startsWith('/media/');
const pathOf = (url: string): string => (isRemote(url) ? `/copies?url=${encodeURIComponent(url)}` : url);

/** Whether the medium is being converted, because no browser shows it as it is. */
const isConverting = async (response: Response, abort: AbortController): Promise<boolean> => {
  if (response.status !== 503) return false;
  const body = await readBody(response, abort).catch(() => new Blob());
  return (await body.text()).includes('"media_not_ready"');
};

/** The file that a slide shows; of a stream that which is shown instead, as the stream goes with the service. */
const fileOf = ({ kind, media_url, content }: Pick<Slide, 'kind' | 'media_url' | 'content'>): string | null => {
  if (fileKinds.includes(kind)) return media_url;
  const fallback = kind === 'stream' ? content?.['fallback_media_url'] : null;
  return typeof fallback === 'string' ? fallback : null;
};

/** @param held tells the address of a medium that is not evicted, because the page has it on all the time */
export const createMediaCache = (held = (): string => '') => {
  /** Those that were asked for last are at the end; the others are evicted first. */
  const cached = new Map<string, CachedMedium>();
  const known = new Map<string, { gain: number; etag: string | null; isRendition: boolean }>();
  /** Concurrent calls for the same medium share a request. */
  const resolving = new Map<string, Promise<string>>();
  /** The views that there are, each with the address that it reads its file from. */
  const readers = new Set<{ address: string }>();

  const isHeld = (address: string): boolean =>
    address === held() || [...readers].some((reader) => reader.address === address);

  /** Late, as a slide may be about to load it, and not while a view reads it. */
  const revoke = (address: string): void => {
    setTimeout(() => (isHeld(address) ? revoke(address) : URL.revokeObjectURL(address)), REVOKE_MS);
  };

  const drop = (url: string): void => {
    const medium = cached.get(url);
    cached.delete(url);
    if (medium !== undefined) revoke(medium.url);
  };

  const store = (url: string, medium: CachedMedium): void => {
    drop(url);
    cached.set(url, medium);
    let total = [...cached.values()].reduce((sum, { bytes }) => sum + bytes, 0);
    for (const [oldest, { bytes, url: address }] of cached) {
      if (total <= MAX_BYTES) break;
      if (isHeld(address)) continue;
      total -= bytes;
      drop(oldest);
    }
  };

  /** Fetches or revalidates a medium; resolves to the URL to load it from. */
  const fetchMedium = async (url: string, isThirdParty: boolean): Promise<string> => {
    const before = cached.get(url);
    const path = pathOf(url);
    const abort = new AbortController();
    const deadline = setTimeout(() => abort.abort(), ANSWER_MS);
    let response: Response;
    try {
      // Without a copy the service redirects to the remote medium, which only an element may load (CORS).
      response = await fetch(path, { cache: 'no-cache', redirect: 'manual', signal: abort.signal });
    } catch (error) {
      if (before !== undefined) return before.url;
      if (isRemote(url) && !isThirdParty) return url;
      throw error;
    } finally {
      clearTimeout(deadline);
    }
    if (!response.ok) {
      if (before !== undefined && isRemote(url)) return before.url;
      if (await isConverting(response, abort)) throw new Error(`${url} is not ready yet`);
      if (before !== undefined && isPassing(response.status)) return before.url;
      const isRedirected = response.type === 'opaqueredirect';
      if (isRemote(url) && (isRedirected || (!isThirdParty && response.status !== 403))) return url;
      throw new Error(`${url} answers ${response.status}`);
    }
    const loudness = Number(response.headers.get('x-signage-loudness') ?? Number.NaN);
    const etag = response.headers.get('ETag');
    const isRendition = response.headers.has('x-signage-rendition');
    const note = (): void => remember(known, url, { gain: gainFor(loudness), etag, isRendition }, MAX_KNOWN);
    const isCached = before !== undefined && before.etag === etag;
    if (isCached || Number(response.headers.get('Content-Length')) > MAX_MEDIUM_BYTES) {
      abort.abort();
      note();
      if (isCached) {
        if (cached.get(url) === before) {
          cached.delete(url);
          cached.set(url, before);
        }
        return before.url;
      }
      // Pins the copy by its hash, so that the medium can't change during playback.
      if (isRemote(url)) return etag === null ? path : `${path}&sha256=${etag.replaceAll('"', '')}`;
      // A rendition that becomes ready meanwhile has other bytes.
      return isRendition ? path : `${path}?original`;
    }
    const blob = await readBody(response, abort);
    const medium = { etag, bytes: blob.size, url: URL.createObjectURL(blob) };
    store(url, medium);
    // Not before: until then the page shows what it had.
    note();
    return medium.url;
  };

  const versionOf = (url: string): string | null => known.get(url.split('#')[0] ?? '')?.etag ?? null;

  const resolve = async (url: string, { isThirdParty = false }: { isThirdParty?: boolean } = {}): Promise<string> => {
    if (!/^(?:\/media\/|https?:)/i.test(url)) return url;
    // A fragment (such as `#t=5`) applies to the medium wherever it is loaded from.
    const [medium = '', ...fragment] = url.split('#');
    const key = `${isThirdParty} ${medium}`;
    const begin = (): Promise<string> => {
      const begun = fetchMedium(medium, isThirdParty).finally(() => {
        if (resolving.get(key) === begun) resolving.delete(key);
      });
      resolving.set(key, begun);
      return begun;
    };
    return [await (resolving.get(key) ?? begin()), ...fragment].join('#');
  };

  /** A request that is under way may have been answered with what is replaced: the next one is of all who ask meanwhile. */
  const renew = nextFlight(async (medium: string): Promise<void> => {
    resolving.delete(`false ${medium}`);
    await resolve(medium).catch(() => {});
  });

  return {
    /**
     * Resolves to the URL to load a medium from. Media of the service, and remote media that it has a copy of, are fetched
     * (revalidated if cached) and returned as `blob:` URLs; media too large for the cache as their address at the service;
     * all other URLs unchanged. Rejects if a medium of the service is unavailable, or if one that a third party names, such
     * as a feed, is neither available from the service nor redirected to by it.
     */
    resolve,
    /** Entity tag of a medium as it was resolved last; null: not known. */
    versionOf,
    /** Creates slides whose file is neither evicted nor revoked until they are destroyed: a film is read as it plays. */
    holding:
      (create: SlideFactory): SlideFactory =>
      (context) => {
        const reader = { address: '' };
        const file = fileOf(context.slide);
        const media: SlideContext['media'] = async (url, options) => {
          const address = await context.media(url, options);
          if (url === file) [reader.address = ''] = address.split('#');
          return address;
        };
        const view = create({ ...context, media });
        const destroy = view.destroy.bind(view);
        readers.add(reader);
        // In place: some views have getters.
        return Object.assign(view, {
          destroy: () => {
            readers.delete(reader);
            destroy();
          },
        });
      },
    /** The cached media that are not evicted, because the page has them on. */
    inUse: (): string[] => [...cached].filter(([, { url }]) => isHeld(url)).map(([medium]) => medium),
    /** How many bytes of the cache a medium takes; 0: it is not cached. */
    bytesOf: (url: string): number => cached.get(url.split('#')[0] ?? '')?.bytes ?? 0,
    /**
     * Resolves to its entity tag of now, or as far as it is known if it is unavailable.
     * @param before its tag as it is shown: a rendition of that very original does not count, as what is on is finished;
     *   null: a rendition counts in any case
     */
    revalidate: async (url: string, before: string | null): Promise<string | null> => {
      const [medium = ''] = url.split('#');
      await renew(medium);
      const now = versionOf(url);
      if (before === null || now === before || !known.get(medium)?.isRendition) return now;
      // The original is sent to those who go on with it.
      const headers = { Range: 'bytes=0-', 'If-Range': before };
      const original = await fetch(pathOf(medium), { method: 'HEAD', headers, cache: 'no-store' }).catch(() => null);
      return original?.headers.get('ETag') === before ? before : now;
    },
    /** The share of its volume at which a medium is played, so that all are as loud as each other: up to 1. */
    gainOf: (url: string): number => known.get(url.split('#')[0] ?? '')?.gain ?? 1,
    /**
     * As `resolve`, but a cached medium is not revalidated: what must be shown immediately can't wait for a hanging
     * service.
     */
    resolveAtOnce: (url: string): Promise<string> => {
      const [medium = '', ...fragment] = url.split('#');
      const held = cached.get(medium);
      return held === undefined ? resolve(url) : Promise.resolve([held.url, ...fragment].join('#'));
    },
  };
};

/**
 * Fetches the media of slides ahead, so that they keep playing if the service becomes unreachable: as many as fit into the
 * cache, as any more would evict the first of them.
 */
export const prefetch = async (
  slides: Iterable<Pick<Slide, 'kind' | 'media_url' | 'content'>>,
  {
    resolve,
    inUse = () => [],
    bytesOf = () => 0,
  }: Pick<MediaCache, 'resolve'> & Partial<Pick<MediaCache, 'inUse' | 'bytesOf'>>,
  isWanted: () => boolean,
): Promise<void> => {
  let bytes = 0;
  // What is in use takes its share of the cache, in these slides or not.
  for (const url of new Set([...inUse(), ...[...slides].map(fileOf)])) {
    if (!isWanted() || bytes > MAX_BYTES - MAX_MEDIUM_BYTES) return;
    if (url === null || !isLoadable(url)) continue;
    await resolve(url).catch(() => {});
    bytes += bytesOf(url);
  }
};
