/** Stores downloads from an origin or from another box of the site. */
import type { PeerCopy } from '../../contract/peer-media.ts';
import { judgeCopy, mediaTypeOf } from '../../domain/media-types.ts';
import { FetchFault } from '../../platform/outbound/fault.ts';
import { createSlots } from '../../platform/slots.ts';
import type { SourceLog } from '../../platform/source-log.ts';
import type { Download } from '../download.ts';
import type { Downloads } from '../downloads.ts';
import { FetchHeld } from '../fetch-limits.ts';
import { headOf } from '../inspect.ts';
import type { Part } from '../part.ts';
import type { Ledger } from './ledger.ts';

/** The copy of a remote file on other boxes of the site. */
export type SiteCopy =
  /** A copy, and the URL to fetch it from. */
  | (NonNullable<PeerCopy['copy']> & { from: string })
  /** Another box downloads it, or may be about to. */
  | 'coming'
  | 'unknown'
  /** Nothing: this box downloads it from its origin. */
  | null;

/** Another box of the site downloads the file. */
export class AwaitsPeer extends Error {
  /** Whether that box confirmed it; otherwise it may not have the content that names the file yet. */
  readonly isComing: boolean;
  /** When that box is to be asked again, ms from now. */
  readonly pause: number;

  constructor(isComing: boolean, pause: number) {
    super();
    this.isComing = isComing;
    this.pause = pause;
  }
}

/** First and longest delay before that box is asked again: a large file takes hours. */
const ASK_AGAIN_MS = { first: 2_000, most: 60_000 };
/** How long to wait for a box that does not have the content that names the address yet. */
const UNKNOWN_MS = 10_000;
/** Concurrent requests to boxes about files: content may name hundreds, and commands share the connections. */
const MAX_ASKS = 8;

interface Dependencies {
  ledger: Pick<Ledger, 'get' | 'note' | 'put'>;
  downloads: Pick<Downloads, 'fetch'>;
  siteCopy(url: string): Promise<SiteCopy>;
  logOf(url: string): SourceLog;
}

/** The address without credentials and query, which may hold secrets, for logs and reports. */
export const shownAddress = (address: string): string => {
  const { origin, pathname, search } = new URL(address);
  return origin + pathname + (search && '?…');
};

export const createStoring = ({ ledger, downloads, siteCopy, logOf }: Dependencies) => {
  const asks = createSlots(MAX_ASKS);

  /** Stores a complete download. */
  const put = async (url: string, done: Download, part: Part, life: number): Promise<true> => {
    const mediaType = judgeCopy([done.claimedType, mediaTypeOf(url)], await headOf(part.path));
    if (mediaType === null) {
      await part.discard();
      throw new FetchFault('it is no picture, video or PDF', { lasting: true });
    }
    const now = Date.now();
    const { sha256, size, etag, lastModified } = done;
    const times = { life, checkedAt: now, verifiedAt: now, usedAt: now };
    await ledger.put(url, { sha256, size, mediaType, etag, lastModified, ...times }, part);
    return true;
  };

  /** Fetches the copy of another box. @returns false if that box could not give it */
  const takeShared = async (url: string, shared: Exclude<SiteCopy, string | null>): Promise<boolean> => {
    const { from, life, ...facts } = shared;
    if (ledger.get(url)?.sha256 === facts.sha256) {
      await ledger.note(url, { checkedAt: Date.now() });
      return true;
    }
    try {
      const job = { url: from, key: `copy\n${url}\n${facts.sha256}`, sha256: facts.sha256, size: facts.size };
      await downloads.fetch(job, (done, part) => put(url, { ...done, ...facts }, part, life));
      logOf(url).info({ url: shownAddress(url) }, 'took the copy of another box');
      return true;
    } catch (error) {
      if (!(error instanceof FetchFault) || error instanceof FetchHeld) throw error;
      logOf(url).warn({ url: shownAddress(url), reason: error.message }, 'another box did not give its copy');
      return false;
    }
  };

  /**
   * Fetches the site's copy of a file.
   * @param state whose wait for another box is noted
   * @returns whether the site had it; otherwise this box downloads it
   * @throws AwaitsPeer if another box downloads it
   */
  const takeFromSite = async (url: string, state: { waitsSince: number | null }): Promise<boolean> => {
    const shared = await asks.run(() => siteCopy(url));
    if (shared === 'coming' || shared === 'unknown') {
      state.waitsSince ??= Date.now();
      const waited = Date.now() - state.waitsSince;
      const { first, most } = ASK_AGAIN_MS;
      // Waiting as long as so far doubles the delay each time.
      if (shared === 'coming') throw new AwaitsPeer(true, Math.min(Math.max(waited, first), most));
      if (waited < UNKNOWN_MS) throw new AwaitsPeer(false, first);
    }
    state.waitsSince = null;
    return shared !== null && typeof shared === 'object' && takeShared(url, shared);
  };

  return { put, takeFromSite };
};
