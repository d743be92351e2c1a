import type { Stats } from 'node:fs';
import { readFile, stat } from 'node:fs/promises';
import { basename, join } from 'node:path';
import { z } from 'zod';
import { createDebounce } from '../domain/debounce.ts';
import { createEmitter } from '../domain/emitter.ts';
import { isMediaName } from '../domain/media-names.ts';
import { singleFlight } from '../domain/single-flight.ts';
import { isMissing, systemDisk } from '../platform/store/disk.ts';
import { keepCopy } from '../platform/store/file.ts';
import { sweepRewrites } from '../platform/store/rewrite.ts';
import type { MediaContext } from './context.ts';
import { dateOf, fingerprint } from './folders.ts';
import { inspect, type Probe } from './inspect.ts';
import { profiles } from './renditions/profile.ts';

export const loudness = z.object({
  /** LUFS (EBU R 128). */
  integrated: z.number(),
  /** dBFS. */
  peak: z.number(),
});
/** How loud a film or a sound is. */
export type Loudness = z.infer<typeof loudness>;

const knownFacts = z.object({
  fingerprint: z.string(),
  size: z.number(),
  sha256: z.string(),
  mediaType: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  duration: z.number().nullable(),
  codec: z.string().nullable(),
  codecProfile: z.string().nullable(),
  frameRate: z.number().nullable(),
  profile: z.enum(profiles).nullable(),
  isShowable: z.boolean(),
  isReadable: z.boolean(),
  loudness: loudness.nullable().optional().describe('null: it has no sound; absent: not measured'),
  isProbed: z.boolean(),
});
type KnownFacts = z.infer<typeof knownFacts>;

const saved = z.array(z.tuple([z.string().describe('path'), knownFacts]));

/** One media file of this box, as `/media/NAME` serves it. */
export interface MediaEntry extends Omit<KnownFacts, 'fingerprint'> {
  name: string;
  path: string;
  /** ISO 8601. */
  modifiedAt: string;
}

const read = async (path: string, log: MediaContext['log']): Promise<[string, KnownFacts][]> => {
  try {
    // A service that was killed while writing leaves a temporary file.
    await sweepRewrites(path);
    return saved.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (!isMissing(error)) log.warn({ err: error }, 'the media catalog could not be read and is rebuilt');
    return [];
  }
};

/**
 * The metadata of the files in the media folders. The folders are not watched: each `list` compares every file's
 * fingerprint with the stored one, so it finds files that were added by hand and never returns stale metadata. New
 * files are read in the background, one at a time, and appear in a later `list`. The size and length of films and sounds
 * is read after that: a file that takes a child long keeps no other from the list.
 */
