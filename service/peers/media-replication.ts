/**
 * Replicates the media that the content names: fetches them from peers in the background, complete or not at all, so that
 * a name stands for the same file on every box.
 */
import { setTimeout as pause } from 'node:timers/promises';
import { sha256Hex } from '../auth/sign.ts';
import { type Content, type MediaUse, mediaUses } from '../content/index.ts';
import type { ContentFile } from '../contract/content.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import type { ReplicationHealth } from '../contract/health.ts';
import type { MediaProgress } from '../contract/onboarding.ts';
import type { PeerMedia, PeerMedium } from '../contract/peers.ts';
import { createDebounce } from '../domain/debounce.ts';
import { compareVersions, isPlausibleTime } from '../domain/merge.ts';
import { nextFlight } from '../domain/single-flight.ts';
import type { SiteTime } from '../domain/time.ts';
import type { Media } from '../media/index.ts';
import type { ServiceContext } from '../module.ts';
import type { Absence } from './absence.ts';
import { createMediaLists, type MediaSite } from './media-lists.ts';
import {
  createAwaitedMedia,
  createMediaTransfers,
  fileKeyOf,
  newestOf,
  planTransfers,
  type Transfer,
} from './media-transfers.ts';

const digestOf = (media: readonly PeerMedium[]): string =>
  sha256Hex(JSON.stringify(media.map(({ name, size, sha256, modifiedAt }) => [name, size, sha256, modifiedAt])));

interface Site extends MediaSite {
  content: Pick<Content, 'document' | 'mediaNames' | 'onDocument' | 'onChange'>;
  media: Pick<
    Media,
    | 'list'
    | 'unread'
    | 'onLearn'
    | 'replicate'
    | 'heldReason'
    | 'onFetchHours'
    | 'deletions'
    | 'setAside'
    | 'currentName'
  >;
  absence: Absence;
  siteTime: SiteTime;
  /** As {@link Peers.onMedia} says. */
  onArrival(): void;
  /** Sends the record of this box to all boxes. */
  announce(): Promise<void>;
}

const MAX_MEDIA = 10_000;
/** How long a box that hangs is waited for where an upload or a deletion asks who has a file, ms. */
const PATIENCE_MS = 1_000;
/** Most media that are reported as missing. */
const MAX_REPORTED = 100;

