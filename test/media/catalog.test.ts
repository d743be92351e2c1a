import { createHash, randomUUID } from 'node:crypto';
import { appendFileSync, existsSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MediaEntry } from '../../service/media/catalog.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { png, startMedia } from './server.ts';

const sha256 = (bytes: string | Buffer) => createHash('sha256').update(bytes).digest('hex');
type Media = Awaited<ReturnType<typeof startMedia>>;

/** Looks until the catalog holds exactly these names. */
const settled = async ({ catalog }: Media, names: string[]): Promise<MediaEntry[]> => {
  await expect.poll(async () => (await catalog.list()).map(({ name }) => name), { timeout: 20_000 }).toEqual(names);
  return catalog.list();
};

describe('the catalog', () => {
  it('lists an upload at once', async () => {
    const media = await startMedia();
    await media.put('a.png', png);
    expect(await media.catalog.list()).toMatchObject([
      {
        name: 'a.png',
        size: png.length,
        modifiedAt: expect.stringMatching(/Z$/),
        sha256: sha256(png),
        mediaType: 'image/png',
        width: 1,
        height: 1,
        duration: null,
      },
    ]);
  });

  it('serves a file with its own hash only', async () => {
    const media = await startMedia();
    const digestOf = async () => (await media.request('/media/a.png')).headers.get('repr-digest');
    await media.put('a.png', png);
    expect(await digestOf()).toBe(`sha-256=:${createHash('sha256').update(png).digest('base64')}:`);
    appendFileSync(join(media.uploadDir, 'a.png'), 'more');
    expect(await digestOf()).toBe(null);
  });

  it('notices files that are added, changed and removed by hand', async () => {
    const media = await startMedia();
    const file = join(media.uploadDir, 'b.txt');
    writeFileSync(file, 'one');
    writeFileSync(join(media.mediaDir, 'a.png'), png);
    writeFileSync(join(media.mediaDir, '.hidden'), 'x');
    await media.catalog.list();
    expect([...media.catalog.untried()].toSorted()).toEqual(['a.png', 'b.txt']);
    const first = await settled(media, ['a.png', 'b.txt']);
    expect(first.map((entry) => entry.sha256)).toEqual([sha256(png), sha256('one')]);

    appendFileSync(file, ' and two');
    await media.catalog.list();
    // What changes all the time is not waited for.
    expect([...media.catalog.unread(), 'not', ...media.catalog.untried()]).toEqual(['b.txt', 'not']);
    await expect
      .poll(async () => (await media.catalog.list()).at(1)?.sha256, { timeout: 20_000 })
      .toBe(sha256('one and two'));
    rmSync(file);
    expect((await media.catalog.list()).map(({ name }) => name)).toEqual(['a.png']);
  });

  it('never returns metadata of a previous file of the same name', async () => {
    const media = await startMedia();
    writeFileSync(join(media.mediaDir, 'a.txt'), 'copy');
    await settled(media, ['a.txt']);
    writeFileSync(join(media.uploadDir, 'a.txt'), 'upload');
    for (let look = 0; look < 50; look += 1) {
      for (const entry of await media.catalog.list()) expect(entry.sha256).toBe(sha256('upload'));
    }
    expect((await settled(media, ['a.txt'])).map((entry) => entry.sha256)).toEqual([sha256('upload')]);
    rmSync(join(media.uploadDir, 'a.txt'));
    expect((await media.catalog.list()).map((entry) => entry.sha256)).toEqual([sha256('copy')]);
  });

  it('keeps its entries, and reads no file twice', async () => {
    const dataDir = temporaryFolder();
    const before = await startMedia({ dataDir });
    await before.put('a.png', png);
    await before.catalog.close();
    const kept = readFileSync(join(dataDir, 'media.json'), 'utf8').replace(sha256(png), '0'.repeat(64));
    writeFileSync(join(dataDir, 'media.json'), kept);
    const after = await startMedia({ dataDir });
    expect((await after.catalog.list()).map((entry) => entry.sha256)).toEqual(['0'.repeat(64)]);

    rmSync(join(dataDir, 'uploads', 'a.png'));
    expect(await after.catalog.list()).toEqual([]);
    await after.catalog.close();
    expect(readFileSync(join(dataDir, 'media.json'), 'utf8')).toBe('[]');
  });

  it('reads again at the next start what it could not read', async () => {
    const dataDir = temporaryFolder();
    const before = await startMedia({ dataDir });
    await before.put('a.png', png);
    await before.catalog.close();
    const kept = readFileSync(join(dataDir, 'media.json'), 'utf8').replace('"isReadable":true', '"isReadable":false');
    writeFileSync(join(dataDir, 'media.json'), kept);
    const after = await startMedia({ dataDir });
    expect((await after.catalog.list()).map(({ isReadable }) => isReadable)).toEqual([false]);
    await expect
      .poll(async () => (await after.catalog.list()).map(({ isReadable }) => isReadable), { timeout: 20_000 })
      .toEqual([true]);
  });

  it('keeps the entries of a folder that cannot be read at the start', async () => {
    const dataDir = temporaryFolder();
    const before = await startMedia({ dataDir });
    await before.put('a.png', png);
    await before.catalog.close();
    const kept = readFileSync(join(dataDir, 'media.json'), 'utf8').replace(sha256(png), '0'.repeat(64));
    writeFileSync(join(dataDir, 'media.json'), kept);
    const after = await startMedia({ dataDir });
    const folder = join(dataDir, 'uploads');
    renameSync(folder, `${folder}.away`);
    // A link to itself: ELOOP.
    symlinkSync(folder, folder);
    expect(await after.catalog.list()).toEqual([]);
    rmSync(folder);
    renameSync(`${folder}.away`, folder);
    expect((await after.catalog.list()).map((entry) => entry.sha256)).toEqual(['0'.repeat(64)]);
  });

  it.each(['', '{', 'null', '[["a"]]', '{"a":1}'])(
    'is made again from the folders where its file is %j',
    async (text) => {
      const dataDir = temporaryFolder();
      writeFileSync(join(dataDir, 'media.json'), text);
      const media = await startMedia({ dataDir });
      writeFileSync(join(media.uploadDir, 'a.png'), png);
      const [entry] = await settled(media, ['a.png']);
      expect(entry?.sha256).toBe(sha256(png));
      await expect
        .poll(() => readFileSync(join(dataDir, 'media.json'), 'utf8'), { timeout: 20_000 })
        .toContain(sha256(png));
    },
  );
});

it('the temporary catalog file of a killed service is deleted at the next start', async () => {
  const dataDir = temporaryFolder();
  const leftover = join(dataDir, `media.json.${randomUUID()}.tmp`);
  writeFileSync(leftover, '[["half');
  await startTestService({ dataDir, content: { screens: [], playlists: [] } });
  await expect.poll(() => existsSync(leftover)).toBe(false);
});