export const createCatalog = (
  { dirs, folders, hasher, log, tempo }: Pick<MediaContext, 'dirs' | 'folders' | 'hasher' | 'log' | 'tempo'>,
  probe: Probe,
) => {
  // If the file is missing, the catalog is rebuilt from the folders.
  const path = join(dirs.data, 'media.json');
  const known = new Map<string, KnownFacts>();
  const unread = new Set<string>();
  /** What was read since the start, well or badly. */
  const tried = new Set<string>();
  const unprobed = new Set<string>();
  /** Files that a page has asked for before they were read: they come first. */
  const asked = new Set<string>();
  const working = new Set<ReadonlySet<string>>();
  const closing = new AbortController();
  let changed = false;
  let loading: Promise<void> | undefined;
  let saving = Promise.resolve();
  const news = createEmitter<[name: string]>();

  /**
   * Facts that uploads recorded since the start are newer than the saved ones and win. What could not be read is read
   * again: the machine may only have been busy.
   */
  const load = async (): Promise<void> => {
    for (const [file, facts] of await read(path, log))
      if (!known.has(file)) known.set(file, { ...facts, isProbed: facts.isProbed && facts.isReadable });
  };
  const loaded = (): Promise<void> => {
    loading ??= load();
    return loading;
  };

  const write = async (): Promise<void> => {
    if (!changed) return;
    changed = false;
    await loaded();
    await keepCopy(systemDisk, path, Buffer.from(JSON.stringify([...known])));
  };
  const save = (): Promise<void> => {
    saving = saving
      .then(write)
      .catch((error: unknown) => log.warn({ err: error }, 'the media catalog could not be saved'));
    return saving;
  };

  const saveSoon = createDebounce(() => void save(), { quietMs: tempo.media.save, longestMs: tempo.media.save });

  const store = (file: string, facts: KnownFacts): void => {
    known.set(file, facts);
    changed = true;
    news.emit(basename(file));
  };

  /** If the file changes while it is read, its fingerprint no longer matches and a later `list` reads it again. */
  const readFacts = async (file: string): Promise<void> => {
    const facts = await inspect(file, basename(file));
    store(file, { ...facts, sha256: await hasher.hashFile(file).digest(facts.size) });
    if (facts.isProbed) return;
    unprobed.add(file);
    if (asked.has(file)) await probeOnce(file);
  };

  const probeFacts = async (file: string): Promise<void> => {
    const before = known.get(file);
    if (before === undefined || before.isProbed) return;
    const facts = await inspect(file, basename(file));
    const shown = facts.isProbed ? facts : await probe(file, before.mediaType, closing.signal);
    // Meanwhile the file may have been replaced.
    if (!shown || known.get(file) !== before || closing.signal.aborted) return;
    store(file, { ...before, ...shown, sha256: before.sha256, isProbed: true });
  };
  /** Requests for a file that has not been probed share the work, and wait for no other file. */
  const probeOnce = singleFlight(probeFacts);

  const nextOf = (files: ReadonlySet<string>): string | undefined => {
    for (const file of asked) if (files.has(file)) return file;
    return files.values().next().value;
  };

  /** Works on the files of a set one by one; a call while this is in progress has no effect. */
  const workOn = async (files: Set<string>, work: (file: string) => Promise<void>): Promise<void> => {
    if (working.has(files) || files.size === 0) return;
    working.add(files);
    for (let file = nextOf(files); file !== undefined && !closing.signal.aborted; file = nextOf(files)) {
      await work(file).catch((error: unknown) => log.debug({ err: error, file }, 'a media file could not be read'));
      tried.add(file);
      files.delete(file);
      asked.delete(file);
    }
    working.delete(files);
    await save();
  };

  const workOnPending = async (): Promise<void> => {
    await workOn(unread, readFacts);
    await workOn(unprobed, probeOnce);
  };

  return {
    /** All media files whose metadata is known, sorted by name. The folder listing is at most `maxAgeMs` old. */
    async list(maxAgeMs = 0): Promise<MediaEntry[]> {
      await loaded();
      const found = await folders.read(maxAgeMs);
      const gone = new Set(known.keys());
      const seen = new Set<string>();
      const entries: MediaEntry[] = [];
      // A name is served from the first folder that has it.
      for (const folder of [dirs.uploads, dirs.media]) {
        for (const [name, stats] of found.get(folder) ?? []) {
          if (!isMediaName(name)) continue;
          const file = join(folder, name);
          gone.delete(file);
          if (seen.has(name)) continue;
          seen.add(name);
          const facts = known.get(file);
          if (facts?.fingerprint !== fingerprint(stats)) {
            unread.add(file);
            continue;
          }
          const { fingerprint: _, ...rest } = facts;
          if (!facts.isProbed) unprobed.add(file);
          entries.push({ name, path: file, modifiedAt: new Date(dateOf(stats)).toISOString(), ...rest });
        }
      }
      if (folders.isComplete())
        for (const file of gone) {
          changed = known.delete(file) || changed;
          tried.delete(file);
        }
      void workOnPending();
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    /** The SHA-256 (hex) of a file; undefined if it is not known for this version of the file. */
    hashOf(file: string, stats: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>): string | undefined {
      const facts = known.get(file);
      return facts?.fingerprint === fingerprint(stats) ? facts.sha256 : undefined;
    },

    /** The same file under another name, or with another date, so that it is not read again. */
    again(file: string, stats: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>, other: string, now: typeof stats): void {
      const facts = known.get(file);
      if (facts?.fingerprint === fingerprint(stats)) store(other, { ...facts, fingerprint: fingerprint(now) });
      saveSoon();
    },

    /** What is known of a file, which is probed if it was not; undefined if it has not been read in this version. */
    async reading(file: string, stats: Pick<Stats, 'size' | 'mtimeMs' | 'ino'>): Promise<KnownFacts | undefined> {
      await loaded();
      const facts = known.get(file);
      if (facts?.fingerprint !== fingerprint(stats)) {
        asked.add(file);
        return;
      }
      if (!facts.isProbed) await probeOnce(file).catch(() => undefined);
      return known.get(file);
    },

    /** A file of a hash whose metadata is known; undefined: there is none. */
    async fileOf(sha256: string): Promise<string | undefined> {
      await loaded();
      for (const [file, facts] of known) {
        if (facts.sha256 !== sha256) continue;
        const stats = await stat(file).catch(() => null);
        if (stats !== null && facts.fingerprint === fingerprint(stats)) return file;
      }
      return;
    },

    /** Records how loud the files of a hash are. */
    measured(sha256: string, found: Loudness | null): void {
      for (const [file, facts] of known) if (facts.sha256 === sha256) store(file, { ...facts, loudness: found });
      saveSoon();
    },

    /** The names of files whose current version has not been read yet. */
    unread: (): Set<string> => new Set([...unread].map((file) => basename(file))),
    /** Those of which no version has been read since the start either: some change all the time, or cannot be read. */
    untried: (): Set<string> => new Set([...unread].flatMap((file) => (tried.has(file) ? [] : basename(file)))),

    /** Calls `listener` with the name of each file whose metadata change. */
    onLearn: news.on,

    /** Records the metadata of an upload, so that the file is not read again. */
    record(file: string, facts: KnownFacts): void {
      store(file, facts);
      saveSoon();
      if (facts.isProbed) return;
      unprobed.add(file);
      void workOn(unprobed, probeOnce);
    },

    /** Stops reading and saves the catalog. */
    async close(): Promise<void> {
      closing.abort();
      saveSoon.cancel();
      await save();
    },
  };
};
export type Catalog = ReturnType<typeof createCatalog>;
