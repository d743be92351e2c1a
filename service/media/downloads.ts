import { setMaxListeners } from 'node:events';
import { constants } from 'node:fs';
import { copyFile, readdir, rm, stat, utimes } from 'node:fs/promises';
import { join } from 'node:path';
import { mediaName } from '../domain/media-names.ts';
import type { NetworkScope } from '../domain/network-scope.ts';
import { withAny } from '../platform/any-signal.ts';
import { FetchFault, type Validators } from '../platform/outbound/answer.ts';
import { createTurns } from '../platform/outbound/limiter.ts';
import { codeOf } from '../platform/store/disk.ts';
import { syncFile } from '../platform/store/file.ts';
import type { MediaContext } from './context.ts';
import { createPart, type Download, download, isPart, type Part } from './download.ts';
import { FetchHeld, type FetchLimits } from './fetch-limits.ts';
import { type Facts, inspect } from './inspect.ts';

interface Dependencies {
  limits: Pick<FetchLimits, 'enter' | 'limit'>;
  /** Rejects if there is no space for `wanted` more bytes. */
  requireRoom(wanted: number): Promise<void>;
  catalog: {
    record(path: string, facts: Facts & { sha256: string }): void;
    /** A file here that has the hash. */
    fileOf(sha256: string): Promise<string | undefined>;
  };
}

interface Job {
  url: string;
  /** Names the partial file: a later download with the same key continues it, after a restart too. */
  key: string;
  sha256?: string | undefined;
  size?: number | undefined;
  /** The maximum size in bytes. Default: that of an upload. */
  limit?: number;
  held?: Validators | undefined;
  /** The nearest network that the address may be in: 0 Internet only, 1 also the LAN, 2 also loopback. Default: 2. */
  reach?: NetworkScope;
}

/** A file to fetch into the media directory. */
export interface Wanted {
  name: string;
  /** The expected SHA-256 (hex). With it, a partial file may be continued from another address. */
  sha256?: string;
  /** The expected size in bytes. */
  size?: number;
  /** The modification time of the original, which the copy gets too. */
  modifiedAt?: Date;
  /** URLs to fetch it from, tried in order. */
  from: readonly string[];
}

type Fetched = Pick<Download, 'sha256' | 'size'>;

export type Downloads = Awaited<ReturnType<typeof createDownloads>>;

const LIMITS = { total: 4, perHost: 2, gapMs: 0 };
/** Partial files that were not continued for this long are deleted. */
const PART_MS = 7 * 24 * 60 * 60 * 1000;

