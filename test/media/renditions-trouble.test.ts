/** What can go wrong while media are converted: hours, room, programs and boxes that end. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs';
import { rename as move } from 'node:fs/promises';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { describe, expect, it, onTestFinished, vi } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { systemDisk } from '../../service/platform/store/disk.ts';
import { lobbyWith } from '../content/samples.ts';
import { startBox, startSite, untilTogether } from '../peers/support.ts';
import { startHeadless } from '../platform/options/process.ts';
import { hasFfmpeg, makeMedium, middleOf } from '../support/media.ts';
import { logged, patience } from '../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { isSoak, repeats } from '../support/soak.ts';

const empty = { screens: [], playlists: [] };
const noise = (name: string, seed: number): string =>
  makeMedium(name, ['-f', 'lavfi', '-i', `color=gray:size=320x180,noise=alls=100:all_seed=${seed}`, '-frames:v', '1']);
const film = (colour: string, seconds: number): string =>
  makeMedium('film.mp4', [
    ...['-f', 'lavfi', '-i', `color=${colour}:size=320x180:rate=25:duration=${seconds}`],
    ...['-c:v', 'libx265', '-preset', 'ultrafast', '-x265-params', 'log-level=none', '-tag:v', 'hvc1'],
  ]);

const put = async (box: Pick<TestService, 'url'>, name: string, path: string): Promise<number> => {
  const body = new Uint8Array(readFileSync(path));
  return (await fetch(`${box.url}/api/media/${name}`, { method: 'PUT', body })).status;
};
const renditionOf = async (box: Pick<TestService, 'url'>, name: string) => {
  const { media } = (await (await fetch(`${box.url}/console/api/media`)).json()) as MediaList;
  return media.find(({ filename }) => filename === name)?.rendition;
};
const untilState = (box: Pick<TestService, 'url'>, name: string, state: string): Promise<void> =>
  expect.poll(async () => (await renditionOf(box, name))?.state, { timeout: 60_000, interval: 20 }).toBe(state);

const renameTo = async (box: TestService, from: string, to: string): Promise<void> => {
  expect((await box.post(`/console/api/media/${from}/rename`, { to })).status).toBe(200);
};

/** The processes of ffmpeg that read a file. */
const readersOf = (file: string): number[] =>
  readdirSync('/proc').flatMap((pid) => {
    try {
      const words = readFileSync(`/proc/${pid}/cmdline`, 'utf8').split('\0');
      return /ffmpeg$/.test(words[0] ?? '') && words.includes(`file:${file}`) ? [Number(pid)] : [];
    } catch {
      return [];
    }
  });

