/** Thumbnails of media, made by ffmpeg one at a time. */
import { createHash } from 'node:crypto';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { remember } from '../domain/collections.ts';
import { demuxerOf } from '../domain/media-types.ts';
import type { Media } from '../media/index.ts';
import type { RunConfined } from '../platform/confined.ts';
import type { Ffmpeg } from '../platform/ffmpeg.ts';
import { createQueue } from '../platform/queue.ts';
import type { Disk } from '../platform/store/disk.ts';
import { keepCopy, makeFolder } from '../platform/store/file.ts';

const LONGEST_SIDE = 640;
const TIMEOUT_MS = 15_000;
/** Larger pictures would take too much memory: 64 megapixels are 256 MiB. */
const MAX_PIXELS = 64 * 1024 ** 2;
/** Thumbnails that wait to be made. */
const MAX_WAITING = 500;
/** There is no picture where ffmpeg was cut so often: the machine may be busy, or the file takes too long. */
const MAX_CUTS = 3;
/** Media without a picture that are remembered. */
const MAX_FAILED = 2_000;
/** Videos often begin with black. */
const SEEK_SECONDS = 1;

/** As displayed: pixels need not be square. A side of a very long picture has at least one pixel. */
const scale =
  `scale=w='if(gte(dar,1),${LONGEST_SIDE},max(1,round(${LONGEST_SIDE}*dar)))'` +
  `:h='if(gte(dar,1),max(1,round(${LONGEST_SIDE}/dar)),${LONGEST_SIDE})',setsar=1`;

const argumentsFor = (path: string, demuxer: string, seek: number): string[] => [
  ...['-nostdin', '-v', 'error', '-threads', '1', '-filter_threads', '1', '-max_pixels', String(MAX_PIXELS)],
  ...['-protocol_whitelist', 'file', '-f', demuxer],
  ...(seek > 0 ? ['-ss', String(seek)] : []),
  ...['-i', `file:${path}`, '-map', '0:v:0', '-frames:v', '1', '-vf', scale],
  ...['-pix_fmt', 'yuvj420p', '-q:v', '4', '-threads', '1', '-f', 'mjpeg', 'pipe:1'],
];

export type Thumbnails = ReturnType<typeof createThumbnails>;

interface Dependencies {
  media: Pick<Media, 'open' | 'openRendition'>;
  ffmpeg: Ffmpeg;
  confined: RunConfined;
  cache: ThumbnailCache;
  log: Logger;
}

interface Job {
  made: Promise<Buffer | null>;
  /** Of the clients that wait for it. */
  signals: AbortSignal[];
}

