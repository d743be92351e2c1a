import type { IncomingHttpHeaders, IncomingMessage } from 'node:http';
import { CodedError } from '../contract/errors.ts';
import type { Nearness } from '../domain/network-scope.ts';
import { pauseOf, unlessSame, type Validators, validatorsOf } from '../platform/outbound/answer.ts';
import { FetchFault } from '../platform/outbound/fault.ts';
import type { Get } from '../platform/outbound/get.ts';
import { isFull, systemDisk } from '../platform/store/disk.ts';
import type { Following } from './hasher.ts';
import type { Part, PartNote } from './part.ts';
import { receive } from './receive.ts';

/** What has come, whole and on the disk for good. */
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
  /** Where the bytes go, and what was left of an earlier attempt. */
  part: Part;
  /** The SHA-256 (hex) that the bytes must have; null: any. */
  sha256: string | null;
  /** The bytes that there must be; null: any number. */
  size: number | null;
  /** What is here already: not to be sent again. */
  held?: Validators;
  /** How near its address may be. */
  reach: Nearness;
}

interface Options {
  /** Most bytes of a medium. */
  limit: number;
  follow(path: string): Following;
  /** Rejects where the disk has no room for so many bytes more. */
  requireRoom(wanted: number): Promise<void>;
  get: Get;
  signal: AbortSignal;
}

/** What an earlier attempt left is of no use: the medium is another now, or the server can't go on from there. */
class StalePart extends Error {}

/** For If-Range, which takes strong validators alone: a date that is at least a second old is one (8.8.2.2). */
const rangeValidator = (headers: IncomingHttpHeaders): string | null => {
  const { etag, lastModified } = validatorsOf(headers);
  if (etag !== null) return etag.startsWith('W/') ? null : etag;
  const age = Date.parse(headers.date ?? '') - Date.parse(lastModified ?? '');
  return age >= 1000 ? lastModified : null;
};

/** What is asked for: the rest of a part, or the whole where it is another than the one that is here. */
const conditions = ({ held, sha256 }: Job, before: PartNote | null): Record<string, string> => {
  if (before === null) return held === undefined ? {} : unlessSame(held);
  // Where the hash is known it is the judge, and a part may come from several servers.
  return { Range: `bytes=${before.bytes}-`, ...(sha256 === null && { 'If-Range': before.validator ?? '' }) };
};

/** Where the body begins, and how long the whole is where that is said. */
const placeOf = (
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
  new FetchFault(`it broke off after ${bytes} bytes`, { cause });

/** Whether it failed because there was no room. */
export const lacksRoom = (error: unknown): boolean =>
  isFull(error) || (error instanceof CodedError && error.code === 'insufficient_storage');

/** What went wrong, as a clause. */
const faultOf = (error: unknown, bytes: number): unknown => {
  if (isFull(error)) return new FetchFault('the disk is full', { cause: error });
  if (!(error instanceof CodedError)) return error;
  const { code, message } = error;
  if (code === 'payload_too_large') {
    return new FetchFault('it is larger than a medium may be', { lasting: true, cause: error });
  }
  if (code === 'request_timeout') return new FetchFault('the server sends too slowly', { cause: error });
  return code === 'invalid_request' ? brokeOff(bytes, error) : new FetchFault(message, { cause: error });
};

const attempt = async (job: Job, before: PartNote | null, options: Options): Promise<Download | null> => {
  const { url, part, sha256: wanted, size: wantedSize } = job;
  const { limit, follow, requireRoom, get, signal } = options;
  const { response } = await get(url, {
    signal,
    reach: job.reach,
    headers: { 'User-Agent': 'signage-player', 'Accept-Encoding': 'identity', ...conditions(job, before) },
  });
  try {
    const { headers } = response;
    if (response.statusCode === 304 && job.held !== undefined) return null;
    const { from, total } = placeOf(response, job, before);
    const coding = headers['content-encoding'] ?? 'identity';
    if (coding !== 'identity') throw new FetchFault(`it comes as ${coding}, unasked`, { lasting: true });
    const length = total ?? wantedSize ?? 0;
    if (length > limit) throw new CodedError('payload_too_large');
    if (wantedSize !== null && total !== null && total !== wantedSize) {
      throw new FetchFault(`it is ${total} bytes long instead of ${wantedSize}`, { lasting: true });
    }
    await requireRoom(length - from);

    const note = { url, validator: rangeValidator(headers), total, bytes: from };
    const isOfUse = wanted !== null || note.validator !== null;
    if (from === 0) await part.discard();
    try {
      const { size, sha256 } = await receive(response, part.path, {
        from,
        limit: Math.min(limit, wantedSize ?? limit),
        follow,
        requireRoom: () => requireRoom(0),
        checkpointed: async (bytes) => {
          if (isOfUse) await part.write({ ...note, bytes });
        },
      });
      // Where nothing says how long the body is, a connection that was cut looks like its end.
      if (wantedSize !== null && size < wantedSize) throw brokeOff(size);
      if (wanted !== null && sha256 !== wanted) {
        await part.discard();
        if (from > 0) throw new StalePart();
        throw new FetchFault('its bytes are not the ones that were asked for', { lasting: true });
      }
      const [claimed = ''] = (headers['content-type'] ?? '').split(';');
      return {
        ...{ size, sha256, ...validatorsOf(headers) },
        claimedType: claimed.trim().toLowerCase() || null,
        cacheControl: headers['cache-control'] ?? null,
      };
    } catch (error) {
      // What has come makes room for what is needed more.
      if (isOfUse && !lacksRoom(error)) await part.keep(note).catch(() => undefined);
      else await part.discard();
      throw error;
    }
  } finally {
    response.destroy();
  }
};

/**
 * Fetches one address into a part, from where an earlier attempt was cut off if the medium is still the same, in
 * constant memory, hashed on the way. Answers once the bytes are on the disk for good; null: what is held is still the
 * same. After an error the part stays, as far as it is of use.
 *
 * @throws FetchFault; an AbortError
 */
export const download = async (job: Job, options: Options): Promise<Download | null> => {
  try {
    const before = await job.part.resume();
    const isOfUse = before !== null && (job.sha256 !== null || (before.url === job.url && before.validator !== null));
    if (!isOfUse) return await attempt(job, null, options);
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
    throw faultOf(error, size);
  }
};