describe.skipIf(!hasFfmpeg)('a conversion', () => {
  it('waits for its hours', async () => {
    let wall = Date.parse('2026-05-04T12:00:00Z');
    const env = { SIGNAGE_CONVERT_HOURS: '22:00-06:00', SIGNAGE_TIME_ZONE: 'UTC' };
    const box = await startTestService({ content: empty, env, wall: () => wall });
    await put(box, 'photo.tiff', noise('photo.tiff', 1));
    await put(box, 'other.tiff', noise('other.tiff', 2));
    await untilState(box, 'photo.tiff', 'queued');
    await expect.poll(async () => (await fetch(`${box.url}/media/photo.tiff`)).status, patience).toBe(503);
    expect(await renditionOf(box, 'other.tiff')).toMatchObject({ state: 'queued', progress: 0 });
    wall = Date.parse('2026-05-04T22:00:01Z');
    await untilState(box, 'photo.tiff', 'ready');
    await untilState(box, 'other.tiff', 'ready');
  });

  it('takes the room of renditions that nothing shows, and not of those that are shown', async () => {
    const files = [1, 2, 3].map((seed) => noise(`noise${seed}.tiff`, seed));
    const [size = 0] = files.map((file) => statSync(file).size);
    const content = lobbyWith([{ kind: 'image', media_url: '/media/shown.tiff' }]);
    // An original is converted where there is room for as much again.
    const quota = 3 * size + 30_000;
    const box = await startTestService({ content, env: { SIGNAGE_MEDIA_QUOTA_BYTES: String(quota) } });
    expect(await put(box, 'spare.tiff', files[0] ?? '')).toBe(201);
    await untilState(box, 'spare.tiff', 'ready');
    const made = (await renditionOf(box, 'spare.tiff'))?.size ?? 0;
    expect(made).toBeGreaterThan(quota - 3 * size);
    expect(await put(box, 'shown.tiff', files[1] ?? '')).toBe(201);
    await untilState(box, 'shown.tiff', 'ready');
    // Its own is gone, and is made again once there is room.
    await expect
      .poll(() => renditionOf(box, 'spare.tiff'), patience)
      .toMatchObject({ state: 'queued', reason: expect.stringContaining('once there is room') });
    const refused = await box.get('/api/media/third.tiff', {
      method: 'PUT',
      body: new Uint8Array(readFileSync(files[2] ?? '')),
    });
    expect([refused.status, (await refused.json()).error.code]).toEqual([507, 'insufficient_storage']);
    expect((await fetch(`${box.url}/media/shown.tiff`)).headers.get('x-signage-rendition')).toBe('picture');
    await box.get('/api/media/shown.tiff', { method: 'DELETE' });
    await untilState(box, 'spare.tiff', 'ready');
  });

  it.skipIf(process.platform !== 'linux')('ends with its hours, and begins again in the next ones', async () => {
    let wall = Date.parse('2026-05-04T05:59:00Z');
    const env = { SIGNAGE_CONVERT_HOURS: '22:00-06:00', SIGNAGE_TIME_ZONE: 'UTC' };
    const box = await startTestService({ content: empty, env, wall: () => wall });
    await put(box, 'film.mp4', film('0x00a000', isSoak ? 60 : 8));
    const readers = (): number => readersOf(join(box.dataDir, 'uploads', 'film.mp4')).length;
    await untilState(box, 'film.mp4', 'converting');
    await expect.poll(readers, { timeout: 20_000, interval: 5 }).toBeGreaterThan(0);
    wall = Date.parse('2026-05-04T06:00:01Z');
    await untilState(box, 'film.mp4', 'queued');
    await expect.poll(readers, patience).toBe(0);
    expect(logged(box, 'a medium could not be converted')).toEqual([]);
    wall = Date.parse('2026-05-04T22:00:01Z');
    await untilState(box, 'film.mp4', 'ready');
  });

  it.skipIf(process.platform !== 'linux')('of an original that is renamed goes on, and is made once', async () => {
    const content = lobbyWith([{ kind: 'video', media_url: '/media/film.mp4' }]);
    const box = await startTestService({ content });
    await put(box, 'film.mp4', film('0x00a000', isSoak ? 60 : 8));
    await untilState(box, 'film.mp4', 'converting');
    await expect
      .poll(() => readersOf(join(box.dataDir, 'uploads', 'film.mp4')).length, { timeout: 20_000, interval: 5 })
      .toBeGreaterThan(0);
    await renameTo(box, 'film.mp4', 'hall.mp4');
    expect((await renditionOf(box, 'hall.mp4'))?.state).toMatch(/^(?:converting|ready)$/);
    await untilState(box, 'hall.mp4', 'ready');
    for (const name of ['hall.mp4', 'film.mp4'])
      expect((await fetch(`${box.url}/media/${name}`)).headers.get('x-signage-rendition')).toBe('h264');
    expect(await (await box.get('/metrics')).text()).toMatch(/^signage_conversions_total\{result="made"\} 1$/m);
  });

  it('of originals that are renamed again and again fails for none', { timeout: 120_000 }, async () => {
    const box = await startTestService({ content: empty });
    const count = repeats(4, 40);
    for (let index = 0; index < count; index += 1) {
      const names = ['first', 'second', 'third', 'last'].map((name) => `${name}-${index}.tiff`);
      await put(box, names[0] ?? '', noise(`many${index}.tiff`, 100 + index));
      for (const [at, name] of names.slice(1).entries()) {
        await pause(Math.random() * 60);
        await renameTo(box, names[at] ?? '', name);
      }
    }
    for (let index = 0; index < count; index += 1) await untilState(box, `last-${index}.tiff`, 'ready');
    expect(logged(box, 'a medium could not be converted')).toEqual([]);
  });

  it.skipIf(!isSoak || process.platform !== 'linux')(
    'whose program is killed is tried again once',
    { timeout: 90_000 },
    async () => {
      const box = await startTestService({ content: empty });
      await put(box, 'film.mp4', film('0x00a000', 30));
      const path = join(box.dataDir, 'uploads', 'film.mp4');
      await untilState(box, 'film.mp4', 'converting');
      await expect
        .poll(() => readersOf(path).map((pid) => process.kill(pid, 'SIGKILL')).length, { timeout: 20_000, interval: 5 })
        .toBeGreaterThan(0);
      await untilState(box, 'film.mp4', 'ready');
      expect(logged(box, 'a medium could not be converted').length).toBeLessThanOrEqual(1);
    },
  );

  it('ends where its original is replaced on Windows, which replaces no file that is read', async () => {
    const box = await startTestService({ content: empty });
    const next = film('0x00a000', 4);
    await put(box, 'film.mp4', film('0xa00000', 60));
    await untilState(box, 'film.mp4', 'converting');
    const path = join(box.dataDir, 'uploads', 'film.mp4');
    await expect.poll(() => readersOf(path).length, patience).toBeGreaterThan(0);
    const rename = vi.spyOn(systemDisk, 'rename');
    onTestFinished(() => rename.mockRestore());
    rename.mockImplementation(async (from, to) => {
      const isHeld = [from, to].includes(path) && readersOf(path).length > 0;
      if (isHeld) throw Object.assign(new Error('in use'), { code: 'EBUSY', path: from });
      await move(from, to);
    });
    expect(await put(box, 'film.mp4', next)).toBe(200);
  });
});