export const createThumbnails = ({ media, ffmpeg, cache, confined, log }: Dependencies) => {
  const jobs = new Map<string, Job>();
  /** Failed attempts by file; a file without a picture counts as {@link MAX_CUTS} at once. */
  const failed = new Map<string, number>();
  const enqueue = createQueue();
  const closing = new AbortController();

  /** @returns null: there is no picture; undefined: ffmpeg was cut */
  const run = async (program: string, path: string, demuxer: string, seek: number) => {
    const args = argumentsFor(path, demuxer, seek);
    const { isDone, isCut, stdout, stderr } = await confined({
      program,
      args,
      file: path,
      timeout: TIMEOUT_MS,
      signal: closing.signal,
    });
    if (isDone && stdout.length > 0) return stdout;
    log.debug({ path, stderr }, 'ffmpeg could not make a thumbnail');
    return isCut ? undefined : null;
  };

  const make = async (key: string, path: string, type: string): Promise<Buffer | null> => {
    const demuxer = demuxerOf(type);
    const program = await ffmpeg.find();
    if (demuxer === undefined || program === null || closing.signal.aborted) return null;
    const seek = type.startsWith('video/') ? SEEK_SECONDS : 0;
    const first = await run(program.path, path, demuxer, seek);
    const bytes = first ?? (seek > 0 ? await run(program.path, path, demuxer, 0) : first);
    if (bytes)
      await cache.write(key, bytes).catch((error: unknown) => log.debug({ err: error }, 'a thumbnail is not cached'));
    else remember(failed, key, bytes === null ? MAX_CUTS : (failed.get(key) ?? 0) + 1, MAX_FAILED);
    return bytes ?? null;
  };

  const jobFor = (key: string, path: string, type: string): Job => {
    const known = jobs.get(key);
    if (known !== undefined) return known;
    if (jobs.size >= MAX_WAITING) {
      throw tooManyRequests(5, 'Too many thumbnails are waiting to be made; ask again in a moment.');
    }
    const signals: AbortSignal[] = [];
    const made = enqueue(async () => (signals.every(({ aborted }) => aborted) ? null : make(key, path, type)));
    const job = { made: made.finally(() => jobs.delete(key)), signals };
    jobs.set(key, job);
    return job;
  };

  /** The file that is shown: the rendition, where there is one. */
  const findFile = async (name: string): Promise<{ path: string; type: string; etag: string }> => {
    const medium = await media.open(name);
    const made = await media.openRendition(name, medium);
    await medium.handle.close();
    if (made === null) return medium;
    await made.handle.close();
    return { path: made.file, type: made.mediaType, etag: made.sha256 };
  };

  return {
    /**
     * A JPEG, and its entity tag without quotes. Requests for the same thumbnail share the work.
     * @param signal aborts when the client has disconnected: its thumbnail is not made
     * @throws CodedError `file_not_found`; `not_found` if there is no picture, or no ffmpeg; `too_many_requests`
     */
    get: async (name: string, signal: AbortSignal): Promise<{ bytes: Buffer; tag: string }> => {
      const { path, type, etag } = await findFile(name);
      const key = createHash('sha256').update(`${path}\n${etag}`).digest('hex');
      const noPicture = () => new CodedError('not_found', `There is no picture in ${JSON.stringify(name)}.`);
      if (demuxerOf(type) === undefined || (failed.get(key) ?? 0) >= MAX_CUTS) throw noPicture();
      let bytes = await cache.read(key);
      if (bytes === null) {
        const job = jobFor(key, path, type);
        job.signals.push(signal);
        bytes = await job.made;
      }
      if (bytes === null) throw noPicture();
      return { bytes, tag: key };
    },
    close: (): void => closing.abort(),
  };
};

/** A site has some thousand media; a thumbnail has 20 to 80 kB. */
const MAX_FILES = 5_000;
const MAX_BYTES = 256 * 1024 ** 2;

const NAME = /^[0-9a-f]{64}\.jpg$/;

export type ThumbnailCache = ReturnType<typeof createThumbnailCache>;

/** @param folder made at the first write; keys are SHA-256 in hex */
export const createThumbnailCache = (folder: string, disk: Disk) => {
  /** Sizes in bytes by key, oldest first. */
  let sizes: Map<string, number> | undefined;
  const pathOf = (key: string): string => join(folder, `${key}.jpg`);

  const load = async (): Promise<Map<string, number>> => {
    await makeFolder(folder);
    const found: { key: string; size: number; mtimeMs: number }[] = [];
    for (const name of await readdir(folder)) {
      const path = join(folder, name);
      if (NAME.test(name)) found.push({ key: name.slice(0, 64), ...(await stat(path)) });
      // Left of a write that a power cut interrupted.
      else await disk.unlink(path).catch(() => undefined);
    }
    return new Map(found.toSorted((a, b) => a.mtimeMs - b.mtimeMs).map(({ key, size }) => [key, size]));
  };

  return {
    /** Null: there is none. */
    read: (key: string): Promise<Buffer | null> => readFile(pathOf(key)).catch(() => null),
    /** @throws the system's error */
    write: async (key: string, bytes: Buffer): Promise<void> => {
      sizes ??= await load();
      await keepCopy(disk, pathOf(key), bytes);
      sizes.set(key, bytes.length);
      let total = [...sizes.values()].reduce((sum, size) => sum + size, 0);
      for (const [oldest, size] of sizes) {
        if (sizes.size <= MAX_FILES && total <= MAX_BYTES) break;
        sizes.delete(oldest);
        total -= size;
        await disk.unlink(pathOf(oldest)).catch(() => undefined);
      }
    },
  };
};
