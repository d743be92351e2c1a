import { mkdirSync, rmSync, statfsSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createFolders } from '../../service/media/folders.ts';
import { createStorageQuota, readVolume } from '../../service/media/quota.ts';
import { temporaryFolder } from '../support/service.ts';

const GIB = 1024 ** 3;
const volume = (free: number) => ({ bsize: 1, blocks: 8 * GIB, bavail: free + GIB / 2 });

/** A quota of 1,000 bytes with 700 in use, 200 of them evictable. */
const setUp = (free = GIB) => {
  const [uploads, copies] = [temporaryFolder(), temporaryFolder()];
  const asked: number[] = [];
  let spare = free;
  writeFileSync(join(uploads, 'a'), Buffer.alloc(500));
  writeFileSync(join(copies, 'b'), Buffer.alloc(200));
  const folders = createFolders([uploads, copies, '/none']);
  const evict = async (bytes: number): Promise<void> => {
    asked.push(bytes);
    rmSync(join(copies, 'b'), { force: true });
    await folders.changed(join(copies, 'b'));
    spare += 200;
  };
  const options = { mediaQuotaBytes: 1000 };
  const storage = createStorageQuota({ folders, options, dirs: { data: uploads } }, evict, async () => volume(spare));
  return { asked, require: (wanted: number, replaced?: number) => storage.require(uploads, wanted, replaced), storage };
};

it.each<[what: string, free: number, wanted: number, replaced: number, asked: number[], fault: RegExp | null]>([
  ['what fits', GIB, 300, 0, [], null],
  ['what fits after an eviction', GIB, 301, 0, [1], null],
  ['all that there is then', GIB, 500, 0, [200], null],
  ['not a byte more', GIB, 501, 0, [201], /quota: .*SIGNAGE_MEDIA_QUOTA_BYTES/],
  ['what takes the place of something', GIB, 800, 500, [], null],
  ['what the disk has', 100, 100, 0, [], null],
  ['what the disk has after an eviction', 100, 300, 0, [200], null],
  ['no more than that, in whosever place', 100, 301, 500, [201], /disk is full/],
])('takes %s', async (_, free, wanted, replaced, asked, fault) => {
  const set = setUp(free);
  const required = set.require(wanted, replaced);
  if (fault === null) await required;
  else
    await expect(required).rejects.toMatchObject({
      code: 'insufficient_storage',
      message: expect.stringMatching(fault),
    });
  expect(set.asked).toEqual(asked);
});

it('counts the files that exist, but not folders', async () => {
  expect(await setUp().storage.left()).toBe(300);
});

it('keeps room for the next system of a box from an image, beside one that is downloaded', async () => {
  const data = temporaryFolder();
  const ready = join(data, 'updates', 'ready');
  mkdirSync(ready, { recursive: true });
  writeFileSync(join(ready, 'system.raucb'), '');
  const system = { slot: 'A', version: '1.0.0', onTrial: false, left: null, fault: null };
  const keptBy = async (kiosk: Parameters<typeof readVolume>[0]['kiosk']): Promise<number> => {
    const { bavail, bsize } = statfsSync(data);
    return (bavail - (await readVolume({ dirs: { data }, kiosk }, data)).bavail) * bsize;
  };
  /** Other programs write to the disk, too. */
  const nearest = 64 * 1024 ** 2;
  for (const size of [0, GIB / 2, 2 * GIB]) {
    truncateSync(join(ready, 'system.raucb'), size);
    const ofImage = () => ({ system }) as never;
    expect(Math.abs((await keptBy(ofImage)) - Math.max(0, GIB - size))).toBeLessThan(nearest);
    expect(Math.abs(await keptBy(() => ({ system: null }) as never))).toBeLessThan(nearest);
    expect(Math.abs(await keptBy(undefined))).toBeLessThan(nearest);
  }
});