describe.skipIf(!isSoak || !hasFfmpeg)('a long conversion', () => {
  it('of an original that is replaced makes nothing of the old one', { timeout: 120_000 }, async () => {
    const box = await startTestService({ content: empty });
    await put(box, 'film.mp4', film('0xa00000', 60));
    await untilState(box, 'film.mp4', 'converting');
    await put(box, 'film.mp4', film('0x00a000', 4));
    await expect
      .poll(async () => (await fetch(`${box.url}/media/film.mp4`)).headers.get('x-signage-rendition'), {
        timeout: 60_000,
        interval: 50,
      })
      .toBe('h264');
    const shown = Buffer.from(await (await fetch(`${box.url}/media/film.mp4`)).arrayBuffer());
    const still = join(temporaryFolder(), 'film.mp4');
    writeFileSync(still, shown);
    const [red, green] = middleOf(
      execFileSync('ffmpeg', ['-v', 'error', '-i', still, '-frames:v', '1', '-f', 'mjpeg', '-']),
    );
    expect(green).toBeGreaterThan(red + 60);
  });

  it('of 30 hours ends when its original is deleted', { timeout: 180_000 }, async () => {
    const box = await startTestService({ content: empty });
    const long = ['-f', 'lavfi', '-i', 'color=0x00a000:size=32x32:rate=1/60:duration=108000', '-c:v', 'libx265'];
    await put(box, 'long.mp4', makeMedium('long.mp4', [...long, '-x265-params', 'log-level=none']));
    await untilState(box, 'long.mp4', 'converting');
    const path = join(box.dataDir, 'uploads', 'long.mp4');
    await expect.poll(() => readersOf(path).length, patience).toBeGreaterThan(0);
    await box.get('/api/media/long.mp4', { method: 'DELETE' });
    await expect.poll(() => readersOf(path).length, patience).toBe(0);
    await put(box, 'next.tiff', noise('next.tiff', 4));
    await untilState(box, 'next.tiff', 'ready');
  });

  it('begins again after a power cut, and leaves nothing behind', { timeout: 180_000 }, async () => {
    const dataDir = temporaryFolder();
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify(empty));
    const start = async () => {
      const headless = startHeadless({ SIGNAGE_DATA_DIR: dataDir, SIGNAGE_DISCOVERY: 'off' });
      return { headless, url: await headless.ready() };
    };
    const first = await start();
    await put(first, 'film.mp4', film('0x00a000', 60));
    await untilState(first, 'film.mp4', 'converting');
    const path = join(dataDir, 'uploads', 'film.mp4');
    await expect.poll(() => readersOf(path).length, patience).toBeGreaterThan(0);
    first.headless.child.kill('SIGKILL');
    await once(first.headless.child, 'exit');
    await expect.poll(() => readersOf(path).length, patience).toBe(0);
    const second = await start();
    await untilState(second, 'film.mp4', 'ready');
    expect(readdirSync(join(dataDir, 'media', 'renditions')).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  it('is taken over from a box that went away', { timeout: 180_000 }, async () => {
    const content = lobbyWith([{ kind: 'image', media_url: '/media/photo.tiff' }]);
    const [first, second] = await startSite({ content });
    // It converts in another hour, and is away before.
    const hour = (new Date().getUTCHours() + 12) % 24;
    const hours = [hour, (hour + 1) % 24].map((each) => `${String(each).padStart(2, '0')}:00`).join('-');
    const owner = await startBox([first], { content, env: { SIGNAGE_CONVERT_HOURS: hours, SIGNAGE_TIME_ZONE: 'UTC' } });
    await untilTogether([first, second, owner]);
    await put(owner, 'photo.tiff', noise('photo.tiff', 5));
    for (const box of [first, second]) await untilState(box, 'photo.tiff', 'queued');
    await owner.close();
    for (const box of [first, second]) await untilState(box, 'photo.tiff', 'ready');
    const counts = await Promise.all(
      [first, second].map(
        async (box) =>
          (await (await box.get('/metrics')).text()).match(/^signage_conversions_total\{result="made"\} (\d+)$/m)?.[1],
      ),
    );
    expect(counts.sort()).toEqual(['0', '1']);
  });

  it('of one file that is uploaded at three boxes at once is made once', { timeout: 180_000 }, async () => {
    const boxes = await startSite({}, 1);
    await Promise.all(boxes.map((box) => put(box, 'film.mp4', film('0x00a000', 8))));
    for (const box of boxes) await untilState(box, 'film.mp4', 'ready');
    const tags = await Promise.all(
      boxes.map(async (box) => (await fetch(`${box.url}/media/film.mp4`)).headers.get('ETag')),
    );
    expect(new Set(tags).size).toBe(1);
  });
});
