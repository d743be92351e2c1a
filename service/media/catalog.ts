import { readdir, readFile, rename, stat, writeFile } from 'node:fs/promises';
import { open } from 'node:fs/promises';
import { basename, join } from 'node:path';
import type { Logger } from 'pino';
import { z } from 'zod';
import { fingerprint } from './fingerprint.ts';
import type { Following } from './hasher.ts';
import { inspect } from './inspect.ts';
import { mediaName } from './names.ts';

const facts = z.object({
  fingerprint: z.string(),
  sha256: z.string(),
  mediaType: z.string(),
  width: z.number().nullable(),
  height: z.number().nullable(),
  duration: z.number().nullable(),
});
type KnownFacts = z.infer<typeof facts>;

const savedFacts = z.array(z.tuple([z.string(), facts]));

/** One medium of this box, as `/media/NAME` serves it. */
export interface MediaEntry extends Omit<KnownFacts, 'fingerprint'> {
  name: string;
  /** Bytes. */
  size: number;
  /** ISO 8601. */
  modifiedAt: string;
}

interface Options {
  /** The file that keeps the catalog between starts. It can be lost: it is made again from the folders. */
  path: string;
  /** In the order of precedence. */
  folders: readonly string[];
  hasher: { follow(path: string): Following };
  log: Logger;
}

const isName = (name: string): boolean => {
  try {
    return mediaName(name) === name;
  } catch {
    return false;
  }
};

/**
 * What is known of the media in the folders. Nothing watches them: each look compares every file with what was known of
 * it, so that files put there by hand are found and nothing stale is ever told. What is new is read in the background,
 * one file at a time, and is part of a later look.
 */
export const createCatalog = ({ path, folders, hasher, log }: Options) => {
  const waiting = new Set<string>();
  let loaded: Promise<Map<string, KnownFacts>> | undefined;
  let working = false;
  let closed = false;
  let changed = false;
  let saving = Promise.resolve();

  const load = (): Promise<Map<string, KnownFacts>> => {
    loaded ??= readFile(path, 'utf8').then(
      (text) => new Map(savedFacts.parse(JSON.parse(text))),
    ).catch((error: unknown) => {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.warn({ err: error }, 'the catalog is made anew');
      return new Map();
    });
    return loaded;
  };

  const save = (): Promise<void> => {
    saving = saving.then(async () => {
      if (!changed) return;
      changed = false;
      await writeFile(`${path}.new`, JSON.stringify([...(await load())]));
      await rename(`${path}.new`, path);
    }).catch((error: unknown) => log.warn({ err: error }, 'the catalog could not be kept'));
    return saving;
  };

  const set = async (file: string, known: KnownFacts) => {
    (await load()).set(file, known);
    changed = true;
  };

  /** Reads a file that nothing is known of. One that changes meanwhile is left for the next look. */
  const examine = async (file: string): Promise<void> => {
    const handle = await open(file);
    try {
      const before = await handle.stat();
      const found = await inspect(handle, basename(file));
      const sha256 = await hasher.follow(file).digest(before.size);
      const mark = fingerprint(before);
      if (mark === fingerprint(await handle.stat())) await set(file, { ...found, sha256, fingerprint: mark });
    } finally {
      await handle.close();
    }
  };

  const work = async (): Promise<void> => {
    if (working) return;
    working = true;
    for (const file of waiting) {
      if (closed) break;
      await examine(file).catch((error: unknown) => log.debug({ err: error, file }, 'a medium could not be read'));
      waiting.delete(file);
    }
    working = false;
    await save();
  };

  return {
    /** Everything known of the media that are there now, by name. What is new is missing until it has been read. */
    async list(): Promise<MediaEntry[]> {
      const known = await load();
      const gone = new Set(known.keys());
      const entries = new Map<string, MediaEntry | null>();
      for (const folder of folders) {
        for (const name of (await readdir(folder)).filter(isName)) {
          const file = join(folder, name);
          const stats = await stat(file).catch(() => null);
          if (!stats?.isFile()) continue;
          gone.delete(file);
          const { fingerprint: mark, ...rest } = known.get(file) ?? { fingerprint: null };
          
        }
      }
      return [];
    },
  };
};
