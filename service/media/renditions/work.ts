/** Makes and fetches the renditions that the media of this box need: one conversion at a time, what plays first. */
import { rm, stat } from 'node:fs/promises';
import { CodedError } from '../../contract/errors.ts';
import type { RenditionStatus } from '../../contract/media.ts';
import type { PeerRendition } from '../../contract/peers.ts';
import { countBy, setMember } from '../../domain/collections.ts';
import { createDebounce } from '../../domain/debounce.ts';
import { createEmitter } from '../../domain/emitter.ts';
import { nextFlight } from '../../domain/single-flight.ts';
import type { ServiceContext } from '../../module.ts';
import { untilAborted, withAny } from '../../platform/any-signal.ts';
import { syncFile } from '../../platform/store/file.ts';
import type { Catalog } from '../catalog.ts';
import type { MediaContext } from '../context.ts';
import { isOutOfSpace } from '../download.ts';
import type { Downloads } from '../downloads.ts';
import { untilOpen } from '../fetch-limits.ts';
import { KEPT_MS } from '../folders.ts';
import { ConversionFault, type Converter, formOf, mayLackFilter, type Original } from './convert.ts';
import { createFetches, type Holder } from './fetches.ts';
import { type OtherHolder, stepOf } from './owner.ts';
import type { Profile } from './profile.ts';
import { reasons } from './reasons.ts';
import type { Failure, Rendition, RenditionStore } from './store.ts';

/** A file of this box that needs a rendition, or may need one. */
export interface Wanted extends Omit<Original, 'profile'> {
  /** Null: a film that this box cannot read, so that others tell whether it needs one. */
  profile: Profile | null;
  /** SHA-256 of the original. */
  sha256: string;
  /** Whether the playing content names it. */
  isNamed: boolean;
  /** Whether this box took the upload. */
  isUpload: boolean;
  /** Whether one box of the site has taken it from outside. */
  hasOwner: boolean;
}

/** What the other boxes of the site have for originals. */
export interface SiteRenditions {
  /** The answers of the boxes that have them. */
  holders: readonly Holder[];
}

interface Dependencies {
  store: RenditionStore;
  catalog: Pick<Catalog, 'hashOf' | 'untried'>;
  converter: Converter;
  downloads: Pick<Downloads, 'fetch'>;
  /** What needs a rendition, in the order in which it is to be made; of files of one hash the first counts. */
  wanted(): Promise<readonly Wanted[]>;
  /** The paths of all files of this box by hash, including files that are not probed yet. */
  present(): Promise<ReadonlyMap<string, string>>;
  /** The hashes of files that somebody has deleted. */
  deleted(): ReadonlySet<string>;
  /** @throws CodedError `insufficient_storage` @param mayEvict whether other files go for it @param written how many bytes lie on the disk already */
  requireRoom(bytes: number, mayEvict: boolean, written?: number): Promise<void>;
  askSite(originals: readonly string[]): Promise<SiteRenditions>;
  /** The next piece of work that nothing waits for; null: there is none. */
  rest(): Promise<((signal: AbortSignal) => Promise<void>) | null>;
}

/** Originals that other boxes are asked about at a time: the first ones, and in turn some of the others. */
const MAX_ASKED = 200;
const FIRST_ASKED = 100;
const MAX_ATTEMPTS = 2;
/** After this many interruptions by the end of the hours, the status of a conversion says so. */
const MAX_CUTS = 2;
const hoursAreOver = new Error('the hours are over');

/** Whether the path of an original has no file, or another one: it was renamed, and the name may be used again. */
export const moved = async (
  catalog: Pick<Catalog, 'hashOf'>,
  { path, sha256 }: { path: string; sha256: string },
): Promise<'gone' | 'replaced' | null> => {
  const stats = await stat(path).catch(() => null);
  if (stats === null) return 'gone';
  return catalog.hashOf(path, stats) === sha256 ? null : 'replaced';
};

const isRead = (job: Wanted): job is Wanted & Original => job.profile !== null;

