/** Media on a disk that ignores case, as those of Windows do: each call to the system is led to the name that is there. */
import { readdirSync, writeFileSync } from 'node:fs';
import { createRequire, syncBuiltinESMExports } from 'node:module';
import { basename, dirname, join } from 'node:path';
import { expect, onTestFinished, test } from 'vitest';
import type { MediaContext } from '../../service/media/context.ts';
import { temporaryFolder } from '../support/service.ts';
import { mediaContext } from './context.ts';

type Call = (...args: unknown[]) => Promise<unknown>;
const promises: Record<string, Call> = createRequire(import.meta.url)('node:fs/promises');

/** Of the test that runs. */
let root = '/none';
const actual = (path: unknown): unknown => {
  if (typeof path !== 'string' || !path.startsWith(root)) return path;
  const name = basename(path).toLowerCase();
  const found = readdirSync(dirname(path)).find((each) => each.toLowerCase() === name);
  return found === undefined ? path : join(dirname(path), found);
};
const original = { ...promises };
for (const name of ['stat', 'open', 'access', 'utimes', 'unlink', 'rm'])
  promises[name] = async (path, ...rest) => original[name]?.(actual(path), ...rest);
for (const name of ['link', 'copyFile'])
  promises[name] = async (from, to, ...rest) => original[name]?.(actual(from), actual(to), ...rest);
/** Whether renaming a file to other letters of its name does nothing. */
let isIdle = false;
promises['rename'] = async (from, to) => {
  const isOne = actual(from) === actual(to);
  if (!isOne || !isIdle) await original['rename']?.(actual(from), isOne ? to : actual(to));
};
syncBuiltinESMExports();

const { createCatalog } = await import('../../service/media/catalog.ts');
const { openDeletions } = await import('../../service/media/deletions.ts');
const { openEvictableMedia } = await import('../../service/media/evictable.ts');
const { createLibrary } = await import('../../service/media/library.ts');
const { createLostUploads } = await import('../../service/media/lost.ts');
const { createStorageQuota } = await import('../../service/media/quota.ts');
const { systemDisk } = await import('../../service/platform/store/disk.ts');
Object.assign(systemDisk, { rename: promises['rename'] });

const sha256 = 'ab'.repeat(32);

const setUp = async () => {
  root = temporaryFolder();
  // The real one reads files in a worker thread, which has a file system module of its own.
  const hasher = { hashFile: () => ({ digest: async () => sha256 }) } as unknown as MediaContext['hasher'];
  const context = Object.assign(mediaContext(root), { hasher });
  const catalog = createCatalog(context, async () => null);
  const deletions = await openDeletions(context);
  const copies = await openEvictableMedia(context, { mediaNames: () => new Set<string>() });
  const library = await createLibrary(context, {
    catalog,
    deletions,
    copies,
    storage: createStorageQuota(context, async () => {}),
    newest: deletions.at,
    lost: createLostUploads(context),
    isElsewhere: async () => false,
  });
  onTestFinished(async () => {
    await catalog.close();
    await deletions.close();
    await copies.close();
  });
  const { uploads, media } = context.dirs;
  const files = async () => {
    const listed = [...((await context.folders.read()).get(uploads) ?? new Map()).keys()];
    return { uploads: readdirSync(uploads), media: readdirSync(media), listed };
  };
  return { library, deletions, copies, uploads, media, files };
};

test.each([false, true])('a file gets other letters of its name; the system may do nothing: %s', async (idle) => {
  isIdle = idle;
  const { library, uploads, files } = await setUp();
  writeFileSync(join(uploads, 'hall.jpg'), 'x');
  await library.rename('hall.jpg', 'Hall.jpg');
  // As at the next start.
  await library.removeDeleted('hall.jpg');
  expect(await files()).toEqual({ uploads: ['Hall.jpg'], media: [], listed: ['Hall.jpg'] });
  await library.rename('Hall.jpg', 'hall.jpg');
  for (const name of ['hall.jpg', 'Hall.jpg']) await library.removeDeleted(name);
  expect(await files()).toEqual({ uploads: ['hall.jpg'], media: [], listed: ['hall.jpg'] });
  await library.rename('HALL.jpg', 'hall.jpg');
  await library.rename('hall.jpg', 'foyer.jpg');
  expect(await files()).toEqual({ uploads: ['foyer.jpg'], media: [], listed: ['foyer.jpg'] });
});

test('a copy that another box has renamed gets the other letters, and a copy here is renamed as an upload', async () => {
  isIdle = false;
  const { library, deletions, copies, media, files } = await setUp();
  const write = async () => writeFileSync(join(media, 'hall.jpg'), 'x');
  await copies.add('hall.jpg', write);
  const [first, second] = [Date.now() + 1_000, Date.now() + 2_000].map((time) => new Date(time).toISOString());
  const renamed = { to: 'Hall.jpg', modifiedAt: first ?? '' };
  await deletions.add([{ name: 'hall.jpg', deletedAt: second ?? '', sha256, renamed }]);
  await library.removeDeleted('hall.jpg');
  expect(await files()).toMatchObject({ uploads: [], media: ['Hall.jpg'] });
  expect([copies.has('hall.jpg'), copies.has('Hall.jpg')]).toEqual([false, true]);
  await library.rename('Hall.jpg', 'HALL.jpg');
  expect(await files()).toMatchObject({ uploads: ['HALL.jpg'], media: [] });
});
