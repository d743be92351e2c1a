/** Which file of a name stays, of an upload, a copy of a peer's medium, and a deletion. */
import { mkdirSync, readdirSync, rmdirSync, rmSync, symlinkSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { expect, onTestFinished, test } from 'vitest';
import { createCatalog } from '../../service/media/catalog.ts';
import { openDeletions } from '../../service/media/deletions.ts';
import { openEvictableMedia } from '../../service/media/evictable.ts';
import { createLibrary } from '../../service/media/library.ts';
import { createLostUploads } from '../../service/media/lost.ts';
import { createStorageQuota } from '../../service/media/quota.ts';
import { temporaryFolder } from '../support/service.ts';
import { mediaContext } from './context.ts';

interface Setup {
  /** Default: a folder of its own, as of `media`. */
  uploads?: string;
  media?: string;
  /** What the content names. */
  named?: ReadonlySet<string>;
}

const setUp = async ({ named = new Set<string>(), ...folders }: Setup = {}) => {
  const context = mediaContext(temporaryFolder(), folders);
  const catalog = createCatalog(context, async () => null);
  const deletions = await openDeletions(context);
  const copies = await openEvictableMedia(context, { mediaNames: () => named });
  const library = await createLibrary(context, {
    catalog,
    storage: createStorageQuota(context, async () => {}),
    newest: deletions.at,
    deletions,
    lost: createLostUploads(context),
    copies,
    isElsewhere: async () => false,
  });
  onTestFinished(async () => {
    await catalog.close();
    await deletions.close();
    await copies.close();
  });
  const { uploads, media } = context.dirs;
  /** Writes a file of that date, ms since the epoch. */
  const put = (folder: string, name: string, time: number): void => {
    writeFileSync(join(folder, name), 'x');
    utimesSync(join(folder, name), new Date(time), new Date(time));
  };
  const copy = (name: string, time: number): Promise<void> => copies.add(name, async () => put(media, name, time));
  const upload = (name: string) =>
    library.write(name, Readable.from(['upload']), {
      expectedLength: null,
      bodySha256: null,
      conditions: { match: '', noneMatch: '' },
      checkPermission: async () => {},
    });
  return { library, deletions, copies, uploads, media, put, copy, upload };
};

test('a copy that is one ms newer than the deletion of its name stays, and one of that ms goes', async () => {
  const { library, deletions, media, copy } = await setUp();
  const first = Date.now() - 60_000;
  const times = Array.from({ length: 200 }, (_, n) => first + n);
  await deletions.add(
    times.flatMap((time) =>
      ['new', 'old'].map((kind) => ({
        name: `${time} ${kind}`,
        deletedAt: new Date(time).toISOString(),
        sha256: null,
      })),
    ),
  );
  for (const time of times) {
    await copy(`${time} new`, time + 1);
    await copy(`${time} old`, time);
  }
  for (const { name } of deletions.list()) await library.removeDeleted(name);
  expect(readdirSync(media).toSorted()).toEqual(times.map((time) => `${time} new`));
});

test.each(['one path', 'two paths'])('in one folder for uploads and copies, by %s, a copy stays', async (paths) => {
  const uploads = temporaryFolder();
  const media = paths === 'one path' ? uploads : `${uploads}-link`;
  if (media !== uploads) symlinkSync(uploads, media);
  onTestFinished(() => rmSync(`${uploads}-link`, { force: true }));
  const { library, copy } = await setUp({ uploads, media });
  await copy('a.txt', Date.now());
  await library.giveWay('a.txt');
  expect(readdirSync(uploads)).toEqual(['a.txt']);
});

test('in one folder for uploads and copies, an upload to the name of a copy is not evicted', async () => {
  const uploads = temporaryFolder();
  const { copies, copy, upload } = await setUp({ uploads, media: uploads });
  await copy('a.txt', Date.now() - 1_000);
  await copy('b.txt', Date.now() - 1_000);
  await upload('a.txt');
  await copies.evict(1_000);
  expect(readdirSync(uploads)).toEqual(['a.txt']);
});

test('a copy that the content names is evicted only where an upload of its name is newer', async () => {
  const { copies, uploads, media, put, copy, upload } = await setUp({ named: new Set(['a.txt', 'b.txt', 'c.txt']) });
  const time = Date.now() - 1_000;
  for (const name of ['a.txt', 'b.txt', 'c.txt']) await copy(name, time);
  await upload('a.txt');
  put(uploads, 'b.txt', time);
  expect(await copies.evict(1_000)).toBe(1);
  expect([readdirSync(media), readdirSync(uploads)]).toEqual([
    ['b.txt', 'c.txt'],
    ['a.txt', 'b.txt'],
  ]);
});

test('a copy that the system does not remove is evicted later', async () => {
  const { copies, media, put } = await setUp();
  const file = join(media, 'a.txt');
  await copies.add('a.txt', async () => mkdirSync(file));
  expect(await copies.evict(1_000)).toBe(0);
  rmdirSync(file);
  put(media, 'a.txt', Date.now());
  expect(await copies.evict(1_000)).toBe(1);
});
