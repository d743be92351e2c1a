/** Copies of the remote media that the content names, prefetched and kept fresh, so that a box plays offline. */
import { stat } from 'node:fs/promises';
import type { Content } from '../../content/index.ts';
import type { CopiesHealth } from '../../contract/health.ts';
import type { PeerCopy } from '../../contract/peers.ts';
import { remoteAddress, shownAddress, withoutCredentials } from '../../domain/media-names.ts';
import { judgeCopy, mediaTypeOf } from '../../domain/media-types.ts';
import type { Feeds } from '../../feeds/index.ts';
import { FetchFault } from '../../platform/outbound/answer.ts';
import { createSlots } from '../../platform/slots.ts';
import { isMissing } from '../../platform/store/disk.ts';
import type { MediaContext } from '../context.ts';
import type { Download, Part } from '../download.ts';
import type { Downloads } from '../downloads.ts';
import { FetchHeld, type FetchLimits } from '../fetch-limits.ts';
import { headOf } from '../inspect.ts';
import type { StorageQuota } from '../quota.ts';
import {
  freshnessLifetime,
  idleLifetime,
  type MediumState,
  newState,
  noteAwaited,
  noteDone,
  noteFailed,
  noteHeld,
} from './freshness.ts';
import type { Copy, Ledger } from './ledger.ts';
import { hasCredentials, remoteMedia } from './named.ts';

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
class AwaitsPeer extends Error {
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

/** Concurrent requests to boxes about files: content may name hundreds, and commands share the connections. */
const MAX_ASKS = 8;

interface Dependencies {
  content: Pick<Content, 'shown' | 'onChange'>;
  feeds: Pick<Feeds, 'reach'>;
  ledger: Ledger;
  downloads: Pick<Downloads, 'fetch'>;
  limits: Pick<FetchLimits, 'enter' | 'heldReason' | 'isLimited' | 'onOpen'>;
  storage: Pick<StorageQuota, 'quota' | 'left'>;
  /** Asks the box of the site that is to download the file; never rejects. */
  siteCopy(url: string): Promise<SiteCopy>;
}

type Context = Pick<MediaContext, 'hasher' | 'logs' | 'random' | 'tempo'>;

const createLogOf =
  ({ logs }: Pick<Context, 'logs'>) =>
  (url: string) =>
    logs(`media of ${new URL(url).host}`);

/** Stores downloads from an origin or from another box of the site. */
const createStoring = (context: Context, { ledger, downloads, siteCopy }: Dependencies) => {
  const { askAgain, maxAskAgain, unknown } = context.tempo.media;
  const logOf = createLogOf(context);
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
      // Waiting as long as so far doubles the delay each time.
      if (shared === 'coming') throw new AwaitsPeer(true, Math.min(Math.max(waited, askAgain), maxAskAgain));
      if (waited < unknown) throw new AwaitsPeer(false, askAgain);
    }
    state.waitsSince = null;
    return shared !== null && typeof shared === 'object' && takeShared(url, shared);
  };

  return { put, takeFromSite };
};

export type Copies = ReturnType<typeof createCopies>;

/** What a page may load for an address: its copy, the remote address, or nothing until `coming` resolves. */
export type Found = { copy: Copy; file: string } | { remote: string } | { coming: Promise<void> };

/** How often a copy's bytes are checked against their hash. */
const VERIFY_MS = 24 * 60 * 60 * 1000;
/** How long a copy is kept that the content no longer names and no page requests. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
/** How long a replaced copy is kept for pages that still play it, and how often replaced copies are cleaned up. */
const KEEP_REPLACED_MS = 60 * 60 * 1000;
/** The maximum number of failures in the health report. */
const MAX_REPORTED = 50;
/** The timer wakes at least this often, because the system clock may be set. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000;
/** A check that is due later than this was scheduled before the system clock was set back. */
const LATEST_MS = 2 * VERIFY_MS;