/** Fetches files into the media directory, which must exist. Deletes abandoned partial files at the start. */
export const createDownloads = async (
  context: Pick<MediaContext, 'options' | 'dirs' | 'get' | 'hasher' | 'folders' | 'release'>,
  { limits, requireRoom, catalog }: Dependencies,
) => {
  const { options, dirs, get, hasher, folders, release } = context;
  const { maxUploadBytes } = options;
  const mediaDir = dirs.media;
  const turns = createTurns(LIMITS);
  const stop = new AbortController();
  const { signal } = stop;
  // Every queued download listens to the signal, and there may be hundreds.
  setMaxListeners(0, signal);
  const wanting = new Map<string, Promise<Fetched>>();
  const running = new Set<Promise<unknown>>();
  /** The paths of the partial files that are being written. */
  const busy = new Set<string>();

  /** Deletes partial files that were not continued for `ms`, oldest first, until `bytes` bytes are freed. */
  const sweep = async (ms = PART_MS, bytes = Number.POSITIVE_INFINITY): Promise<void> => {
    const paths = (await readdir(mediaDir).catch((): string[] => []))
      .filter(isPart)
      .map((name) => join(mediaDir, name));
    const found = await Promise.all(
      paths.map(async (path) => ({ path, ...(await stat(path).catch(() => ({ mtimeMs: Date.now(), size: 0 }))) })),
    );
    let freed = 0;
    for (const { path, mtimeMs, size } of found.toSorted((a, b) => a.mtimeMs - b.mtimeMs)) {
      if (freed >= bytes) return;
      // A note is named after its file.
      if (mtimeMs > Date.now() - ms || [...busy].some((each) => path.startsWith(each))) continue;
      try {
        await rm(path);
        await folders.changed(path);
        freed += size;
      } catch {
        // It is gone, or another time will do.
      }
    }
  };
  await sweep();

  /**
   * Fetches one address when the limiter allows it. `keep` moves the complete, synced file to its place. Resolves to
   * null if the held copy is still current.
   *
   * @throws FetchHeld outside the hours for it, and when they end; FetchFault; an AbortError once this is closed
   */
  const fetch = async <Kept>(
    { url, key, sha256, size, limit = maxUploadBytes, held, reach = 2 }: Job,
    keep: (done: Download, part: Part) => Promise<Kept>,
  ): Promise<Kept | null> => {
    const run = async (): Promise<Kept | null> => {
      const hours = limits.enter();
      const part = createPart(mediaDir, key);
      const job = { url, part, sha256: sha256 ?? null, size: size ?? null, reach, ...(held && { held }) };
      const requireRoomBeside = async (wanted: number): Promise<void> => {
        await folders.changed(part.path);
        await requireRoom(wanted);
      };
      const limited = {
        limit,
        get,
        limits,
        hashFile: hasher.hashFile,
        requireRoom: requireRoomBeside,
      };
      busy.add(part.path);
      try {
        const done = await withAny([signal, hours], (either) => download(job, { ...limited, signal: either }));
        return done && (await keep(done, part));
      } finally {
        busy.delete(part.path);
        await folders.changed(part.path);
      }
    };
    const work = turns.take(new URL(url).host, signal, run);
    running.add(work);
    return work.finally(() => running.delete(work));
  };

  /** What is here under another name is not fetched again. @returns null: there is no such file */
  const copyHere = async ({
    name,
    sha256 = '',
    size = 0,
    modifiedAt = new Date(),
  }: Wanted): Promise<Fetched | null> => {
    const source = await catalog.fileOf(sha256);
    if (source === undefined) return null;
    const target = join(mediaDir, mediaName(name));
    const part = createPart(mediaDir, `copy\n${name}\n${sha256}`);
    busy.add(part.path);
    try {
      await requireRoom(size);
      await copyFile(source, part.path, constants.COPYFILE_FICLONE);
      // It may have been replaced meanwhile.
      if ((await hasher.hashFile(part.path).digest(size)) !== sha256) return null;
      await utimes(part.path, modifiedAt, modifiedAt);
      await syncFile(part.path);
      const facts = await inspect(part.path, name);
      await part.finish(target, release);
      await folders.changed(target);
      catalog.record(target, { ...facts, sha256 });
      return { sha256, size };
    } catch (error) {
      if (codeOf(error) === 'ENOENT') return null;
      throw error;
    } finally {
      await part.discard();
      busy.delete(part.path);
    }
  };

  const wantNow = async (wanted: Wanted): Promise<Fetched> => {
    const copy = await copyHere(wanted);
    if (copy !== null) return copy;
    const { name, sha256, size, modifiedAt, from } = wanted;
    const target = join(mediaDir, mediaName(name));
    let fault: unknown = new FetchFault('no address is known');
    for (const url of from) {
      try {
        const key = `${name}\n${sha256 ?? url}`;
        const done = await fetch({ url, key, sha256, size }, async (done, part) => {
          if (modifiedAt !== undefined) await utimes(part.path, modifiedAt, modifiedAt);
          const facts = await inspect(part.path, name);
          await part.finish(target, release);
          await folders.changed(target);
          catalog.record(target, { ...facts, sha256: done.sha256 });
          return done;
        });
        if (done !== null) return done;
      } catch (error) {
        if (!(error instanceof FetchFault) || error instanceof FetchHeld) throw error;
        fault = error;
      }
    }
    throw fault;
  };

  return {
    fetch,
    sweep,

    /**
     * Fetches a file to a name in the media directory, replacing a file of that name; resolves once it is synced to
     * disk. An interrupted download is continued by the next call, after a restart too.
     *
     * @throws FetchFault of the last address; `invalid_field` for a bad name; an AbortError once this is closed
     */
    want(wanted: Wanted): Promise<Fetched> {
      const key = JSON.stringify([wanted.name, wanted.sha256]);
      const work = wanting.get(key) ?? wantNow(wanted).finally(() => wanting.delete(key));
      wanting.set(key, work);
      return work;
    },

    /** Aborts all downloads; resolves once nothing is being written. */
    async close(): Promise<void> {
      stop.abort();
      await Promise.allSettled(running);
    },
  };
};
