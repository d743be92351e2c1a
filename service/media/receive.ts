import { open } from 'node:fs/promises';
import type { Readable } from 'node:stream';
import { CodedError } from '../contract/errors.ts';
import type { FileHash } from './hasher.ts';

/** The minimum rate of an upload, averaged over {@link SPAN_SECONDS}. */
const MIN_BYTES_PER_SECOND = 16 * 1024;
const SPAN_SECONDS = 10;

/** Enforces the minimum rate. Only seconds spent waiting for the client count, so that a slow disk is not its fault. */
export const createPace = () => {
  let bytes = 0;
  let seconds = 0;
  return {
    arrived(count: number): void {
      bytes += count;
    },
    /** Call once a second; returns true once the client is too slow. */
    tick(waiting: boolean): boolean {
      if (waiting) seconds += 1;
      if (seconds < SPAN_SECONDS) return false;
      const tooSlow = bytes < MIN_BYTES_PER_SECOND * SPAN_SECONDS;
      bytes = 0;
      seconds = 0;
      return tooSlow;
    },
  };
};

const MIB = 1024 ** 2;

/** Chunks that wait for the disk are written together, up to this many bytes. */
const BATCH_BYTES = MIB;
/** The hash continues after each step of this size. */
const HASH_STEP_BYTES = 4 * MIB;
/** Free space is checked and data is flushed after each step of this size, which keeps the last flush short. */
const CHECKPOINT_BYTES = 32 * MIB;

interface Options {
  /** The maximum size in bytes. */
  limit: number;
  hashFile(path: string): FileHash;
  /** Rejects if the disk or the quota is full. */
  requireRoom(): Promise<void>;
  /** Bytes already in the file, to which the stream is appended. Default: 0, the file must not exist. */
  from?: number;
  /** Whether the stream is delayed on purpose, so that its sender is not too slow. Default: never. */
  isHeld?(): boolean;
  /** Called when the first `bytes` bytes of the file are synced to disk. */
  checkpointed?(bytes: number): Promise<void>;
}

/**
 * Writes a stream to a file in constant memory; resolves once the file is synced to disk. The stream is never destroyed,
 * because a response may still have to be sent on its socket. After an error the file may be incomplete.
 *
 * @throws `payload_too_large`; `insufficient_storage`; `request_timeout` for a client that is too slow;
 *   `invalid_request` for one that disconnects
 */
export const receive = async (
  stream: Readable,
  path: string,
  { limit, hashFile, requireRoom, from = 0, isHeld = () => false, checkpointed }: Options,
): Promise<{ size: number; sha256: string }> => {
  const handle = await open(path, from === 0 ? 'wx' : 'r+');
  const out = handle.createWriteStream({ highWaterMark: BATCH_BYTES, autoClose: false, start: from });
  const hash = hashFile(path);
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
  const onData = (chunk: Buffer) => {
    size += chunk.length;
    pace.arrived(chunk.length);
    if (size > limit) fail(new CodedError('payload_too_large', `The file is larger than ${limit} bytes.`));
    if (written() - hashed >= HASH_STEP_BYTES) {
      hashed = written();
      hash.upTo(hashed);
    }
    if (size - checked >= CHECKPOINT_BYTES) {
      checked = size;
      // The system reports a failed flush only once, so the error of each flush must be handled.
      checkpoint = checkpoint.then(requireRoom).then(flush);
      checkpoint.catch(fail);
    }
  };
  const onDisconnect = () => {
    if (!stream.readableEnded) fail(new CodedError('invalid_request', 'The upload was interrupted.'));
  };
  const paceTimer = setInterval(() => {
    const waiting = !stream.readableEnded && !out.writableNeedDrain && !isHeld();
    if (pace.tick(waiting)) fail(new CodedError('request_timeout', 'The upload is too slow.'));
  }, 1000);

  try {
    stream.on('data', onData).on('error', onDisconnect).on('close', onDisconnect);
    if (stream.destroyed) onDisconnect();
    stream.pipe(out);
    await finished;
    await checkpoint;
    const [sha256] = await Promise.all([hash.digest(size), handle.sync()]);
    return { size, sha256 };
  } finally {
    clearInterval(paceTimer);
    stream.unpipe(out).off('data', onData).off('error', onDisconnect).off('close', onDisconnect);
    hash.stop();
    out.destroy();
    await checkpoint.catch(() => undefined);
    await handle.close();
  }
};
