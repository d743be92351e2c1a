/** What the media take of their quota, kept from upload to upload. */
import {
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { expect, it, onTestFinished, vi } from 'vitest';
import { createFolders, KEPT_MS } from '../../service/media/folders.ts';
import { temporaryFolder } from '../support/service.ts';
import { startMedia } from './server.ts';

/** Writes a file until it has changed after another one: the system's clock has steps of some ms. */
const writeAfter = (before: string, path: string, text: string): Promise<boolean> =>
  vi.waitUntil(() => {
    writeFileSync(path, text);
    return statSync(path).ctimeMs > statSync(before).ctimeMs;
  });

it('an upload reads no other file, and files added by hand are counted within a minute', async () => {
  let now = 0;
  const media = await startMedia({ quota: 1000, now: () => now });
  const put = async (name: string, bytes: number) => (await media.put(name, Buffer.alloc(bytes))).status;
  expect(await put('first.bin', 100)).toBe(201);
  writeFileSync(join(media.uploadDir, 'by-hand.bin'), Buffer.alloc(850));
  now = KEPT_MS / 4;
  expect(await put('second.bin', 100)).toBe(201);
  now = KEPT_MS + 1;
  expect(await put('third.bin', 100)).toBe(507);
  rmSync(join(media.uploadDir, 'by-hand.bin'));
  now = 2 * KEPT_MS + 2;
  expect(await put('third.bin', 100)).toBe(201);
});

it('a file that is put there by hand is found by the composed form of its name', async () => {
  const media = await startMedia();
  writeFileSync(join(media.mediaDir, 'e\u0301.txt'), 'by hand');
  const names = async () => (await media.catalog.list()).map(({ name }) => name);
  await expect.poll(names, { timeout: 20_000 }).toEqual(['\u00e9.txt']);
  expect(await (await media.request(`/media/${encodeURIComponent('e\u0301.txt')}`)).text()).toBe('by hand');
});

it('of two files that are put there by hand under forms of one name the last counts, once it is complete', async () => {
  const folder = temporaryFolder();
  const [composed, decomposed] = [join(folder, '\u00e9.txt'), join(folder, 'e\u0301.txt')];
  const folders = createFolders([folder]);
  const read = async () => {
    await folders.read(0);
    return [readdirSync(folder).length, readFileSync(composed, 'utf8'), await folders.bytes()];
  };
  writeFileSync(decomposed, 'first');
  expect(await read()).toEqual([1, 'first', 5]);
  await writeAfter(composed, decomposed, 'newer');
  expect(await read()).toEqual([2, 'first', 5]);
  vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 6_000 });
  onTestFinished(() => void vi.useRealTimers());
  expect(await read()).toEqual([1, 'newer', 5]);
  // What came before is not shown instead of an upload.
  writeFileSync(decomposed, 'before');
  await writeAfter(decomposed, composed, 'upload');
  expect(await read()).toEqual([2, 'upload', 6]);
});

it('the temporary file of a program that copies keeps its name', async () => {
  const folder = temporaryFolder();
  const name = '.e\u0301.txt.XyZ123';
  writeFileSync(join(folder, name), 'half');
  const folders = createFolders([folder]);
  expect([...((await folders.read(0)).get(folder)?.keys() ?? [])]).toEqual([name]);
  expect([readdirSync(folder), await folders.bytes()]).toEqual([[name], 4]);
});

it('the quota holds over replacements, deletions, failures and a restart', async () => {
  const { request, ...media } = await startMedia({ quota: 1000 });
  const put = async (name: string, bytes: number) => (await media.put(name, Buffer.alloc(bytes))).status;
  expect(await put('a', 600)).toBe(201);
  expect(await put('b', 401)).toBe(507);
  expect(await put('a', 1000)).toBe(200);
  expect(await put('b', 1)).toBe(507);
  expect((await request('/api/media/a', { method: 'DELETE' })).status).toBe(204);
  const { socket } = await media.socket('PUT /api/media/c HTTP/1.1\r\nHost: a\r\nContent-Length: 900\r\n\r\nhalf');
  await expect.poll(() => media.uploads().length).toBe(1);
  socket.destroy();
  await expect.poll(() => media.uploads()).toEqual([]);
  expect(await put('d', 400)).toBe(201);
  const again = await startMedia({ quota: 1000, dataDir: media.dataDir });
  expect((await again.put('e', Buffer.alloc(601))).status).toBe(507);
  expect((await again.put('e', Buffer.alloc(600))).status).toBe(201);
});

it('concurrent uploads never exceed the quota together', async () => {
  const media = await startMedia({ quota: 1000 });
  const statuses = await Promise.all(
    Array.from({ length: 20 }, async (_, index) => (await media.put(`${index}`, Buffer.alloc(300))).status),
  );
  expect(statuses.filter((status) => status === 201).length).toBeLessThanOrEqual(3);
});

it('what cannot be read for a moment stays as it was known, and what is gone does not', async () => {
  const folder = join(temporaryFolder(), 'media');
  const away = `${folder}.away`;
  mkdirSync(folder);
  for (const name of ['a', 'b', 'c']) writeFileSync(join(folder, name), '1234');
  const listed = async (folders: ReturnType<typeof createFolders>) => {
    const names = [...((await folders.read(0)).get(folder)?.keys() ?? [])].toSorted().join('');
    return [names, await folders.bytes(), folders.isComplete()];
  };
  const folders = createFolders([folder]);
  expect(await listed(folders)).toEqual(['abc', 12, true]);
  rmSync(join(folder, 'c'));
  rmSync(join(folder, 'a'));
  // A link to itself: ELOOP.
  symlinkSync(join(folder, 'a'), join(folder, 'a'));
  expect(await listed(folders)).toEqual(['ab', 8, true]);
  await folders.changed(join(folder, 'a'));
  expect(await listed(folders)).toEqual(['ab', 8, true]);
  renameSync(folder, away);
  symlinkSync(folder, folder);
  expect(await listed(folders)).toEqual(['ab', 8, true]);
  const others = createFolders([folder]);
  expect(await listed(others)).toEqual(['', 0, false]);
  rmSync(folder);
  expect(await listed(folders)).toEqual(['', 0, true]);
  rmSync(join(away, 'a'));
  renameSync(away, folder);
  expect(await listed(others)).toEqual(['b', 4, true]);
});

it('the sum equals what a walk finds after any changes at any time', async () => {
  const change = fc.record({ name: fc.constantFrom('a', 'b', 'c'), size: fc.option(fc.nat(50)), walks: fc.boolean() });
  await fc.assert(
    fc.asyncProperty(fc.array(change), async (changes) => {
      const folder = temporaryFolder();
      const folders = createFolders([folder], () => 0);
      const running: Promise<unknown>[] = [];
      for (const { name, size, walks } of changes) {
        const path = join(folder, name);
        if (walks) running.push(folders.read());
        if (size === null) rmSync(path, { force: true });
        else writeFileSync(path, Buffer.alloc(size));
        running.push(folders.changed(path));
      }
      await Promise.all(running);
      expect(await folders.bytes()).toBe(await createFolders([folder]).bytes());
    }),
    { numRuns: 50 },
  );
});
