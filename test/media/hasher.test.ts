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

it('follows a file that grows', async () => {
  const { hasher, path } = setUp();
  const parts = Array.from({ length: 5 }, () => randomBytes(1_500_000));
  const following = hasher.follow(path);
  let written = 0;
  for (const part of parts) {
    appendFileSync(path, part);
    written += part.length;
    following.upTo(written);
  }
  expect(await following.digest(written)).toBe(sha256(Buffer.concat(parts)));
});

it('keeps many files apart', async () => {
  const { hasher, path } = setUp();
  const files = Array.from({ length: 20 }, (_, index) => ({
    path: `${path}${index}`,
    bytes: randomBytes(index * 300_000),
  }));
  for (const { path, bytes } of files) writeFileSync(path, bytes);
  const hashes = await Promise.all(files.map(({ path, bytes }) => hasher.follow(path).digest(bytes.length)));
  expect(hashes).toEqual(files.map(({ bytes }) => sha256(bytes)));
});

it('says that a file is missing, or shorter than it should be, and goes on', async () => {
  const { hasher, path } = setUp();
  const early = hasher.follow(path);
  early.upTo(1);
  await expect(early.digest(1)).rejects.toThrow('ENOENT');
  writeFileSync(path, 'short');
  await expect(hasher.follow(path).digest(6)).rejects.toThrow('shorter');
  const stopped = hasher.follow(path);
  stopped.upTo(5);
  stopped.stop();
  expect(await hasher.follow(path).digest(5)).toBe(sha256('short'));
});

it('leaves nobody waiting when it is closed', async () => {
  const { hasher, path } = setUp();
  writeFileSync(path, Buffer.alloc(50_000_000));
  const following = hasher.follow(path);
  const digest = expect(following.digest(50_000_000)).rejects.toThrow('ended');
  await hasher.close();
  await digest;
  await expect(following.digest(50_000_000)).rejects.toThrow('ended');
});
