/** Copies of the remote media that the content names, fetched ahead and kept fresh, so that a box plays on alone. */
import type { Content } from '../../content/content.ts';
import type { CopiesHealth } from '../../contract/health.ts';
import type { PlaylistPayload } from '../../contract/playlist.ts';
import { judgeCopy, mediaTypeOf } from '../../domain/media-types.ts';
import type { Nearness } from '../../domain/network-scope.ts';
import type { Feeds } from '../../feeds/feeds.ts';
import { FetchFault } from '../../platform/outbound/fault.ts';
import type { SourceLogs } from '../../platform/source-log.ts';
import { lacksRoom } from '../download.ts';
import type { Downloads } from '../downloads.ts';
import type { Following } from '../hasher.ts';
import { headOf } from '../inspect.ts';
import { idleLife, lifeOf, retryAfter } from './freshness.ts';
import type { Copy, Ledger } from './ledger.ts';
import { type Named, normalAddress, remoteMedia } from './named.ts';

interface Dependencies {
  content: Pick<Content, 'screens' | 'payload' | 'onChange'>;
  feeds: Pick<Feeds, 'reach'>;
  ledger: Ledger;
  downloads: Pick<Downloads, 'fetch'>;
  room: { quota: number; left(): Promise<number> };
  hasher: { follow(path: string): Following };
  logs: SourceLogs;
}

export type Copies = ReturnType<typeof createCopies>;

/**
 * What a page may load: the copy, of that file; or the address itself; or nothing yet, and until `coming` resolves it is
 * being fetched.
 */
export type Found = { copy: Copy; file: string } | { remote: string } | { coming: Promise<void> };

/** How one named medium stands. */
interface Standing extends Named {
  /** When it is to be seen to next, ms since the epoch. */
  due: number;
  /** In a row. */
  failures: number;
  reason: string | null;
  /** The last attempt failed for want of room alone: the address leads nowhere that it must not. */
  lacksRoom: boolean;
}

/** A copy's bytes are held against their hash this often. */
const VERIFY_MS = 24 * 60 * 60 * 1000;
/** What nobody names or asks for any more is kept for so long, in case it comes back. */
const KEEP_MS = 30 * 24 * 60 * 60 * 1000;
/** What was replaced is kept for so long for the pages that play it, and looked for as often. */
const KEEP_REPLACED_MS = 60 * 60 * 1000;
/** What fails is told of so many addresses at most. */
const MOST_TOLD = 50;
/** Whatever happens to the clock, it is looked at this often; nothing is due later than this unless it was set back. */
const LONGEST_SLEEP_MS = 60 * 60 * 1000;
const LATEST_MS = 2 * VERIFY_MS;

/** An address that can be shown: what might open something is not in it. */
const shown = (address: string): string => {
  const { origin, pathname, search } = new URL(address);
  return origin + pathname + (search && '?…');
};

