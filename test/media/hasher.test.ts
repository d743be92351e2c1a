import { createHash, randomBytes } from 'node:crypto';
import { appendFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { createHasher } from '../../service/media/hasher.ts';
import { temporaryFolder } from '../support/service.ts';

const setUp = () => {
  const hasher = createHasher();
  onTestFinished(hasher.close);
  return { hasher, path: join(temporaryFolder(), 'file') };
};
const sha256 = (bytes: Buffer | string) => createHash('sha256').update(bytes).digest('hex');

it('hashes a file that grows', async () => {
  const { hasher, path } = setUp();
  const parts = Array.from({ length: 5 }, () => randomBytes(1_500_000));
  const hash = hasher.hashFile(path);
  let written = 0;
  for (const part of parts) {
    appendFileSync(path, part);
    written += part.length;
    hash.upTo(written);
  }
  expect(await hash.digest(written)).toBe(sha256(Buffer.concat(parts)));
});

it('keeps many files apart', async () => {
  const { hasher, path } = setUp();
  const files = Array.from({ length: 20 }, (_, index) => ({
    path: `${path}${index}`,
    bytes: randomBytes(index * 300_000),
  }));
  for (const { path, bytes } of files) writeFileSync(path, bytes);
  const hashes = await Promise.all(files.map(({ path, bytes }) => hasher.hashFile(path).digest(bytes.length)));
  expect(hashes).toEqual(files.map(({ bytes }) => sha256(bytes)));
});

it('reports a file that is missing or too short, and continues', async () => {
  const { hasher, path } = setUp();
  const early = hasher.hashFile(path);
  early.upTo(1);
  await expect(early.digest(1)).rejects.toThrow('ENOENT');
  writeFileSync(path, 'short');
  await expect(hasher.hashFile(path).digest(6)).rejects.toThrow('shorter');
  const stopped = hasher.hashFile(path);
  stopped.upTo(5);
  stopped.stop();
  expect(await hasher.hashFile(path).digest(5)).toBe(sha256('short'));
});

it('rejects pending hashes when it is closed', async () => {
  const { hasher, path } = setUp();
  writeFileSync(path, Buffer.alloc(50_000_000));
  const hash = hasher.hashFile(path);
  const digest = expect(hash.digest(50_000_000)).rejects.toThrow('ended');
  await hasher.close();
  await digest;
  await expect(hash.digest(50_000_000)).rejects.toThrow('ended');
});
