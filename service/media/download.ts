import { createHash } from 'node:crypto';
import { open, readFile, rename, rm, truncate, writeFile } from 'node:fs/promises';
import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { dirname, join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../contract/errors.ts';
import type { NetworkScope } from '../domain/network-scope.ts';
import { FetchFault, pauseOf, unlessSame, type Validators, validatorsOf } from '../platform/outbound/answer.ts';
import type { Get } from '../platform/outbound/get.ts';
import { isFull, systemDisk } from '../platform/store/disk.ts';
import type { MediaContext } from './context.ts';
import type { FetchLimits } from './fetch-limits.ts';
import type { FileHash } from './hasher.ts';
import { placeFile } from './place.ts';
import { receive } from './receive.ts';

const note = z.object({
  url: z.string(),
  validator: z
    .string()
    .nullable()
    .describe('for If-Range; null: the bytes can be continued only if their hash is known'),
  total: z.number().nullable().describe('size of the whole file in bytes; null: not stated'),
  bytes: z.number().describe('bytes that are synced to disk'),
});
export type PartNote = z.infer<typeof note>;

const NAME = /^\.part-[0-9a-f]{40}(?:\.json(?:\.new)?)?$/;

/** Whether a file of this name is a partial file or its note. */
export const isPart = (name: string): boolean => NAME.test(name);

/** The hidden partial file of a download, with a JSON file that identifies its source. */
export const createPart = (folder: string, key: string) => {
  const path = join(folder, `.part-${createHash('sha256').update(key).digest('hex').slice(0, 40)}`);
  const notePath = `${path}.json`;

  const write = async (of: PartNote): Promise<void> => {
    // Not synced: if a power cut loses the note, the file is fetched from its beginning.
    await writeFile(`${notePath}.new`, JSON.stringify(of));
    await rename(`${notePath}.new`, notePath);
  };
  const discard = async (): Promise<void> => {
    for (const file of [notePath, path]) await rm(file, { force: true });
  };

  return {
    path,
    write,
    discard,

    /** Truncates the file to its synced bytes and returns the note; null: nothing to continue. */
    async resume(): Promise<PartNote | null> {
      try {
        const of = note.parse(JSON.parse(await readFile(notePath, 'utf8')));
        const { size } = await systemDisk.stat(path);
        if (of.bytes < 1 || size < of.bytes) return null;
        // A range that begins after the last byte would be answered with 416.
        const bytes = Math.min(of.bytes, (of.total ?? Number.POSITIVE_INFINITY) - 1);
        await truncate(path, bytes);
        return { ...of, bytes };
      } catch {
        return null;
      }
    },

    /** Syncs the bytes received so far and writes the note. */
    async keep(of: PartNote): Promise<void> {
      const handle = await open(path, 'r+');
      try {
        await handle.datasync();
        await write({ ...of, bytes: (await handle.stat()).size });
      } finally {
        await handle.close();
      }
    },

    /** Moves the complete, synced file to `target`. */
    async finish(target: string, release: MediaContext['release'] = async () => {}): Promise<void> {
      await placeFile(path, target, release);
      await systemDisk.syncFolder(dirname(target));
      await rm(notePath, { force: true });
    },
  };
};
export type Part = ReturnType<typeof createPart>;

/** A complete download, synced to disk. */
export interface Download extends Validators {
  /** Bytes. */
  size: number;
  sha256: string;
  /** The media type that the server claims, without its parameters. */
  claimedType: string | null;
  cacheControl: string | null;
}

interface Job {
  url: string;
  /** The partial file that the bytes are written to, possibly with bytes of an earlier attempt. */
  part: Part;
  /** The expected SHA-256 (hex); null: any. */
  sha256: string | null;
  /** The expected size in bytes; null: any. */
  size: number | null;
  /** The validators of the local copy, for a conditional request. */
  held?: Validators;
  /** The nearest network that the address may be in. */
  reach: NetworkScope;
}

interface Options {
  /** The maximum size of a media file, in bytes. */
  limit: number;
  hashFile(path: string): FileHash;
  /** Rejects if there is no space for `wanted` more bytes. */
  requireRoom(wanted: number): Promise<void>;
  get: Get;
  limits: Pick<FetchLimits, 'limit'>;
  signal: AbortSignal;
}

/** The partial file cannot be continued: the file changed, or the server cannot resume. */
class StalePart extends Error {}

/** The validator for If-Range, which must be strong: a date is if it is at least 1 s old (RFC 9110, 8.8.2.2). */
const rangeValidator = (headers: IncomingHttpHeaders): string | null => {
  const { etag, lastModified } = validatorsOf(headers);
  if (etag !== null) return etag.startsWith('W/') ? null : etag;
  const age = Date.parse(headers.date ?? '') - Date.parse(lastModified ?? '');
  return age >= 1000 ? lastModified : null;
};

/** The request headers: a range for the rest of a partial file, or a condition on the local copy. */
const conditions = ({ held, sha256 }: Job, before: PartNote | null): Record<string, string> => {
  if (before === null) return held === undefined ? {} : unlessSame(held);
  // A known hash decides whether the whole is right, so a partial file may be continued from another server.
  return { Range: `bytes=${before.bytes}-`, ...(sha256 === null && { 'If-Range': before.validator ?? '' }) };
};

/** The offset at which the body begins, and the size of the whole file, null if the server does not state it. */
const bodyRange = (
  { statusCode = 0, headers }: IncomingMessage,
  { sha256 }: Job,
  before: PartNote | null,
): { from: number; total: number | null } => {
  if (statusCode === 200) {
    const length = headers['content-length'];
    return { from: 0, total: length === undefined ? null : Number(length) };
  }
  if (statusCode === 416 && before !== null) throw new StalePart();
  if (statusCode !== 206 || before === null) {
    const lasting = [401, 403, 404, 410].includes(statusCode);
    throw new FetchFault(`the server answers ${statusCode}`, { lasting, pause: pauseOf(headers) });
  }
  const [, from, total] = /^bytes (\d+)-\d+\/(\d+)$/.exec(headers['content-range'] ?? '') ?? [];
  if (Number(from) !== before.bytes) throw new StalePart();
  if (before.total !== null && Number(total) !== before.total) throw new StalePart();
  if (sha256 === null && rangeValidator(headers) !== before.validator) throw new StalePart();
  return { from: before.bytes, total: Number(total) };
};

const brokeOff = (bytes: number, cause?: unknown): FetchFault =>
  new FetchFault(`the connection broke off after ${bytes} bytes`, { cause });

/** Whether the error means that the disk or the quota is full. */
export const isOutOfSpace = (error: unknown): boolean =>
  isFull(error) || (error instanceof CodedError && error.code === 'insufficient_storage');

/** Converts an error into a FetchFault whose message is a clause for the health report. */
const toFetchFault = (error: unknown, bytes: number): unknown => {
  if (isFull(error)) return new FetchFault('the disk is full', { cause: error });
  if (!(error instanceof CodedError)) return error;
  const { code, message } = error;
  if (code === 'payload_too_large') {
    return new FetchFault('the file is larger than the limit for media', { lasting: true, cause: error });
  }
  if (code === 'request_timeout') return new FetchFault('the server sends too slowly', { cause: error });
  return code === 'invalid_request' ? brokeOff(bytes, error) : new FetchFault(message, { cause: error });
};

const attempt = async (job: Job, before: PartNote | null, options: Options): Promise<Download | null> => {
  const { url, part, sha256: wanted, size: wantedSize } = job;
  const { limit, hashFile, requireRoom, get, limits, signal } = options;
  const { response } = await get(url, {
    signal,
    reach: job.reach,
    credentials: true,
    headers: { 'User-Agent': 'signage-player', 'Accept-Encoding': 'identity', ...conditions(job, before) },
  });
  try {
    const { headers } = response;
    if (response.statusCode === 304 && job.held !== undefined) return null;
    const { from, total } = bodyRange(response, job, before);
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity') throw new FetchFault(`the server sends Content-Encoding ${coding}`, { lasting: true });
    const length = total ?? wantedSize ?? 0;
    if (length > limit) throw new CodedError('payload_too_large');
    if (wantedSize !== null && total !== null && total !== wantedSize) {
      throw new FetchFault(`the file is ${total} bytes long instead of ${wantedSize}`, { lasting: true });
    }
    await requireRoom(length - from);

    const note = { url, validator: rangeValidator(headers), total, bytes: from };
    const isResumable = wanted !== null || note.validator !== null;
    if (from === 0) await part.discard();
    const body = limits.limit(response, signal);
    try {
      const { size, sha256 } = await receive(body.stream, part.path, {
        from,
        isHeld: body.isHeld,
        limit: Math.min(limit, wantedSize ?? limit),
        hashFile,
        requireRoom: () => requireRoom(0),
        checkpointed: async (bytes) => {
          if (isResumable) await part.write({ ...note, bytes });
        },
      });
      // Without a Content-Length, a broken connection looks like the end of the body.
      if (wantedSize !== null && size < wantedSize) throw brokeOff(size);
      if (wanted !== null && sha256 !== wanted) {
        await part.discard();
        if (from > 0) throw new StalePart();
        throw new FetchFault('the SHA-256 of the file is not the expected one', { lasting: true });
      }
      const [claimed = ''] = (headers['content-type'] ?? '').split(';');
      return {
        size,
        sha256,
        ...validatorsOf(headers),
        claimedType: claimed.trim().toLowerCase() || null,
        cacheControl: headers['cache-control'] ?? null,
      };
    } catch (error) {
      // A partial file that filled the disk is deleted: other files need the space.
      if (isResumable && !isOutOfSpace(error)) await part.keep(note).catch(() => undefined);
      else await part.discard();
      throw error;
    } finally {
      body.stream.destroy();
    }
  } finally {
    response.destroy();
  }
};

/**
 * Fetches one address into a part, from where an earlier attempt was cut off if the medium is still the same, in
 * constant memory, hashed on the way. Resolves once the bytes are synced to disk; null: the local copy is still current.
 * After an error the partial file stays if it can be continued.
 *
 * @throws FetchFault; the reason of the signal
 */
export const download = async (job: Job, options: Options): Promise<Download | null> => {
  try {
    const before = await job.part.resume();
    const isResumable =
      before !== null && (job.sha256 !== null || (before.url === job.url && before.validator !== null));
    if (!isResumable) return await attempt(job, null, options);
    try {
      return await attempt(job, before, options);
    } catch (error) {
      if (!(error instanceof StalePart)) throw error;
      await job.part.discard();
      return await attempt(job, null, options);
    }
  } catch (error) {
    options.signal.throwIfAborted();
    const { size } = await systemDisk.stat(job.part.path).catch(() => ({ size: 0 }));
    throw toFetchFault(error, size);
  }
};