export const createMediaReplication = (
  context: Pick<ServiceContext, 'logs' | 'monotonicNow' | 'tempo'>,
  site: Site,
) => {
  const { peers, content, media, absence, siteTime, onArrival, announce } = site;
  const { logs, monotonicNow, tempo: table } = context;
  const { peers: tempo } = table;
  let own: ReadonlyMap<string, PeerMedium> = new Map();
  let ownDigest = digestOf([]);
  /** Keys of the named media that were announced to peers, by name. */
  let announced: ReadonlyMap<string, string> = new Map();
  let hasListed = (): void => {};
  /** Resolves once the files of this box were listed. */
  const firstList = new Promise<void>((resolve) => {
    hasListed = resolve;
  });
  let timer: NodeJS.Timeout | undefined;
  let dueAt = Number.POSITIVE_INFINITY;
  let scannedAt = Number.NEGATIVE_INFINITY;
  /** Whether files may have been put into the folders by hand. */
  let isStale = true;
  /** Those that run or wait. */
  let scans = 0;
  let closed = false;

  const { deletions } = media;
  /** What the content names, and what that is called now. */
  const namesOf = (): ReadonlySet<string> => deletions.withRenamed(content.mediaNames());
  const { isDeleted, offers, known, learn } = createMediaLists(context, site, {
    // A peer with a new file may have one that no other peer could provide.
    onNew: (name) => transfers.retry(name),
    onChange: () => schedule(),
  });
  const transferPlan = (): Transfer[] => planTransfers(namesOf(), own, offers());

  const newest = (name: string, theirs = offers()): number =>
    Date.parse(newestOf(name, own, theirs)?.modifiedAt ?? '') || 0;

  /** Whether files may be here without being listed yet. */
  const isScanDue = (): boolean =>
    scannedAt === Number.NEGATIVE_INFINITY || scans > 0 || dueAt - monotonicNow() <= tempo.gather;

  const nowhere = (names: Iterable<string>): Set<string> => {
    if (isScanDue()) return new Set();
    const [unread, theirs] = [media.unread(), offers()];
    const isThere = (name: string): boolean => newest(name, theirs) > 0 || unread.has(name);
    return new Set([...names].filter((name) => !isThere(name) && !isThere(media.currentName(name))));
  };

  /** Schedules a scan in `ms`, unless one is due sooner. */
  const schedule = (ms = tempo.gather): void => {
    const at = monotonicNow() + ms;
    if (closed || at >= dueAt) return;
    dueAt = at;
    clearTimeout(timer);
    timer = setTimeout(() => {
      dueAt = Number.POSITIVE_INFINITY;
      void scan();
    }, ms);
    timer.unref();
  };

  const awaited = createAwaitedMedia((name) => peers.alive().length > 0 && !own.has(name) && namesOf().has(name));
  const transfers = createMediaTransfers(context, { media, onFetched: awaited.arrived, onArrival, schedule });

  const redate = (name: string): Promise<void> =>
    deletions.redate(name).then(
      // What is to be removed instead would be found by each scan.
      (isDated) => (isDated ? schedule() : undefined),
      (err: unknown) => logs('media of peers').warn({ name, err }, 'a file could not be given a new date'),
    );

  /** Stores the list of local media, and announces new files that peers may be waiting for. */
  const update = (listed: readonly PeerMedium[]): void => {
    const counts = (each: PeerMedium): boolean => isPlausibleTime(each.modifiedAt, siteTime.now()) && !isDeleted(each);
    const found = listed.filter(counts);
    // Added by hand after the deletion, since older files are removed; or while the clock was years ahead.
    for (const each of listed) if (!counts(each)) void redate(each.name);
    const names = namesOf();
    const named = found.filter((each) => names.has(each.name) && !transfers.isCopy(each));
    const hasNews = named.some(({ name, sha256 }) => own.get(name)?.sha256 !== sha256);
    // A file that the content names from now on may have been here for long.
    const keys = new Map(named.map((each) => [each.name, fileKeyOf(each)]));
    const isWanted = [...keys].some(([name, key]) => announced.get(name) !== key);
    announced = keys;
    own = new Map(found.map((each) => [each.name, each]));
    ownDigest = digestOf(found);
    hasListed();
    if (hasNews) transfers.arrived();
    if (isWanted) void announce();
  };

  /** Whether the content here is at least as new as that of the peers whose lists are known. */
  const isCurrent = (): boolean => {
    const mine = content.document();
    const theirs = known().flatMap(({ state }) => state.content ?? []);
    return theirs.every((version) => mine !== null && compareVersions(mine, version) >= 0);
  };

  /** After a long absence: moves what neither the content nor a peer names to `.lost`. @returns whether files were moved */
  const adoptList = async (): Promise<boolean> => {
    if (!(await absence.isPending()) || known().length === 0 || !isCurrent()) return false;
    await learn();
    const [names, theirs] = [namesOf(), offers()];
    const isNamed = ({ name, sha256 }: PeerMedium): boolean =>
      names.has(name) || theirs.some(({ find }) => find(name)?.sha256 === sha256);
    return absence.end([...own.values()].filter((medium) => !isNamed(medium)));
  };

  const scanNext = nextFlight<void, void>(async () => {
    if (closed) return;
    scannedAt = monotonicNow();
    const listing = media.list(isStale ? 0 : undefined);
    isStale = false;
    // The fields that boxes exchange.
    const files = (await listing).slice(0, MAX_MEDIA);
    update(files.map(({ name, size, sha256, modifiedAt }) => ({ name, size, sha256, modifiedAt })));
    if (media.unread().size === 0 && (await adoptList())) schedule();
    // Whether it was away is known once the time is.
    if (!siteTime.isEstablished()) schedule(tempo.establish);
    transfers.run(transferPlan());
  });
  const scan = async (): Promise<void> => {
    scans += 1;
    await scanNext().finally(() => {
      scans -= 1;
    });
  };
  const settled = async (): Promise<void> => {
    if (!isScanDue()) return;
    clearTimeout(timer);
    dueAt = Number.POSITIVE_INFINITY;
    await scan();
  };

  content.onDocument(() => {
    isStale = true;
    schedule();
  });
  // A takeover may show a file that nothing else names.
  content.onChange(() => {
    awaited.expect();
    schedule();
  });
  media.onLearn(() => schedule());
  media.onFetchHours(() => schedule());
  deletions.onDelete(() => {
    schedule();
    void announce();
  });

  const ownStateDigest = (): string => sha256Hex(ownDigest + deletions.digest());
  const isKnownElsewhere = (name: string): boolean => offers().some(({ find }) => find(name) !== undefined);

  return {
    /** Whether another box has a file of that name; asks the boxes if the lists name none, and it may. */
    isElsewhere: async (name: string, mayAsk = true): Promise<boolean> => {
      if (mayAsk && !isKnownElsewhere(name)) await Promise.race([learn(), pause(PATIENCE_MS, null, { ref: false })]);
      return isKnownElsewhere(name);
    },
    /** The digest of the media here, for the state of this box. */
    digest: (): string => {
      // A scan finds files that were put into the folders by hand, while peers ask for the state.
      if (monotonicNow() > scannedAt + tempo.scan) {
        isStale = true;
        schedule();
      }
      return ownStateDigest();
    },
    health: (): ReplicationHealth['media'] => {
      const names = new Set([...content.mediaNames()].map(media.currentName));
      const absent = nowhere(names);
      const coming = new Map(transferPlan().map(({ medium }) => [medium.name, medium]));
      const missing = [...names].flatMap((name) => {
        const size = coming.get(name)?.size ?? null;
        if (size !== null) return { name, size, reason: transfers.reasonOf(name) };
        return own.has(name) ? [] : { name, size, reason: absent.has(name) ? 'no box has it' : 'is being read' };
      });
      return { named: names.size, here: names.size - missing.length, missing: missing.slice(0, MAX_REPORTED) };
    },
    /** Sentences about media that could not be fetched, and about those that could not be moved to `.lost`. */
    issues: (): string[] => [...transfers.issues(transferPlan()), ...absence.issues()],
    /** Media of peers that the content names, and that are not fetched at this time of day. */
    held: (): string[] => (media.heldReason() === null ? [] : transferPlan().map(({ medium }) => medium.name)),
    progress: (): MediaProgress => {
      const coming = new Set(transferPlan().map(({ medium }) => medium.name));
      const here = [...new Set([...content.mediaNames()].map(media.currentName))].filter(
        (name) => own.has(name) && !coming.has(name),
      ).length;
      return coming.size === 0 ? null : { here, there: here + coming.size };
    },
    /** Modification time of the newest file of that name at the site, ms since the epoch; 0 without one. */
    newest: (name: string): number => newest(name),
    arrival: awaited.arrival,
    /** Resolves when the scan that is due, if any, is done. */
    settled,
    /** The names of which no box has a file, and which this one is not about to read. */
    nowhere,
    /** Scans the folders and starts the transfers that are needed. */
    scan,
    /** The media of this box, and what was deleted at the site. */
    media: async (): Promise<PeerMedia> => {
      await firstList;
      // A file that has just been uploaded is listed. A running scan may wait for the lists of boxes that wait for this one.
      if (scans === 0) await settled();
      return { media: [...own.values()], deleted: deletions.list(), digest: ownStateDigest() };
    },
    start: absence.start,
    close: (): void => {
      closed = true;
      transfers.close();
      absence.close();
      clearTimeout(timer);
    },
  };
};

