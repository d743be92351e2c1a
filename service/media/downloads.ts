import { setMaxListeners } from 'node:events';
import { readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaName } from '../domain/media-names.ts';
import type { Nearness } from '../domain/network-scope.ts';
import type { Validators } from '../platform/outbound/answer.ts';
import { FetchFault } from '../platform/outbound/fault.ts';
import type { Get } from '../platform/outbound/get.ts';
import { createTurns } from '../platform/outbound/limiter.ts';
import { type Download, download } from './download.ts';
import type { Folders } from './folders.ts';
import type { Following } from './hasher.ts';
import { type Facts, inspect } from './inspect.ts';
import { createPart, isPart, type Part } from './part.ts';

interface Options {
  /** Where files and their parts go. */
  mediaDir: string;
  /** Most bytes of one medium. */
  limit: number;
  get: Get;
  hasher: { follow(path: string): Following };
  /** Rejects where there is no room for so many bytes more. */
  requireRoom(wanted: number): Promise<void>;
  folders: Pick<Folders, 'changed'>;
  catalog: { record(path: string, facts: Facts & { sha256: string }): void };
}

interface Job {
  url: string;
  /** Names the part: what comes under one key goes on where it was cut, in another start of the service too. */
  key: string;
  sha256?: string | undefined;
  size?: number | undefined;
  held?: Validators | undefined;
  /** How near its address may be: 0 the Internet alone, 1 the site's network too, 2 this machine too. Default: 2. */
  reach?: Nearness;
}

/** A medium to be had under a name in the media directory. */
interface Wanted {
  name: string;
  /** The SHA-256 (hex) that it must have. With it a part may come from several addresses. */
  sha256?: string;
  /** The bytes that there must be. */
  size?: number;
  /** When the file that this is a copy of was made; the copy is dated so too. */
  modifiedAt?: Date;
  /** Addresses to fetch it from, tried in turn. */
  from: readonly string[];
}

export type Downloads = Awaited<ReturnType<typeof createDownloads>>;

const LIMITS = { total: 4, perHost: 2, gapMs: 0 };
/** A part that nobody went on with for so long is not going to be. */
const PART_DAYS = 7;

const sweep = async (folder: string): Promise<void> => {
  const oldest = Date.now() - PART_DAYS * 24 * 60 * 60 * 1000;
  for (const name of (await readdir(folder)).filter(isPart)) {
    const { mtimeMs } = await stat(join(folder, name));
    if (mtimeMs < oldest) await rm(join(folder, name), { force: true });
  }
};

/** Fetches media into the media directory, which is there. Sweeps parts that nobody went on with. */
export const createDownloads = async ({ mediaDir, limit, get, hasher, requireRoom, folders, catalog }: Options) => {
  await sweep(mediaDir);
  const turns = createTurns(LIMITS);
  const stop = new AbortController();
  const { signal } = stop;
  // Everything that waits for its turn listens to it, and that may be hundreds.
  setMaxListeners(0, signal);
  const wanting = new Map<string, Promise<Download>>();
  const running = new Set<Promise<unknown>>();

  /**
   * Fetches one address, in its turn. `keep` gives the part, whole and on the disk for good, its place; null: what is
   * held is still the same.
   *
   * @throws FetchFault; an AbortError once this is closed
   */
  const fetch = async <Kept>(
    { url, key, sha256, size, held, reach = 2 }: Job,
    keep: (done: Download, part: Part) => Promise<Kept>,
  ): Promise<Kept | null> => {
    const run = async (): Promise<Kept | null> => {
      const part = createPart(mediaDir, key);
      const job = { url, part, sha256: sha256 ?? null, size: size ?? null, reach, ...(held && { held }) };
      const requireRoomBeside = async (wanted: number): Promise<void> => {
        await folders.changed(part.path);
        await requireRoom(wanted);
      };
      const options = { limit, follow: hasher.follow, requireRoom: requireRoomBeside, get, signal };
      try {
        const done = await download(job, options);
        return done && (await keep(done, part));
      } finally {
        await folders.changed(part.path);
      }
    };
    const work = turns.take(new URL(url).host, signal, run);
    running.add(work);
    return work.finally(() => running.delete(work));
  };

  const wantNow = async ({ name, sha256, size, modifiedAt, from }: Wanted): Promise<Download> => {
    const target = join(mediaDir, mediaName(name));
    let fault: unknown = new FetchFault('no address is known');
    for (const url of from) {
      try {
        const key = `${name}\n${sha256 ?? url}`;
        const done = await fetch({ url, key, sha256, size }, async (done, part) => {
          if (modifiedAt !== undefined) await utimes(part.path, modifiedAt, modifiedAt);
          const facts = await inspect(part.path, name);
          await part.finish(target);
          await folders.changed(target);
          catalog.record(target, { ...facts, sha256: done.sha256 });
          return done;
        });
        if (done !== null) return done;
      } catch (error) {
        if (!(error instanceof FetchFault)) throw error;
        fault = error;
      }
    }
    throw fault;
  };

  return {
    fetch,

    /**
     * Fetches a medium to a name in the media directory, in place of what has that name there; answers once it is there
     * for good. What was cut off goes on where it was with the next call, after a restart too.
     *
     * @throws FetchFault, the one of the last address; `invalid_field` for a bad name; an AbortError once this is closed
     */
    want(wanted: Wanted): Promise<Download> {
      const key = JSON.stringify([wanted.name, wanted.sha256]);
      const work = wanting.get(key) ?? wantNow(wanted).finally(() => wanting.delete(key));
      wanting.set(key, work);
      return work;
    },

    /** Breaks off what is under way, and resolves once nothing is written any more. */
    async close(): Promise<void> {
      stop.abort();
      await Promise.allSettled(running);
    },
  };
};
