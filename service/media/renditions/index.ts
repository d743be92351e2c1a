/** Renditions: what is shown instead of media that browsers do not show, or show badly. */
import { open } from 'node:fs/promises';
import { dirname } from 'node:path';
import type { Content, MediaUse } from '../../content/index.ts';
import type { ContentIssue } from '../../contract/content-terms.ts';
import { CodedError } from '../../contract/errors.ts';
import type { RenditionStatus } from '../../contract/media.ts';
import { remember } from '../../domain/collections.ts';
import { shownAddress } from '../../domain/media-names.ts';
import type { ServiceContext } from '../../module.ts';
import { createSlots } from '../../platform/slots.ts';
import { isMissing } from '../../platform/store/disk.ts';
import type { Catalog, Loudness, MediaEntry } from '../catalog.ts';
import type { MediaContext } from '../context.ts';
import type { Copy, Ledger } from '../copies/ledger.ts';
import type { Downloads } from '../downloads.ts';
import { fingerprint, KEPT_MS } from '../folders.ts';
import { type Facts, inspect, type Probe, type Reading } from '../inspect.ts';
import type { OpenFile, OpenMedium } from '../serve.ts';
import { createConverter } from './convert.ts';
import { createMeter } from './loudness.ts';
import type { Profile } from './profile.ts';
import { reasons } from './reasons.ts';
import type { RenditionStore } from './store.ts';
import { createRenditionWork, moved, type SiteRenditions, type Wanted } from './work.ts';

type Context = MediaContext & Pick<ServiceContext, 'ffmpeg' | 'confined' | 'runScript' | 'monotonicNow' | 'ids'>;

interface Dependencies {
  store: RenditionStore;
  catalog: Pick<Catalog, 'hashOf' | 'list' | 'reading' | 'untried' | 'onLearn' | 'measured'>;
  ledger: Pick<Ledger, 'all' | 'get' | 'fileOf' | 'measured' | 'onPut'>;
  downloads: Pick<Downloads, 'fetch'>;
  content: Pick<Content, 'mediaInOrder' | 'mediaNames' | 'onChange'>;
  /** Whether a file of the media directory is a copy of another box's upload. */
  isPeerCopy(name: string): boolean;
  requireRoom(bytes: number, mayEvict: boolean, written?: number): Promise<void>;
  askSite(originals: readonly string[]): Promise<SiteRenditions>;
  /** The hashes of files that somebody has deleted. */
  deleted(): ReadonlySet<string>;
  probe: Probe;
}

/** A rendition that is sent instead of an original. */
export interface OpenRendition extends OpenFile {
  file: string;
  profile: Profile;
  mediaType: string;
  sha256: string;
}

/** What is known of a file, and whether a child has read it where that is needed. */
type Known = Reading & Pick<Facts, 'isProbed'>;

/** A file of this box, and when it is worked on. */
interface Kept extends Wanted, Pick<Known, 'isReadable' | 'isProbed'> {
  loudness?: Loudness | null | undefined;
  /** The lowest first, and of one rank the oldest. */
  rank: number;
  since: number;
}

/** How a file is sent. */
interface Found {
  /** Null: as it is. */
  made: OpenRendition | null;
  /** LUFS; null: not known. */
  loudness: number | null;
}

const asItIs: Found = { made: null, loudness: null };

/** A file is asked for again after so many seconds. */
const RETRY_AFTER = '2';
/** Files that are looked at before they have been read and hashed. */
const MAX_GLANCES = 1_000;
const MAX_WARNINGS = 100;

