import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CodedError } from '../contract/errors.ts';
import type { Following } from './hasher.ts';
import { createPace } from './pace.ts';

const MIB = 1024 ** 2;

/** Chunks that wait for the disk go out in one write of up to this. */
const BATCH_BYTES = MIB;
/** The hash is told to go on in steps of this. */
const HASH_STEP_BYTES = 4 * MIB;
/** The disk is asked for room, and told to write, in steps of this: the last flush is short then. */
const CHECKPOINT_BYTES = 32 * MIB;

interface Options {
  /** Most bytes to take. */
  limit: number;
  follow(path: string): Following;
  /** Rejects where the disk has no room left. */
  requireRoom(): Promise<void>;
  /** So many bytes are there already, and the stream goes on after them. Default: 0, and the file is new. */
  from?: number;
  /** So many bytes of the file are on the disk for good. */
  checkpointed?(bytes: number): Promise<void>;
}

/**
 * Writes a stream to a file, in constant memory, and answers once it is on the disk. The stream is never destroyed,
 * because an answer may still have to go out on its socket. After an error the file may be there in part.
 *
 * @throws `payload_too_large`; `insufficient_storage`; `request_timeout` for a client that is too slow;
 *   `invalid_request` for one that breaks off
 */
export const receive = async (
  stream: Readable,
  path: string,
  { limit, follow, requireRoom, from = 0, checkpointed }: Options,
): Promise<{ size: number; sha256: string }> => {
  const handle = await open(path, from === 0 ? 'wx' : 'r+');
  const out = handle.createWriteStream({ highWaterMark: BATCH_BYTES, autoClose: false, start: from });
  const hash = follow(path);
  const pace = createPace();
  const written = (): number => from + out.bytesWritten;
  const flush = async (): Promise<void> => {
    const bytes = written();
    await handle.datasync();
    await checkpointed?.(bytes);
  };
  let size = from;
  let hashed = 0;
  let checked = from;
  let checkpoint = Promise.resolve();

  let fail: (error: unknown) => void = () => undefined;
  const finished = new Promise<void>((resolve, reject) => {
    fail = reject;
    out.on('finish', resolve).on('error', reject);
  });
  const arrived = (chunk: Buffer) => {
    size += chunk.length;
    pace.arrived(chunk.length);
    if (size > limit) fail(new CodedError('payload_too_large', `The file is larger than ${limit} bytes.`));
    if (written() - hashed >= HASH_STEP_BYTES) {
      hashed = written();
      hash.upTo(hashed);
    }
    if (size - checked >= CHECKPOINT_BYTES) {
      checked = size;
      // The system reports a failed flush once, here or at the end: neither may lose it.
      checkpoint = checkpoint.then(requireRoom).then(flush);
      checkpoint.catch(fail);
    }
  };
  const left = () => {
    if (!stream.readableEnded) fail(new CodedError('invalid_request', 'The upload broke off.'));
  };
  const beat = setInterval(() => {
    const waiting = !stream.readableEnded && !out.writableNeedDrain;
    if (pace.tick(waiting)) fail(new CodedError('request_timeout', 'The upload is too slow.'));
  }, 1000);

  try {
    stream.on('data', arrived).on('error', left).on('close', left);
    if (stream.destroyed) left();
    stream.pipe(out);
    await finished;
    await checkpoint;
    const [sha256] = await Promise.all([hash.digest(size), handle.sync()]);
    return { size, sha256 };
  } finally {
    clearInterval(beat);
    stream.unpipe(out).off('data', arrived).off('error', left).off('close', left);
    hash.stop();
    out.destroy();
    await checkpoint.catch(() => undefined);
    await handle.close();
  }
};