/** Begins to follow the content. */
export const createCopies = ({ content, feeds, ledger, downloads, room, hasher, logs }: Dependencies) => {
  const logOf = (url: string) => logs(`media of ${new URL(url).host}`);
  let standings = new Map<string, Standing>();
  /** What is being seen to, whether it is still named or not: nothing is fetched twice at a time. */
  const busy = new Map<string, Promise<void>>();
  let timer: ReturnType<typeof setTimeout> | undefined;
  let closed = false;

  /** When a copy is to be seen to: the origin is asked, or its bytes are held against their hash. */
  const dueOf = ({ checkedAt, verifiedAt, life }: Copy): number =>
    Math.min(checkedAt + idleLife(life, Math.random()), verifiedAt + VERIFY_MS);

  /** Whether the bytes are still the ones that came. */
  const isWhole = (copy: Copy): Promise<boolean> =>
    hasher
      .follow(ledger.fileOf(copy))
      .digest(copy.size)
      .then(
        (sha256) => sha256 === copy.sha256,
        () => false,
      );

  const verified = async (url: string): Promise<Copy | undefined> => {
    const copy = ledger.get(url);
    if (copy === undefined || Date.now() - copy.verifiedAt < VERIFY_MS) return copy;
    if (await isWhole(copy)) {
      await ledger.note(url, { verifiedAt: Date.now() });
      return ledger.get(url);
    }
    if (closed) return copy;
    logOf(url).warn({ url: shown(url) }, 'a copy has gone bad; it is fetched anew');
    await ledger.drop(url, copy);
    return undefined;
  };

  /** Fetches the medium where there is no copy, or one that is out of date. */
  const freshen = async (url: string, reach: Nearness): Promise<void> => {
    const held = await verified(url);
    const changed = await downloads.fetch({ url, key: `copy\n${url}`, held, reach }, async (done, part) => {
      const mediaType = judgeCopy([done.claimedType, mediaTypeOf(url)], await headOf(part.path));
      if (mediaType === null) {
        await part.discard();
        throw new FetchFault('it is no picture, video or PDF', { lasting: true });
      }
      const now = Date.now();
      const { sha256, size, etag, lastModified } = done;
      const times = { life: lifeOf(done, now), checkedAt: now, verifiedAt: now, usedAt: now };
      await ledger.put(url, { sha256, size, mediaType, etag, lastModified, ...times }, part);
      return true;
    });
    if (changed === null) await ledger.note(url, { checkedAt: Date.now() });
    else logOf(url).info({ url: shown(url) }, 'a remote medium is kept');
  };

  const see = async (url: string, standing: Standing): Promise<void> => {
    try {
      await freshen(url, standing.reach);
      standing.failures = 0;
      standing.reason = null;
      standing.lacksRoom = false;
      const copy = ledger.get(url);
      standing.due = copy === undefined ? Date.now() : dueOf(copy);
    } catch (error) {
      if (closed) return;
      const fault = error instanceof FetchFault ? error : new FetchFault('it could not be kept', { cause: error });
      standing.failures += 1;
      standing.reason = fault.message;
      standing.lacksRoom = lacksRoom(fault.cause);
      standing.due = Date.now() + retryAfter(standing.failures, fault, Math.random());
      logOf(url).warn({ url: shown(url), reason: fault.message }, 'a remote medium could not be fetched');
      if (fault !== error) logOf(url).error({ err: error }, 'a copy could not be kept');
    } finally {
      busy.delete(url);
      advance();
    }
  };

  const advance = (): void => {
    clearTimeout(timer);
    if (closed) return;
    const now = Date.now();
    let next = now + LONGEST_SLEEP_MS;
    for (const [url, standing] of standings) {
      if (busy.has(url)) continue;
      if (standing.due <= now || standing.due > now + LATEST_MS) busy.set(url, see(url, standing));
      else next = Math.min(next, standing.due);
    }
    timer = setTimeout(advance, next - now);
    timer.unref();
  };

  /** Feeds name new pictures every day: without this they would fill the quota. */
  const tidy = async (): Promise<void> => {
    const now = Date.now();
    await ledger.expire(now - KEEP_MS, now - KEEP_REPLACED_MS);
    const left = await room.left();
    if (left < 0) await ledger.evict(-left);
    // Only where it alone is too much, as after a start with a smaller quota, what is played goes too.
    const { bytes } = ledger.measure();
    if (bytes > room.quota) await ledger.evict(bytes - room.quota, 'goes too');
  };

  const payloads = (): Partial<PlaylistPayload>[] =>
    content.screens().map(({ slug }) => JSON.parse(String(content.payload(slug)?.body ?? '{}')) as PlaylistPayload);

  const follow = (): void => {
    if (closed) return;
    const before = standings;
    standings = new Map();
    for (const [url, named] of remoteMedia(payloads(), feeds.reach)) {
      const copy = ledger.get(url);
      const due = copy === undefined ? 0 : dueOf(copy);
      const standing = before.get(url) ?? { ...named, due, failures: 0, reason: null, lacksRoom: false };
      // What was too near for a feed may be what the operator wants.
      if (named.reach > standing.reach) standing.due = due;
      Object.assign(standing, named);
      standings.set(url, standing);
    }
    ledger.protect(new Set(standings.keys()));
    advance();
    void tidy();
  };
  content.onChange(follow);
  follow();
  const tidying = setInterval(() => void tidy(), KEEP_REPLACED_MS);
  tidying.unref();

  return {
    /**
     * What there is of an address that a page wants to show: the copy and its file; where there is none yet, the address
     * itself if the operator names it, or a feed of the site names what is its own and there is no room for; when a copy
     * may be there, if a feed alone does; null where nobody names it. A page that plays a copy names its hash, and goes on
     * with it for a while after it was replaced.
     */
    find(address: string, sha256?: string): Found | null {
      const url = normalAddress(address);
      if (url === null) return null;
      const copy = ledger.get(url, sha256);
      const standing = standings.get(url);
      if (copy === undefined) {
        if (standing === undefined) return null;
        // A browser would go wherever the address leads, also to a machine in here that the feed has no business with.
        const mayLead = standing.reach === 2 || (standing.isOwn && standing.lacksRoom);
        return mayLead ? { remote: url } : { coming: busy.get(url) ?? Promise.resolve() };
      }
      const now = Date.now();
      ledger.use(url, now);
      // Shown now, so the next time it should be what its original is by then.
      if (standing !== undefined && standing.failures === 0 && now >= copy.checkedAt + copy.life) {
        standing.due = Math.min(standing.due, now);
        advance();
      }
      return { copy, file: ledger.fileOf(copy) };
    },

    /** The file of a copy is not there any more. */
    async lose(address: string, copy: Copy): Promise<void> {
      const url = normalAddress(address) ?? '';
      await ledger.drop(url, copy);
      const standing = standings.get(url);
      if (standing !== undefined) standing.due = 0;
      advance();
    },

    status(): CopiesHealth {
      const all = [...standings];
      const failed = all.filter(([, { reason }]) => reason !== null);
      return {
        ...ledger.measure(),
        quota: room.quota,
        pending: all.filter(([url, { reason }]) => reason === null && ledger.get(url) === undefined).length,
        failed: failed.slice(0, MOST_TOLD).map(([url, { reason, due }]) => ({
          url: shown(url),
          reason: reason ?? '',
          held: ledger.get(url) !== undefined,
          nextAt: new Date(due).toISOString(),
        })),
      };
    },

    /** Stops following; what is under way ends with the downloads. */
    close(): void {
      closed = true;
      clearTimeout(timer);
      clearInterval(tidying);
    },
  };
};
