import type { Stats } from 'node:fs';
import { readFile, rename, rm, writeFile } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { isMediaName } from '../domain/media-names.ts';
import { codeOf } from '../platform/store/disk.ts';
import { fingerprint } from './fingerprint.ts';
import type { Folders } from './folders.ts';
import type { Following } from './hasher.ts';
import { inspect } from './inspect.ts';

const knownFacts = z.object({
  fingerprint: z.string(),
  size: z.number(),
  sha256: z.string(),
  mediaType: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  duration: z.number().nullable(),
});
type KnownFacts = z.infer<typeof knownFacts>;

const saved = z.array(z.tuple([z.string().describe('path'), knownFacts]));

/** One medium of this box, as `/media/NAME` serves it. */
export interface MediaEntry extends Omit<KnownFacts, 'fingerprint'> {
  name: string;
  /** ISO 8601. */
  modifiedAt: string;
}

interface Options {
  /** The file that keeps the catalog between starts. It can be lost: it is made again from the folders. */
  path: string;
  /** The first one that has a name is the one that serves it. */
  served: readonly string[];
  folders: Pick<Folders, 'read'>;
  hasher: { follow(path: string): Following };
  log: Logger;
}

const temporaryOf = (path: string): string => `${path}.new`;

const read = async (path: string, log: Logger): Promise<[string, KnownFacts][]> => {
  try {
    // Left by a service that was killed while it wrote.
    await rm(temporaryOf(path), { force: true });
    return saved.parse(JSON.parse(await readFile(path, 'utf8')));
  } catch (error) {
    if (codeOf(error) !== 'ENOENT') log.warn({ err: error }, 'the catalog is made anew');
    return [];
  }
};

/** Uploads that come within this share one write of the catalog. */
const SAVE_MS = 1_000;

/**
 * What is known of the media in the folders. Nothing watches them: each look compares every file with what was known of
 * it, so that files put there by hand are found, and nothing stale is ever told. What is new is read in the background,
 * one file at a time, and is part of a later look.
 */
export const createCatalog = ({ path, served, folders, hasher, log }: Options) => {
  const known = new Map<string, KnownFacts>();
  const unread = new Set<string>();
  let reading = false;
  let closed = false;
  let changed = false;
  let loading: Promise<void> | undefined;
  let saving = Promise.resolve();
  let timer: NodeJS.Timeout | undefined;
  const listeners: (() => void)[] = [];

  /** What uploads have told since the start is newer than what was kept. */
  const load = async (): Promise<void> => {
    for (const [file, facts] of await read(path, log)) if (!known.has(file)) known.set(file, facts);
  };
  const loaded = (): Promise<void> => {
    loading ??= load();
    return loading;
  };

  const write = async (): Promise<void> => {
    if (!changed) return;
    changed = false;
    await loaded();
    await writeFile(temporaryOf(path), JSON.stringify([...known]));
    await rename(temporaryOf(path), path);
  };
  const save = (): Promise<void> => {
    saving = saving.then(write).catch((error: unknown) => log.warn({ err: error }, 'the catalog could not be kept'));
    return saving;
  };

  const learn = (file: string, facts: KnownFacts): void => {
    known.set(file, facts);
    changed = true;
    for (const listener of listeners) listener();
  };

  /** A file that changes meanwhile is not the one of this fingerprint any more, and is read again. */
  const examine = async (file: string): Promise<void> => {
    const facts = await inspect(file, basename(file));
    learn(file, { ...facts, sha256: await hasher.follow(file).digest(facts.size) });
  };

  const readOn = async (): Promise<void> => {
    if (reading) return;
    reading = true;
    for (const file of unread) {
      if (closed) break;
      await examine(file).catch((error: unknown) => log.debug({ err: error, file }, 'a medium could not be read'));
      unread.delete(file);
    }
    reading = false;
    await save();
  };

  return {
    /** All media that have been read, by name, as the folders were no longer than `maxAgeMs` ago. */
    async list(maxAgeMs = 0): Promise<MediaEntry[]> {
      await loaded();
      const found = await folders.read(maxAgeMs);
      const gone = new Set(known.keys());
      const seen = new Set<string>();
      const entries: MediaEntry[] = [];
      for (const folder of served) {
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
          entries.push({ name, modifiedAt: new Date(Math.round(stats.mtimeMs)).toISOString(), ...rest });
        }
      }
      for (const file of gone) changed = known.delete(file) || changed;
      void readOn();
      return entries.sort((a, b) => (a.name < b.name ? -1 : 1));
    },

    /** The SHA-256 (hex) of a file, where it is known of the file as it is now. */
    hashOf(file: string, stats: Stats): string | undefined {
      const facts = known.get(file);
      return facts?.fingerprint === fingerprint(stats) ? facts.sha256 : undefined;
    },

    /** The names of files that are there, but were not read yet, or not as they are now. */
    unread: (): Set<string> => new Set([...unread].map((file) => basename(file))),

    /** Calls back when something has been learnt of a file. */
    onLearn: (listener: () => void): void => {
      listeners.push(listener);
    },

    /** Tells what an upload's facts are, so that it need not be read again. */
    record(file: string, facts: KnownFacts): void {
      learn(file, facts);
      timer ??= setTimeout(() => {
        timer = undefined;
        void save();
      }, SAVE_MS).unref();
    },

    /** Stops reading, and keeps what is known. */
    async close(): Promise<void> {
      closed = true;
      clearTimeout(timer);
      await save();
    },
  };
};