/** Media that the content names and that no box of the site has. */
export const createMissingMedia = (
  { log, tempo }: Pick<ServiceContext, 'log' | 'tempo'>,
  content: Pick<Content, 'mediaUses' | 'onDocument'>,
  mediaReplication: Pick<ReturnType<typeof createMediaReplication>, 'nowhere' | 'settled'>,
) => {
  const warningsFor = (uses: ReadonlyMap<string, MediaUse>): ContentIssue[] => {
    const absent = mediaReplication.nowhere(uses.keys());
    return [...uses]
      .filter(([name]) => absent.has(name))
      .slice(0, MAX_REPORTED)
      .map(([name, { path, label }]) => ({
        path,
        message: `${label}: there is no medium ${JSON.stringify(name)}; upload it`,
      }));
  };
  const warnings = (): ContentIssue[] => warningsFor(content.mediaUses());

  const logFound = async (): Promise<void> => {
    // During a scan nothing is known to be missing.
    await mediaReplication.settled();
    const found = warnings();
    if (found.length > 0) log.warn({ warnings: found }, 'media that the content names are missing');
  };
  const logSoon = createDebounce(() => void logFound(), {
    // Media may be uploaded together with the content.
    quietMs: tempo.peers.missing,
    longestMs: Number.POSITIVE_INFINITY,
  });

  return {
    /** One warning per medium of the playing content that no box has, at its first mention. */
    warnings,
    /** The same for any content; also finds files that were just put into the folders. */
    of: async (file: ContentFile): Promise<ContentIssue[]> => {
      await mediaReplication.settled();
      return warningsFor(mediaUses(file));
    },
    start: (): void => {
      content.onDocument(logSoon);
      logSoon();
    },
    close: (): void => void logSoon.cancel(),
  };
};