type Context = Pick<MediaContext, 'folders' | 'log' | 'hasher' | 'now' | 'tempo'> &
  Pick<ServiceContext, 'monotonicNow' | 'ids' | 'options'>;

export const createRenditionWork = (context: Context, dependencies: Dependencies) => {
  const { folders, log, hasher, now, tempo, monotonicNow, ids, options } = context;
  const { store, catalog, converter, downloads, wanted, present, deleted, requireRoom, askSite, rest } = dependencies;
  const { convert: isOn, convertHours: hours, timeZone } = options;
  const closing = new AbortController();
  const news = createEmitter();
  let jobs = new Map<string, Wanted>();
  let running: { sha256: string; path: string; progress: number; abort: AbortController; done: Promise<void> } | null =
    null;
  const attempts = new Map<string, number>();
  /** Originals that are converted without the filters that some builds of ffmpeg lack. */
  const plain = new Set<string>();
  /** Originals that another box could not convert: offered as failed, two boxes would repeat it for ever. */
  const refused = new Set<string>();
  /** How often the hours have ended the conversion of an original. */
  const cuts = new Map<string, number>();
  /** Why originals that have not failed are not converted now: a sentence. */
  const held = new Map<string, string>();
  /** Bytes of renditions that did not fit, by their original: their conversions wait for that room. */
  const needs = new Map<string, number>();
  /** Originals that this box leaves to another one for now, and unprobed films that no box has reported yet. */
  const waiting = new Set<string>();
  /** Films that this box cannot read, of which another one has a rendition soon. */
  const coming = new Set<string>();
  /** Counts the originals that have had their turn. */
  let turn = 0;
  /** When this box began to miss the box that took an upload. */
  const missing = new Map<string, number>();
  /** What {@link Dependencies.present} said last. */
  let listed: ReadonlyMap<string, string> = new Map();
  /** When the originals of stored renditions were found to be gone, and from where. */
  let absent = new Map<string, { since: number; path: string | undefined }>();
  const counts = { made: 0, fetched: 0, failed: 0 };
  const onFetched = (): void => {
    counts.fetched += 1;
    news.emit();
  };
  const fetches = createFetches(context, { store, downloads, signal: closing.signal, onFetched });
  let timer: NodeJS.Timeout | undefined;

  const lackOf = async (job: Wanted): Promise<string | null> => (isOn ? converter.lackOf(job) : reasons.off);
  /** Whether attempts failed for reasons that say nothing of the file: another box may try, and the next start. */
  const isSpent = (sha256: string): boolean => (attempts.get(sha256) ?? 0) >= MAX_ATTEMPTS;
  const isAble = async (job: Wanted): Promise<boolean> =>
    isRead(job) && !isSpent(job.sha256) && !refused.has(job.sha256) && (await lackOf(job)) === null;
  /** The stored entry of an original: of its profile, or of any profile where this box could not probe it. */
  const entryOf = (sha256: string, profile: Profile | null): Rendition | Failure | undefined => {
    const entry = store.get(sha256);
    return profile === null || entry?.profile === profile ? entry : undefined;
  };
  const isDone = ({ sha256, profile }: Wanted): boolean =>
    refused.has(sha256) || entryOf(sha256, profile) !== undefined;

  const cutsOf = (sha256: string): number => cuts.get(sha256) ?? 0;

  /** The path of a copy never changes. */
  const hasMoved = async (job: Wanted) => (job.hasOwner ? moved(catalog, job) : null);

  /** @throws ConversionFault; CodedError `insufficient_storage`; the reason of the signal; Error if its path has another file */
  const make = async (
    job: Wanted & Original,
    signal: AbortSignal,
    onProgress: (share: number) => void,
  ): Promise<void> => {
    const { sha256, profile, mediaType, isNamed } = job;
    if ((await hasMoved(job)) !== null) throw new Error('the original has another name');
    const folder = await store.workFolder(sha256);
    const full = new AbortController();
    let checking = Promise.resolve();
    const takeRoom = async (bytes: number): Promise<void> => {
      await requireRoom(bytes, isNamed, bytes).catch(async (error: unknown) => {
        needs.set(sha256, bytes || (await store.bytesIn(folder)));
        full.abort(error);
      });
    };
    const timing = setInterval(() => {
      checking = takeRoom(0);
    }, tempo.media.room);
    try {
      const either = AbortSignal.any([signal, full.signal]);
      const file = await converter.convert(job, { folder, isPlain: plain.has(sha256), signal: either, onProgress });
      const { size } = await stat(file);
      await takeRoom(size);
      full.signal.throwIfAborted();
      const hash = hasher.hashFile(file);
      const own = await untilAborted(
        signal,
        syncFile(file).then(() => hash.digest(size)),
      ).finally(hash.stop);
      // What was read may be what has the name now.
      if ((await hasMoved(job)) === 'replaced') throw new Error('the name of the original has another file');
      await store.put(sha256, file, { profile, sha256: own, size, mediaType: formOf(profile, mediaType).mediaType });
    } finally {
      clearInterval(timing);
      await checking;
      await rm(folder, { recursive: true, force: true });
    }
  };

  const settle = async (job: Wanted & Original, error: unknown): Promise<void> => {
    const { sha256, profile } = job;
    const name = job.path;
    // No fault of the file, which is looked for by its new name.
    if ((await hasMoved(job)) !== null) return folders.changed(name);
    if (isOutOfSpace(error)) {
      held.set(sha256, reasons.room);
      log.warn({ name, reason: (error as Error).message }, 'there is no room for a rendition');
      return;
    }
    const words = error instanceof ConversionFault ? error.words : String(error);
    // The first failure that may end without those filters does not count beside what ended the program before.
    const isNews = mayLackFilter(error) && !plain.has(sha256);
    if (isNews) plain.add(sha256);
    attempts.set(sha256, isNews ? 1 : (attempts.get(sha256) ?? 0) + 1);
    log.warn({ name, profile, words, attempt: attempts.get(sha256) }, 'a medium could not be converted');
    if (!isSpent(sha256)) return;
    counts.failed += 1;
    // What ended the program, or another part of the box, says nothing of the file.
    if (!(error instanceof ConversionFault) || error.isCut) return;
    attempts.delete(sha256);
    await store.fail(sha256, { profile, reason: error.message });
    news.emit();
  };

  const isOpen = (): boolean => untilOpen(hours, now(), timeZone) === 0;

  /** Does the one piece of work of this box, which its hours end. */
  const occupy = (
    { sha256, path }: Pick<Wanted, 'sha256' | 'path'>,
    work: (signal: AbortSignal, onProgress: (share: number) => void) => Promise<void>,
  ) => {
    const abort = new AbortController();
    // They are polled, because the site's clock may be set.
    const poll = setInterval(() => {
      if (!isOpen()) abort.abort(hoursAreOver);
    }, tempo.media.hours);
    const current = { sha256, path, progress: 0, abort, done: Promise.resolve() };
    running = current;
    const onProgress = (share: number): void => {
      current.progress = share;
    };
    current.done = withAny([abort.signal, closing.signal], (signal) => work(signal, onProgress)).finally(() => {
      clearInterval(poll);
      running = null;
      look();
    });
  };

  const noteCut = ({ sha256, path }: Wanted): void => {
    const count = cutsOf(sha256) + 1;
    cuts.set(sha256, count);
    log.warn({ name: path, count }, 'the hours have ended a conversion');
    if (count === MAX_CUTS) news.emit();
  };

  const begin = (job: Wanted & Original): void => {
    const { sha256, profile } = job;
    const begun = performance.now();
    occupy(job, (signal, onProgress) =>
      make(job, signal, onProgress)
        .then(
          () => {
            attempts.delete(sha256);
            plain.delete(sha256);
            cuts.delete(sha256);
            counts.made += 1;
            const seconds = Math.round((performance.now() - begun) / 1000);
            log.info({ name: job.path, profile, seconds }, 'a medium is converted');
            news.emit();
          },
          async (error: unknown) => {
            // Nobody wants it any more, or it begins again in the next hours or at the next start.
            if (!signal.aborted) await settle(job, error);
            else if (signal.reason === hoursAreOver) noteCut(job);
          },
        )
        .catch((err: unknown) => log.warn({ err }, 'the result of a conversion could not be stored')),
    );
  };

  /** Whether the box that took the upload is still waited for: it may be away, start, or not have read the file yet. */
  const isWaitedFor = ({ sha256, hasOwner, isUpload }: Wanted, holders: readonly Holder[]): boolean => {
    if (!hasOwner || isUpload || holders.some((each) => each.isUpload)) {
      missing.delete(sha256);
      return false;
    }
    const since = missing.get(sha256) ?? monotonicNow();
    missing.set(sha256, since);
    return monotonicNow() - since < tempo.media.owner;
  };

  /** Whether a box has something, or will have. */
  const isPromising = ({ state, isAble: isAbleThere }: Holder): boolean =>
    isAbleThere ? state !== 'none' : state !== 'none' && state !== 'queued';

  const holderOf = (each: Holder): OtherHolder[] => (each.state === 'none' ? [] : [{ ...each, state: each.state }]);

  const beginRest = async (): Promise<void> => {
    if (running !== null || closing.signal.aborted || !isOpen()) return;
    const work = await rest();
    if (work === null || closing.signal.aborted) return;
    occupy({ sha256: '', path: '' }, (signal) =>
      work(signal).catch((err: unknown) => log.debug({ err }, 'a medium could not be measured')),
    );
  };

  /** Whether nothing else is done now; what the hours have ended before lets the measurements go first, too. */
  const mayBegin = async ({ sha256 }: Wanted): Promise<boolean> => {
    if (cuts.has(sha256)) await beginRest();
    return running === null && !closing.signal.aborted;
  };

  const hold = (sha256: string, reason: string): void => {
    const isNews = held.get(sha256) !== reason;
    held.set(sha256, reason);
    if (isNews) news.emit();
  };

  /** @returns whether another box has, or may have, something of these */
  const stepJobs = async (todo: readonly Wanted[]): Promise<boolean> => {
    const site = await askSite(todo.map(({ sha256 }) => sha256));
    // Not for each: those in front have been passed over when the hours begin.
    const mayConvert = isOpen();
    let isAwaited = false;
    for (const job of todo) {
      const { sha256, isUpload } = job;
      const holders = site.holders.filter(({ original }) => original === sha256);
      const lack = isSpent(sha256) ? reasons.unknown : await lackOf(job);
      const own = { nodeId: ids.nodeId, isUpload, isAble: isRead(job) && lack === null };
      // Meanwhile it may have become ready.
      if (running?.sha256 === sha256 || fetches.has(sha256) || isDone(job)) continue;
      const waits = isWaitedFor(job, holders);
      isAwaited ||= waits;
      const next = stepOf(own, holders.flatMap(holderOf), waits);
      if (next !== 'lack' && next !== 'fail' && held.get(sha256) !== reasons.room) {
        const fault = next === 'fetch' ? fetches.faultOf(sha256) : null;
        if (fault === null) held.delete(sha256);
        else hold(sha256, fault);
      }
      setMember(waiting, sha256, next === 'wait' || (next === 'lack' && !isRead(job)));
      setMember(coming, sha256, next === 'wait' && !isRead(job) && holders.some(isPromising));
      if (next === 'fetch') {
        const bytes = Math.max(0, ...holders.map(({ rendition }) => rendition?.size ?? 0));
        // Those that nothing shows take no room of each other.
        if (!fetches.isPaused(sha256) && (job.isNamed || (await hasRoom(job, bytes + fetches.bytes()))))
          fetches.start(job, holders, bytes);
      } else if (next === 'fail') {
        hold(sha256, holders.find(({ state }) => state === 'failed')?.reason ?? reasons.program);
        // Of what this box cannot read, another box may have a rendition yet: which one has failed is not told.
        if (isRead(job)) refused.add(sha256);
      } else if (!isRead(job)) continue;
      else if (next === 'lack') hold(sha256, lack ?? reasons.program);
      else if (next === 'convert' && mayConvert && (await mayBegin(job)) && (await hasRoom(job))) begin(job);
    }
    return isAwaited || site.holders.some(isPromising);
  };

  const waitOf = ({ sha256 }: Wanted): number => Number(held.has(sha256) || waiting.has(sha256));

  /** Those in front, and of the others as many as fit, in turn: each may become ready elsewhere. */
  const firstOf = (todo: readonly Wanted[]): readonly Wanted[] => {
    if (todo.length <= MAX_ASKED) return todo;
    const others = todo.slice(FIRST_ASKED);
    const from = turn % others.length;
    turn += MAX_ASKED - FIRST_ASKED;
    const inTurn = [...others.slice(from), ...others.slice(0, from)].slice(0, MAX_ASKED - FIRST_ASKED);
    return [...todo.slice(0, FIRST_ASKED), ...inTurn];
  };

  /** The hash of what is at a path; null: nothing is; undefined: it has to be read again. */
  const hashAt = async (path: string): Promise<string | null | undefined> => {
    const stats = await stat(path).catch(() => null);
    return stats && catalog.hashOf(path, stats);
  };

  /**
   * Removes the renditions of originals that were deleted or replaced, or stay gone: a disk may be away, or files be read
   * again, for a while.
   */
  const removeGone = async (here: ReadonlyMap<string, string>): Promise<void> => {
    const gone = folders.isComplete() ? store.originals().filter((sha256) => !here.has(sha256)) : [];
    const at = monotonicNow();
    // Any file that has not been read may be the original.
    const isAllRead = catalog.untried().size === 0;
    absent = new Map(
      gone.map((sha256) => {
        const { since, path } = absent.get(sha256) ?? { since: at, path: listed.get(sha256) };
        return [sha256, { since: isAllRead ? since : at, path }];
      }),
    );
    listed = here;
    const over: string[] = [];
    const ended = gone.length === 0 ? new Set<string>() : deleted();
    for (const [sha256, { since, path }] of absent) {
      const hash = path === undefined ? undefined : await hashAt(path);
      if ((hash != null && hash !== sha256) || at - since >= tempo.media.absent || ended.has(sha256)) over.push(sha256);
    }
    await store.remove(over);
  };

  /** Whether what is converted is no more where it was. */
  const isGone = async ({ path, sha256 }: Pick<Wanted, 'sha256' | 'path'>): Promise<boolean> => {
    const hash = await hashAt(path);
    return hash !== undefined && hash !== sha256;
  };

  const step = async (): Promise<void> => {
    await folders.read(KEPT_MS);
    const found = await wanted();
    jobs = new Map();
    for (const job of found) if (!jobs.has(job.sha256)) jobs.set(job.sha256, job);
    const here = await present();
    await removeGone(here);
    for (const noted of [attempts, plain, refused, cuts, held, needs, missing, waiting, coming, fetches.failed])
      for (const sha256 of noted.keys()) if (!here.has(sha256)) noted.delete(sha256);
    const current = running;
    if (current !== null && current.sha256 !== '' && !here.has(current.sha256) && (await isGone(current)))
      current.abort.abort(new Error('the original is gone'));
    const todo = [...jobs.values()]
      .filter((job) => !isDone(job) && !fetches.has(job.sha256))
      // What has to wait, or takes all the hours, holds nothing else up.
      .sort((a, b) => cutsOf(a.sha256) - cutsOf(b.sha256) || waitOf(a) - waitOf(b));
    if (closing.signal.aborted) return;
    const isAnswered = todo.length > 0 && (await stepJobs(firstOf(todo)));
    await beginRest();
    clearTimeout(timer);
    // With nothing to do it looks for files that were removed or put there by hand.
    const pause = todo.length === 0 && isOpen() ? KEPT_MS : isAnswered ? tempo.media.askAgain : tempo.media.convert;
    timer = setTimeout(look, absent.size === 0 ? pause : Math.min(pause, tempo.media.absent)).unref();
  };

  /** An original that did not fit is tried again once it may. @param fetched bytes of what is fetched; absent: it is converted */
  const hasRoom = async (job: Wanted, fetched?: number): Promise<boolean> => {
    const { size } = await stat(job.path).catch(() => ({ size: 0 }));
    const bytes = fetched ?? Math.max(size, needs.get(job.sha256) ?? 0);
    const fits = await requireRoom(bytes, job.isNamed).then(
      () => true,
      (error: unknown) => !(error instanceof CodedError),
    );
    if (fits) held.delete(job.sha256);
    else held.set(job.sha256, reasons.room);
    return fits;
  };

  const lookNow = nextFlight<void, void>(async () => {
    if (closing.signal.aborted) return;
    await step().catch((err: unknown) => log.warn({ err }, 'the renditions could not be looked at'));
  });
  const look = createDebounce(() => void lookNow(), { quietMs: tempo.media.look, longestMs: 5 * tempo.media.look });

  /** Of what needs a rendition, or may need one: see {@link Wanted}. */
  const statusOf = (sha256: string, { profile }: Pick<Wanted, 'profile'>): RenditionStatus => {
    const none = { state: 'none' as const, progress: 0, reason: null, size: null };
    const entry = entryOf(sha256, profile);
    if (entry !== undefined) {
      return 'reason' in entry
        ? { ...none, state: 'failed', reason: entry.reason }
        : { ...none, state: 'ready', progress: 1, size: entry.size };
    }
    if (running?.sha256 === sha256) return { ...none, state: 'converting', progress: running.progress };
    // It is tried again all the same, and fetched whenever it can be.
    const reason = held.get(sha256) ?? (cutsOf(sha256) < MAX_CUTS ? null : reasons.hours);
    if (profile === null && reason === null && !coming.has(sha256)) return none;
    const isQueued = [null, reasons.room, fetches.faultOf(sha256)].includes(reason);
    return { ...none, state: isQueued ? 'queued' : 'failed', reason };
  };

  return {
    statusOf,
    /** Looks soon at what is to be done. */
    look: (): void => look(),
    /** Ends the work on a file that is about to be replaced, and a measurement, which may read it too. */
    release: async (path: string): Promise<void> => {
      if (running === null || !['', path].includes(running.path)) return;
      running.abort.abort(new Error('the original is replaced'));
      await running.done;
    },
    /** Calls `listener` when a rendition has become ready or has failed. */
    onReady: news.on,
    /** What this box has for originals, for another box. */
    async offer(originals: readonly string[]): Promise<PeerRendition[]> {
      const answers = originals.flatMap((original) => jobs.get(original) ?? []);
      return Promise.all(
        answers.map(async (job) => {
          const { state, reason } = statusOf(job.sha256, job);
          const entry = store.get(job.sha256);
          const isLacking = state === 'none' || (state === 'failed' && entry === undefined);
          return {
            original: job.sha256,
            state: isLacking ? 'queued' : state,
            isUpload: job.isUpload,
            isAble: await isAble(job),
            reason: isLacking ? null : reason,
            rendition: entry !== undefined && 'sha256' in entry ? entry : null,
          };
        }),
      );
    },
    counts: () => {
      const states = [...jobs.values()]
        .map((job) => statusOf(job.sha256, job).state)
        .filter((state) => state !== 'none');
      return { results: { ...counts }, states: countBy(states) };
    },
    close: async (): Promise<void> => {
      closing.abort();
      look.cancel();
      clearTimeout(timer);
      await lookNow();
      await running?.done;
      await fetches.idle();
    },
  };
};
