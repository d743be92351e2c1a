import { createHash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, it, onTestFinished } from 'vitest';
import { createHasher } from '../../service/media/hasher.ts';
import { receive } from '../../service/media/receive.ts';
import { temporaryFolder } from '../support/service.ts';

const setUp = () => {
  const hasher = createHasher();
  onTestFinished(hasher.close);
  const path = join(temporaryFolder(), 'file');
  const options = { limit: 2 ** 31, hashFile: hasher.hashFile, requireRoom: async () => undefined };
  return { path, options };
};

it('writes and hashes every byte, in order, far beyond its buffers', async () => {
  const { path, options } = setUp();
  const chunks = Array.from({ length: 700 }, (_, index) => Buffer.alloc(100_000 + index, index));
  const whole = Buffer.concat(chunks);
  const sha256 = createHash('sha256').update(whole).digest('hex');
  expect(await receive(Readable.from(chunks), path, options)).toEqual({ size: whole.length, sha256 });
  expect(readFileSync(path).equals(whole)).toBe(true);
});

it('does not wait for a destroyed stream', async () => {
  const { path, options } = setUp();
  const gone = new Readable({ read: () => undefined });
  gone.destroy();
  await expect.poll(() => gone.closed).toBe(true);
  await expect(receive(gone, path, options)).rejects.toMatchObject({ code: 'invalid_request' });
});

it('notices a stream that closes without an end or an error', async () => {
  const { path, options } = setUp();
  const stream = new Readable({ read: () => undefined });
  const received = expect(receive(stream, path, options)).rejects.toMatchObject({ code: 'invalid_request' });
  stream.push('half');
  await expect.poll(() => stream.readableFlowing).toBe(true);
  stream.destroy();
  await received;
});

it('passes disk errors on and does not destroy the stream', async () => {
  const { path, options } = setUp();
  const stream = new Readable({ read: () => undefined });
  stream.push(Buffer.alloc(40 * 1024 ** 2));
  const full = new Error('no room');
  await expect(receive(stream, path, { ...options, requireRoom: () => Promise.reject(full) })).rejects.toBe(full);
  expect(stream.destroyed).toBe(false);
});