export const createCopies = (context: Context, dependencies: Dependencies) => {
  const { hasher, random, tempo } = context;
  const { content, feeds, ledger, downloads, limits, storage } = dependencies;
  const logOf = createLogOf(context);
  const { put, takeFromSite } = createStoring(context, dependencies);
  let states = new Map<string, MediumState>();
  /** Addresses that have a user or password, by the address without them, which pages are told. */
  let told = new Map<string, string>();
  /** Checks in progress by URL, also of media that are no longer named, so that none is fetched twice at a time. */
  const busy = new Map<string, Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  /** When a copy is due for revalidation at the origin or verification of its hash, whichever is first. */
  const dueOf = ({ checkedAt, verifiedAt, life }: Copy): number =>
    Math.min(checkedAt + idleLifetime(life, random()), verifiedAt + VERIFY_MS);

  /** Whether the file still has the hash that was recorded when it was fetched. @throws FetchFault if it cannot be read */
  const isIntact = async (copy: Copy): Promise<boolean> => {
    const file = ledger.fileOf(copy);
    try {
      const { size } = await stat(file);
      return size === copy.size && (await hasher.hashFile(file).digest(size)) === copy.sha256;
    } catch (error) {
      if (isMissing(error)) return false;
      throw new FetchFault('the copy could not be read', { cause: error });
    }
  };

  const verified = async (url: string): Promise<Copy | undefined> => {
    const copy = ledger.get(url);
    if (copy === undefined || Date.now() - copy.verifiedAt < VERIFY_MS) return copy;
    if (await isIntact(copy)) {
      await ledger.note(url, { verifiedAt: Date.now() });
      return ledger.get(url);
    }
    logOf(url).warn({ url: shownAddress(url) }, 'a copy is corrupt and is fetched again');
    await ledger.drop(url, copy);
    return undefined;
  };

  /**
   * Fetches the file if there is no copy, or revalidates the copy.
   * @throws AwaitsPeer if another box does so; FetchHeld outside the hours for it
   */
  const revalidate = async (url: string, state: MediumState): Promise<void> => {
    const held = await verified(url);
    // Do not ask a box for what could not be fetched from it before.
    limits.enter();
    if (await takeFromSite(url, state)) return;
    const { reach } = state;
    const changed = await downloads.fetch({ url, key: `copy\n${url}`, held, reach }, (done, part) =>
      put(url, done, part, freshnessLifetime(done, Date.now())),
    );
    if (changed === null) await ledger.note(url, { checkedAt: Date.now() });
    else logOf(url).info({ url: shownAddress(url) }, 'copied a remote file');
  };

  /** Postpones a check to the hours for it. */
  const hold = (url: string, state: MediumState, held: FetchHeld): void => {
    const isNeeded = ledger.get(url) === undefined;
    const reason = held.message;
    if (isNeeded && !state.isHeld) logOf(url).warn({ url: shownAddress(url), reason }, 'a remote file has to wait');
    noteHeld(state, held, isNeeded, LONGEST_SLEEP_MS);
  };

  const check = async (url: string, state: MediumState): Promise<void> => {
    try {
      await revalidate(url, state);
      const copy = ledger.get(url);
      noteDone(state, copy === undefined ? Date.now() : dueOf(copy));
    } catch (error) {
      if (closed) return;
      if (error instanceof FetchHeld) return hold(url, state, error);
      if (error instanceof AwaitsPeer) return noteAwaited(state, error);
      const fault =
        error instanceof FetchFault ? error : new FetchFault('the copy could not be stored', { cause: error });
      noteFailed(state, fault, tempo.media, random());
      logOf(url).warn({ url: shownAddress(url), reason: fault.message }, 'a remote file could not be fetched');
      if (fault !== error) logOf(url).error({ err: error }, 'a copy could not be stored');
    } finally {
      busy.delete(url);
      schedule();
    }
  };

  const schedule = (): void => {
    clearTimeout(timer);
    if (closed) return;
    const now = Date.now();
    let next = now + LONGEST_SLEEP_MS;
    for (const [url, state] of states) {
      if (busy.has(url)) continue;
      if (state.due <= now || state.due > now + LATEST_MS) busy.set(url, check(url, state));
      else next = Math.min(next, state.due);
    }
    timer = setTimeout(schedule, next - now);
    timer.unref();
  };

  /** Deletes old copies: feeds name new pictures every day, which would otherwise fill the quota. */
  const cleanUp = async (): Promise<void> => {
    const now = Date.now();
    await ledger.expire(now - KEEP_MS, now - KEEP_REPLACED_MS);
    const left = await storage.left();
    if (left < 0) await ledger.evict(-left);
    // Copies in use are evicted only if they alone exceed the quota, such as after a start with a smaller quota.
    const { bytes } = ledger.measure();
    if (bytes > storage.quota) await ledger.evict(bytes - storage.quota, 'evict used');
  };

  /** The normalized address as the content has it; null if it is not an http or https URL. */
  const addressOf = (address: string): string | null => {
    const url = remoteAddress(address);
    return url === null || states.has(url) ? url : (told.get(url) ?? url);
  };

  const onContent = (): void => {
    if (closed) return;
    const before = states;
    states = new Map();
    for (const [url, named] of remoteMedia(content.shown(), feeds.reach)) {
      const copy = ledger.get(url);
      const due = copy === undefined ? 0 : dueOf(copy);
      const state = before.get(url) ?? newState(named, due);
      // An address refused to a feed may be allowed once the operator names it: retry immediately.
      if (named.reach > state.reach) state.due = due;
      Object.assign(state, named);
      states.set(url, state);
    }
    told = new Map([...states.keys()].filter(hasCredentials).map((url) => [withoutCredentials(url), url]));
    ledger.protect(new Set(states.keys()));
    schedule();
    void cleanUp();
  };
  let cleanUpTimer: NodeJS.Timeout | undefined;

  return {
    /** Starts to fetch and check the remote media of the content, and follows its changes. */
    start(): void {
      content.onChange(onContent);
      limits.onOpen(() => {
        for (const state of states.values()) if (state.isHeld) state.due = 0;
        schedule();
      });
      onContent();
      cleanUpTimer = setInterval(() => void cleanUp(), KEEP_REPLACED_MS);
      cleanUpTimer.unref();
    },

    /**
     * Resolves an address that a page wants to load. Returns the copy if there is one. Otherwise returns the remote
     * address if the operator names it, or if a feed of the LAN names a file of its own origin for which there is no
     * space; a promise of the fetch if only a feed names it; null if the content does not name it. A page that plays a
     * copy passes its hash, and still gets that copy for a while after it was replaced.
     */
    find(address: string, sha256?: string): Found | null {
      const url = addressOf(address);
      if (url === null) return null;
      const copy = ledger.get(url, sha256);
      const state = states.get(url);
      if (copy === undefined) {
        if (state === undefined) return null;
        // A browser would follow redirects into the LAN, which an Internet feed must not reach.
        const mayLead = (state.reach === 2 || (state.isOwn && state.isOutOfSpace)) && !hasCredentials(url);
        // Nor may it bypass the limits for a file that is about to be copied.
        const isHeld = limits.heldReason() !== null || (limits.isLimited && state.reason === null);
        return mayLead && !isHeld ? { remote: url } : { coming: busy.get(url) ?? Promise.resolve() };
      }
      const now = Date.now();
      ledger.use(url, now);
      // Revalidate now, so that the next time the slide shows the current file.
      if (state !== undefined && state.failures === 0 && now >= copy.checkedAt + copy.life) {
        state.due = Math.min(state.due, now);
        schedule();
      }
      return { copy, file: ledger.fileOf(copy) };
    },

    /** SHA-256 (hex) of the copy of an address; undefined: there is none. */
    digestOf: (address: string): string | undefined => ledger.get(addressOf(address) ?? '')?.sha256,

    /** The copy with that hash, and its file. */
    findByHash(sha256: string): (Copy & { file: string }) | null {
      const copy = ledger.withHash(sha256);
      return copy === undefined ? null : { ...copy, file: ledger.fileOf(copy) };
    },

    /**
     * The copy of an address for another box of the site. A copy that is due is checked first, except in the hours in
     * which this box fetches nothing: the other one may.
     */
    offer(address: string): PeerCopy {
      const url = remoteAddress(address) ?? '';
      const [copy, state] = [ledger.get(url), states.get(url)];
      const isDue = copy === undefined || Date.now() >= copy.checkedAt + copy.life;
      if (state !== undefined && isDue && state.failures === 0 && limits.heldReason() === null) {
        if (state.waitsSince !== null) return { state: 'unknown', copy: null };
        state.due = Math.min(state.due, Date.now());
        schedule();
        return { state: 'coming', copy: null };
      }
      if (copy === undefined) return { state: state === undefined ? 'unknown' : 'failed', copy: null };
      const { sha256, size, etag, lastModified, life } = copy;
      return { state: 'here', copy: { sha256, size, etag, lastModified, life } };
    },

    /** Reports that the file of a copy is missing: it is fetched again. */
    async lose(address: string, copy: Copy): Promise<void> {
      const url = addressOf(address) ?? '';
      await ledger.drop(url, copy);
      const state = states.get(url);
      if (state !== undefined) state.due = 0;
      schedule();
    },

    /** The addresses of the files that are needed, and are not fetched at this time of day. */
    held: (): string[] => [...states].filter(([, { isHeld }]) => isHeld).map(([url]) => shownAddress(url)),

    status(): CopiesHealth {
      const all = [...states];
      const failed = all.filter(([, { reason }]) => reason !== null);
      return {
        ...ledger.measure(),
        quota: storage.quota,
        pending: all.filter(([url, { reason }]) => reason === null && ledger.get(url) === undefined).length,
        failed: failed.slice(0, MAX_REPORTED).map(([url, { reason, due }]) => ({
          url: shownAddress(url),
          reason: reason ?? '',
          held: ledger.get(url) !== undefined,
          nextAt: new Date(due).toISOString(),
        })),
      };
    },

    /** Stops checking; fetches in progress end when the downloads are closed. */
    close(): void {
      closed = true;
      clearTimeout(timer);
      clearInterval(cleanUpTimer);
    },
  };
};