export const createRenditions = (context: Context, dependencies: Dependencies) => {
  const { dirs, log } = context;
  const { store, catalog, ledger, content, probe } = dependencies;
  const closing = new AbortController();
  /** What was read of copies, by their hash. */
  const copyReadings = new Map<string, Known>();
  /** What was read of files whose hash is not known yet, by path and version. */
  const glances = new Map<string, Promise<Known>>();

  /** @param mediaType absent: that of the name and the first bytes */
  const read = async (file: string, name: string, mediaType?: string): Promise<Known> => {
    const facts = await inspect(file, name, mediaType);
    const shown = facts.isProbed ? null : await probe(file, facts.mediaType, closing.signal);
    return { ...facts, ...shown, isProbed: facts.isProbed || shown !== null };
  };

  const canProbe = async (): Promise<boolean> => (await context.ffmpeg.find()) !== null;

  const readCopy = async (copy: Copy): Promise<Known | null> => {
    const known = copyReadings.get(copy.sha256);
    // What was read without ffmpeg is read again once there is one.
    if (known !== undefined && (known.isProbed || !(await canProbe()))) return known;
    const reading = await read(ledger.fileOf(copy), copy.sha256, copy.mediaType).catch(() => null);
    if (reading !== null) copyReadings.set(copy.sha256, reading);
    return reading;
  };

  /** The files that can be read: what plays first, then the other named ones, then the rest, the oldest first. */
  const inOrder = async (): Promise<Kept[]> => {
    const order = [...content.mediaInOrder()];
    const places = new Map(order.map((medium, index) => [medium, index]));
    const names = content.mediaNames();
    const rank = (medium: string, isNamed: boolean): number => places.get(medium) ?? order.length + (isNamed ? 0 : 1);
    const kept = (await catalog.list(KEPT_MS)).map(({ name, path, modifiedAt, ...entry }): Kept => {
      const isNamed = names.has(name);
      const isUpload = dirname(path) === dirs.uploads || !dependencies.isPeerCopy(name);
      const place = { rank: rank(name, isNamed), since: Date.parse(modifiedAt) };
      return { ...entry, ...place, path, isNamed, isUpload, hasOwner: true };
    });
    const copies = ledger.all();
    const hashes = new Set(copies.map(({ copy }) => copy.sha256));
    for (const sha256 of copyReadings.keys()) if (!hashes.has(sha256)) copyReadings.delete(sha256);
    for (const { url, copy, isNamed } of copies) {
      const reading = await readCopy(copy);
      if (reading === null) continue;
      const { sha256, mediaType, loudness, usedAt } = copy;
      const place = { rank: rank(url, isNamed), since: usedAt };
      const given = { path: ledger.fileOf(copy), isNamed, isUpload: false, hasOwner: false };
      kept.push({ ...reading, ...place, ...given, sha256, mediaType, loudness });
    }
    return kept.filter(({ isReadable }) => isReadable).sort((a, b) => a.rank - b.rank || a.since - b.since);
  };

  /** Where there is no ffmpeg other boxes tell which films need a rendition. */
  const wanted = async (): Promise<Wanted[]> => {
    const isBlind = !(await canProbe());
    return (await inOrder()).filter(
      ({ profile, isProbed, mediaType }) =>
        profile !== null || (isBlind && !isProbed && mediaType.startsWith('video/')),
    );
  };

  const present = async (): Promise<ReadonlyMap<string, string>> => {
    const copies = ledger.all().map(({ copy }) => [copy.sha256, ledger.fileOf(copy)] as const);
    const files = (await catalog.list(KEPT_MS)).map(({ sha256, path }) => [sha256, path] as const);
    return new Map([...copies, ...files]);
  };

  const measure = createMeter(context);
  /** Hashes of files that could not be measured; the next start tries again. */
  const unmeasured = new Set<string>();
  /** Finds a file whose loudness is not known, to be measured. */
  const rest = async (): Promise<((signal: AbortSignal) => Promise<void>) | null> => {
    if (!(await canProbe())) return null;
    const entry = (await inOrder()).find(
      ({ sha256, loudness, isProbed, mediaType }) =>
        loudness === undefined && !unmeasured.has(sha256) && isProbed && /^(?:video|audio)\//.test(mediaType),
    );
    if (entry === undefined) return null;
    return async (signal) => {
      const found = await measure(entry, signal);
      if (signal.aborted) return;
      if (found === undefined) unmeasured.add(entry.sha256);
      else if (!entry.hasOwner) await ledger.measured(entry.sha256, found);
      // One that was renamed meanwhile is measured by its new name.
      else if ((await moved(catalog, entry)) !== null) await context.folders.changed(entry.path);
      else catalog.measured(entry.sha256, found);
    };
  };

  const converter = createConverter(context);
  const work = createRenditionWork(context, { ...dependencies, converter, wanted, present, rest });

  /** @param wantedProfile null: any */
  const openReady = async (original: string, wantedProfile: Profile | null): Promise<OpenRendition | null> => {
    const entry = store.get(original);
    if (entry === undefined || 'reason' in entry || (wantedProfile ?? entry.profile) !== entry.profile) return null;
    try {
      const file = store.fileOf(original);
      const handle = await open(file);
      const { profile, mediaType, sha256 } = entry;
      return { handle, stats: await handle.stat(), file, profile, mediaType, sha256 };
    } catch (error) {
      if (!isMissing(error)) {
        log.warn({ err: error }, 'a rendition cannot be read');
        return null;
      }
      log.warn({ err: error }, 'a rendition is missing and is made again');
      await store.remove([original]);
      work.look();
      return null;
    }
  };

  const choose = async (sha256: string | undefined, { profile, isShowable, isReadable, isProbed }: Known) => {
    if ((profile === null && isProbed) || !isReadable) return null;
    const ready = sha256 === undefined ? null : await openReady(sha256, profile);
    if (ready !== null || isShowable) return ready;
    if (sha256 !== undefined && work.statusOf(sha256, { profile }).state === 'failed') return null;
    throw new CodedError('media_not_ready', undefined, { headers: { 'Retry-After': RETRY_AFTER } });
  };

  const glance = async (name: string, { path, stats }: OpenMedium): Promise<Known> => {
    const key = `${path}\n${fingerprint(stats)}`;
    const known = glances.get(key) ?? read(path, name);
    remember(glances, key, known, MAX_GLANCES);
    // A file that could not be read now may be later.
    known.catch(() => glances.delete(key));
    return known;
  };

  /** What the console shows of a file. */
  const statusOf = async (
    entry: Pick<MediaEntry, 'sha256' | 'isProbed' | 'isReadable' | 'profile'>,
  ): Promise<RenditionStatus> => {
    const { sha256, profile, isProbed, isReadable } = entry;
    const none = { progress: 0, reason: null, size: null };
    // Without ffmpeg it stays unread.
    if (!isProbed && (await canProbe())) return { ...none, state: 'queued' };
    if (!isReadable) return { ...none, state: 'failed', reason: reasons.damaged };
    return isProbed && profile === null ? { ...none, state: 'none' } : work.statusOf(sha256, entry);
  };

  const isOn = context.options.variant === 'extended';
  const look = (): void => {
    if (isOn) work.look();
  };
  content.onChange(look);
  catalog.onLearn(look);
  ledger.onPut(look);
  /** A file that was put there by hand is found when it is asked for. */
  const notice = async (path: string): Promise<void> => {
    await context.folders.changed(path);
    look();
  };

  return {
    /**
     * The rendition to send instead of an open file, and how loud it is.
     * @throws CodedError `media_not_ready`
     */
    async find(name: string, medium: OpenMedium): Promise<Found> {
      if (!isOn) return asItIs;
      const facts = await catalog.reading(medium.path, medium.stats);
      if (facts === undefined) await notice(medium.path);
      const made = await choose(facts?.sha256, facts ?? (await glance(name, medium)));
      return { made, loudness: facts?.loudness?.integrated ?? null };
    },

    /** The same for the copy of a remote medium. */
    async findOfCopy(copy: Copy): Promise<Found> {
      if (!isOn) return asItIs;
      const reading = await readCopy(copy);
      const made = reading === null ? null : await choose(copy.sha256, reading);
      return { made, loudness: copy.loudness?.integrated ?? null };
    },

    /** The rendition that has the hash itself; the caller closes it. */
    async openByHash(sha256: string): Promise<OpenRendition | null> {
      const found = store.withHash(sha256);
      const handle = found && (await open(found.file).catch(() => undefined));
      return handle === undefined || found === undefined ? null : { ...found, handle, stats: await handle.stat() };
    },

    statusOf,
    /** What in a content has a medium that cannot be shown. @param uses of files; `remoteUses`: of addresses */
    async warnings({ uses, remoteUses }: Record<'uses' | 'remoteUses', ReadonlyMap<string, MediaUse>>) {
      if (!isOn) return [];
      const issues: ContentIssue[] = [];
      const note = ({ path, label }: MediaUse, name: string, { state, reason }: RenditionStatus): void => {
        const message = `${label}: ${JSON.stringify(name)} is not shown. ${reason}`;
        if ((state === 'failed' || (state === 'queued' && reason !== null)) && issues.length < MAX_WARNINGS)
          issues.push({ path, message });
      };
      for (const entry of uses.size === 0 ? [] : await catalog.list(KEPT_MS)) {
        const use = uses.get(entry.name);
        if (use !== undefined) note(use, entry.name, await statusOf(entry));
      }
      for (const [url, use] of remoteUses) {
        const copy = ledger.get(url);
        // What has not been read yet has not failed either.
        const reading = copyReadings.get(copy?.sha256 ?? '');
        if (copy === undefined || reading === undefined) continue;
        note(use, shownAddress(url), await statusOf({ ...reading, sha256: copy.sha256 }));
      }
      return issues;
    },

    look,
    onReady: work.onReady,
    offer: work.offer,
    release: work.release,
    counts: work.counts,
    /** Evicts renditions of what the content does not name now. @returns the bytes freed */
    evict: async (bytes: number): Promise<number> => {
      // By hashes alone: an upload waits for this, and what has not been read would be probed.
      const names = content.mediaNames();
      const files = (await catalog.list(KEPT_MS)).filter(({ name }) => names.has(name));
      // Any rendition may be that of a named file that has not been read.
      if ([...catalog.untried()].some((name) => names.has(name))) return 0;
      const copies = ledger.all().flatMap(({ copy, isNamed }) => (isNamed ? [copy] : []));
      const named = new Set([...files, ...copies].map(({ sha256 }) => sha256));
      return store.evict(bytes, (original) => named.has(original));
    },
    close: async (): Promise<void> => {
      closing.abort();
      await work.close();
    },
  };
};
export type Renditions = ReturnType<typeof createRenditions>;

/** Probes at a time: each is a process. */
const MAX_PROBES = 2;

/** Bounds how many files are probed at a time. */
export const createBoundedProbe = (probe: Probe): Probe => {
  const slots = createSlots(MAX_PROBES);
  return (...asked) => slots.run(() => probe(...asked));
};
