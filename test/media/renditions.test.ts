/** Media that browsers do not show, or show badly: each gets a rendition, of which the original knows nothing. */
import { execFileSync, spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { readdirSync, readFileSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { readReport } from '../../service/media/inspect.ts';
import { isCi } from '../support/machine.ts';
import { hasFfmpeg, makeMedium, middleOf } from '../support/media.ts';
import { findProgram } from '../support/program.ts';
import { shareTestService, startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walks } from '../support/soak.ts';
import { adobeRgb, displayP3, fillSegments, profileOf, profileSegments, tiffOf } from './headers.ts';
import { manyTexts } from './hostile.ts';

const service = shareTestService({ content: { screens: [], playlists: [] } });

const film = (size = '320x180', seconds = 2, rate = 25): string[] => [
  ...['-f', 'lavfi', '-i', `color=0x00a000:size=${size}:rate=${rate}:duration=${seconds}`],
];
const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2'];
const first = ['-movflags', '+faststart'];
const hevc = [...film(), ...tone, '-c:v', 'libx265', '-tag:v', 'hvc1', '-c:a', 'aac', ...first];
const h264 = ['-c:v', 'libx264', '-pix_fmt', 'yuv420p'];

/** A docx by its name and its first bytes alone, for which `npm test` has no program. */
const wordFile = new Uint8Array([0x50, 0x4b, 3, 4, ...Buffer.alloc(60)]);

type Medium = MediaList['media'][number];

const put = (name: string, path: string, box: TestService = service()): Promise<Response> =>
  box.get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(readFileSync(path)) });

const listed = async (name: string, box: TestService = service()): Promise<Medium | undefined> => {
  const list = (await (await box.get('/console/api/media')).json()) as MediaList;
  return list.media.find(({ filename }) => filename === name);
};

/** Resolves with the listed file once its rendition is neither waiting nor being made. */
const settled = async (name: string, box: TestService = service()): Promise<Medium> => {
  let medium: Medium | undefined;
  await expect
    .poll(
      async () => {
        medium = await listed(name, box);
        return medium?.rendition.state;
      },
      { timeout: 25_000 },
    )
    .toMatch(/^(?:none|ready|failed)$/);
  return medium as Medium;
};

describe.skipIf(!hasFfmpeg)('a film of HEVC', () => {
  it('is not ready until it is converted; then it is H.264, and the original is still there', async () => {
    const path = makeMedium('hevc.mp4', hevc);
    const original = readFileSync(path);
    const etag = (await put('hevc.mp4', path)).headers.get('ETag');
    const early = await service().get('/media/hevc.mp4');
    expect(early.status).toBe(503);
    expect(Number(early.headers.get('Retry-After'))).toBeGreaterThan(0);
    expect(await early.json()).toMatchObject({ error: { code: 'media_not_ready' } });
    const { duration_seconds, rendition, ...read } = await settled('hevc.mp4');
    expect(read).toMatchObject({ codec: 'hevc', codec_profile: 'Main', frame_rate: 25, width: 320, height: 180 });
    expect(duration_seconds).toBeCloseTo(2, 0);
    expect(rendition).toMatchObject({ state: 'ready', progress: 1, reason: null });

    const shown = await service().get('/media/hevc.mp4');
    expect(shown.headers.get('x-signage-rendition')).toBe('h264');
    expect(shown.headers.get('content-type')).toBe('video/mp4');
    expect(shown.headers.get('ETag')).not.toBe(etag);
    const bytes = Buffer.from(await shown.arrayBuffer());
    expect(bytes.length).toBe(rendition.size);
    expect(bytes.includes('avc1')).toBe(true);
    // The index is in front of the pictures.
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));

    const whole = await service().get('/media/hevc.mp4?original');
    expect(whole.headers.get('ETag')).toBe(etag);
    expect(Buffer.from(await whole.arrayBuffer()).equals(original)).toBe(true);
    const rest = await service().get('/media/hevc.mp4', {
      headers: { Range: 'bytes=100-', 'If-Range': etag ?? '' },
    });
    expect(rest.status).toBe(206);
    expect(Buffer.from(await rest.arrayBuffer()).equals(original.subarray(100))).toBe(true);
    // Conditions of writers are about the original.
    const refused = await service().get('/api/media/hevc.mp4', {
      method: 'DELETE',
      headers: { 'If-Match': shown.headers.get('ETag') ?? '' },
    });
    expect(refused.status).toBe(412);
  });

  it('whose container alone says how wide its pixels are keeps its shape', async () => {
    const narrow = makeMedium('narrow.mp4', [
      ...film('1440x1080', 1, 5),
      '-c:v',
      'libx265',
      '-tag:v',
      'hvc1',
      ...first,
    ]);
    const path = makeMedium('wide.mp4', ['-i', narrow, '-c', 'copy', '-aspect', '16:9', ...first]);
    await put('wide.mp4', path);
    const size = { width: 1920, height: 1080 };
    expect(await settled('wide.mp4')).toMatchObject({ ...size, rendition: { state: 'ready' } });
    const shown = join(temporaryFolder(), 'shown.mp4');
    writeFileSync(shown, new Uint8Array(await (await service().get('/media/wide.mp4')).arrayBuffer()));
    const report = spawnSync('ffmpeg', ['-i', shown], { encoding: 'utf8' }).stderr;
    expect(readReport(report)).toMatchObject({ ...size, storedWidth: 1920, storedHeight: 1080 });
  });

  it('that is replaced or deleted takes its rendition with it', async () => {
    const paths = [makeMedium('hevc.mp4', hevc), makeMedium('again.mp4', [...hevc, '-crf', '35'])] as const;
    await put('hevc.mp4', paths[0]);
    await put('again.mp4', paths[1]);
    for (const name of ['hevc.mp4', 'again.mp4']) expect((await settled(name)).rendition.state).toBe('ready');
    // Named by the hash of their originals.
    const [gone = '', replaced = ''] = paths.map((path) =>
      createHash('sha256').update(readFileSync(path)).digest('hex'),
    );
    const kept = (): string[] =>
      readdirSync(join(service().dataDir, 'media', 'renditions')).filter((name) => [gone, replaced].includes(name));
    expect(kept().toSorted()).toEqual([gone, replaced].toSorted());
    const red = [...film().map((word) => word.replace('00a000', 'a00000')), ...h264, ...first];
    await put('again.mp4', makeMedium('red.mp4', red));
    expect((await settled('again.mp4')).rendition.state).toBe('none');
    expect((await service().get('/media/again.mp4')).headers.get('x-signage-rendition')).toBeNull();
    await expect.poll(kept, { timeout: 25_000 }).toEqual([gone]);
    await service().get('/api/media/hevc.mp4', { method: 'DELETE' });
    expect((await service().get('/media/hevc.mp4')).status).toBe(404);
    await expect.poll(kept, { timeout: 25_000 }).toEqual([]);
  });
});

describe.skipIf(!hasFfmpeg)('the same pictures', () => {
  it.each<[name: string, how: string[]]>([
    ['phone.mov', [...film(), ...tone, ...h264, '-c:a', 'aac']],
    ['cinema.mkv', [...film(), ...tone, ...h264, '-c:a', 'ac3']],
    ...walks<[string, string[]]>(['late.mp4', [...film(), ...h264]], ['camera.ts', [...film(), ...h264]]),
  ])('of %s are put into another container', async (name, how) => {
    await put(name, makeMedium(name, how));
    expect((await settled(name)).rendition).toMatchObject({ state: 'ready' });
    const shown = await service().get(`/media/${name}`);
    expect(shown.headers.get('x-signage-rendition')).toBe('remux');
    expect(shown.headers.get('content-type')).toBe('video/mp4');
    const bytes = Buffer.from(await shown.arrayBuffer());
    expect(bytes.indexOf('moov')).toBeLessThan(bytes.indexOf('mdat'));
  });

  it.each<[name: string, how: string[]]>([
    ['plain.mp4', [...film(), ...tone, ...h264, '-c:a', 'aac', ...first]],
    ['plain.webm', [...film(), ...tone, '-c:v', 'libvpx', '-c:a', 'libopus']],
    ['moving.gif', [...film()]],
  ])('of %s stay as they are', async (name, how) => {
    await put(name, makeMedium(name, how));
    const early = await service().get(`/media/${name}`);
    expect(early.status).toBe(200);
    expect((await settled(name)).rendition).toEqual({ state: 'none', progress: 0, reason: null, size: null });
  });

  it('with a gap between them are converted, and shown as they are until then', async () => {
    const gap = [...film('320x180', 4), '-vf', "select='lt(t,1)+gt(t,2)'", '-vsync', 'vfr', ...h264, ...first];
    await put('gap.mp4', makeMedium('gap.mp4', gap));
    expect((await service().get('/media/gap.mp4')).status).toBe(200);
    expect((await settled('gap.mp4')).rendition.state).toBe('ready');
    expect((await service().get('/media/gap.mp4')).headers.get('x-signage-rendition')).toBe('h264');
  });
});

it.skipIf(!hasFfmpeg)('the loudness of a film is told to pages, whatever else this box cannot convert', async () => {
  await service().get('/api/media/menu.docx', { method: 'PUT', body: wordFile });
  expect((await settled('menu.docx')).rendition).toMatchObject({ state: 'failed' });
  await put('tone.mp4', makeMedium('tone.mp4', [...film(), ...tone, ...h264, '-c:a', 'aac', ...first]));
  await expect.poll(async () => (await listed('tone.mp4'))?.loudness, { timeout: 25_000 }).toBeCloseTo(-21.8, 0);
  expect((await listed('tone.mp4'))?.peak).toBeCloseTo(-18, 0);
  expect(Number((await service().get('/media/tone.mp4')).headers.get('x-signage-loudness'))).toBeCloseTo(-21.8, 0);
});

describe.skipIf(!hasFfmpeg)('a picture', () => {
  const photo = (size: string): string[] => ['-f', 'lavfi', '-i', `color=0x00a000:size=${size}`, '-frames:v', '1'];

  it('of 48 megapixels is shown at once, and then smaller', async () => {
    await put('huge.jpg', makeMedium('huge.jpg', photo('8000x6000')));
    expect((await service().get('/media/huge.jpg')).status).toBe(200);
    expect(await settled('huge.jpg')).toMatchObject({ codec: 'jpeg', width: 8000, rendition: { state: 'ready' } });
    const shown = await service().get('/media/huge.jpg');
    expect(shown.headers.get('content-type')).toBe('image/jpeg');
    const bytes = Buffer.from(await shown.arrayBuffer());
    const [red, green, blue] = middleOf(bytes);
    expect(Math.abs(green - 160)).toBeLessThan(12);
    expect(Math.max(red, blue)).toBeLessThan(12);
  });

  it.each(['paper.tiff', ...walks('old.bmp', 'scan.jp2')])('of the kind of %s is converted', async (name) => {
    await put(name, makeMedium(name, photo('640x360')));
    expect((await settled(name)).rendition).toMatchObject({ state: 'ready' });
    expect((await service().get(`/media/${name}`)).headers.get('content-type')).toMatch(/^image\/(?:jpeg|webp)$/);
  });

  it('of a scanner that held it on its side is upright, in the colours of its profile', async () => {
    // Turned clockwise its left is the top.
    const colourAt = (x: number): readonly number[] => (x < 150 ? [200, 100, 50] : [0, 0, 0]);
    const scan = { width: 300, height: 200, colourAt, orientation: 6, profile: profileOf(adobeRgb, 1_000) };
    await service().get('/api/media/scan.tif', { method: 'PUT', body: new Uint8Array(tiffOf(scan)) });
    expect(await settled('scan.tif')).toMatchObject({ width: 200, height: 300, rendition: { state: 'ready' } });
    const shown = Buffer.from(await (await service().get('/media/scan.tif')).arrayBuffer());
    const at = (y: number): number[] => {
      const filter = ['-vf', `crop=2:2:50:${y},scale=1:1`, '-pix_fmt', 'rgb24', '-f', 'rawvideo'];
      const { stdout } = spawnSync('ffmpeg', ['-v', 'error', '-f', 'webp_pipe', '-i', '-', ...filter, '-'], {
        input: shown,
      });
      return [...stdout];
    };
    for (const [index, value] of [227, 100, 42].entries())
      expect(Math.abs((at(60)[index] ?? 0) - value)).toBeLessThan(6);
    expect(Math.max(...at(240))).toBeLessThan(6);
  });

  it('of a camera whose profile is behind a long preview has the colours of that', async () => {
    const photo = readFileSync(
      makeMedium('brown.jpg', ['-f', 'lavfi', '-i', 'color=0xC86432:size=4000x300', '-frames:v', '1']),
    );
    const parts = [
      photo.subarray(0, 2),
      fillSegments(2 ** 20),
      profileSegments(profileOf(displayP3, 100_000)),
      photo.subarray(2),
    ];
    await service().get('/api/media/brown.jpg', { method: 'PUT', body: new Uint8Array(Buffer.concat(parts)) });
    expect(await settled('brown.jpg')).toMatchObject({ width: 4000, height: 300, rendition: { state: 'ready' } });
    const shown = Buffer.from(await (await service().get('/media/brown.jpg')).arrayBuffer());
    for (const [index, value] of [215, 93, 31].entries())
      expect(Math.abs((middleOf(shown)[index] ?? 0) - value)).toBeLessThan(6);
  });

  it.each(['wide.gif', ...walks('wide.apng', 'wide.png')])(
    'that moves and is too wide, as %s, moves on',
    async (name) => {
      const how = [
        '-f',
        'lavfi',
        '-i',
        'testsrc=size=3900x60:rate=5:duration=1',
        '-f',
        name.endsWith('gif') ? 'gif' : 'apng',
      ];
      await put(name, makeMedium(name, [...how, ...(name.endsWith('gif') ? [] : ['-plays', '0'])]));
      expect(await settled(name)).toMatchObject({ width: 3900, rendition: { state: 'ready' } });
      const shown = await service().get(`/media/${name}`);
      expect(shown.headers.get('content-type')).toBe('image/webp');
      const bytes = Buffer.from(await shown.arrayBuffer()).toString('latin1');
      expect(bytes.split('ANMF')).toHaveLength(6);
    },
  );

  it('that cannot be read is served as it is, with a reason in the console', async () => {
    const path = makeMedium('cut.tiff', photo('640x360'));
    const half = readFileSync(path).subarray(0, 300);
    await service().get('/api/media/cut.tiff', { method: 'PUT', body: new Uint8Array(half) });
    const { rendition } = await settled('cut.tiff');
    expect(rendition).toMatchObject({ state: 'failed', size: null });
    expect(rendition.reason).toBe('The file is damaged, or is not what its name says.');
    expect((await service().get('/media/cut.tiff')).status).toBe(200);
  });

  it.skipIf(['heif-enc', 'heif-convert'].some((name) => findProgram(name) === undefined) && !isCi).each([
    ['by the program of the system', ['heif-convert']],
    ['by the own decoder where the system has none', []],
  ])('of a phone is converted %s', async (_, decoders) => {
    const folder = temporaryFolder();
    for (const name of ['bwrap', 'ffmpeg', 'nice', 'prlimit', ...decoders]) {
      symlinkSync(findProgram(name) ?? '/nowhere', join(folder, name));
    }
    const box = await startTestService({ content: { screens: [], playlists: [] }, env: { PATH: folder } });
    const jpeg = makeMedium('phone.jpg', photo('640x480'));
    execFileSync('heif-enc', ['-q', '80', jpeg, '-o', join(folder, 'phone.heic')]);
    await put('phone.heic', join(folder, 'phone.heic'), box);
    const early = await box.get('/media/phone.heic');
    expect([200, 503]).toContain(early.status);
    const done = { codec: 'heic', rendition: { state: 'ready', reason: null } };
    expect(await settled('phone.heic', box)).toMatchObject(done);
    const shown = await box.get('/media/phone.heic');
    expect(shown.headers.get('content-type')).toBe('image/jpeg');
    const [red, green, blue] = middleOf(Buffer.from(await shown.arrayBuffer()));
    expect(Math.abs(green - 160)).toBeLessThan(12);
    expect(Math.max(red, blue)).toBeLessThan(12);
    expect((await box.get('/console/api/media/phone.heic/thumbnail')).status).toBe(200);
  });

  it('that would take gigabytes is given up, and the service goes on', async () => {
    const bomb = manyTexts(1, 1);
    // Its header says 100,000 x 100,000 pixels.
    bomb.writeUInt32BE(100_000, 16);
    bomb.writeUInt32BE(100_000, 20);
    await service().get('/api/media/bomb.png', { method: 'PUT', body: new Uint8Array(bomb) });
    expect((await settled('bomb.png')).rendition).toMatchObject({ state: 'failed' });
    expect((await service().get('/healthz')).status).toBe(200);
  });
});

it.each<[name: string, bytes: Buffer]>([
  ['empty.mp4', Buffer.alloc(0)],
  ['empty.heic', Buffer.alloc(0)],
  ['page.heic', Buffer.from('<!doctype html><title>Not a picture</title>')],
  ['picture.mkv', manyTexts(1, 1)],
])('%s, which is not what its name says, is nothing to convert, and goes out as bytes', async (name, bytes) => {
  const put = await service().get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(bytes) });
  expect(put.status).toBe(201);
  expect((await settled(name)).rendition).toMatchObject({ state: 'none', reason: null });
  const shown = await service().get(`/media/${name}`);
  expect([shown.status, shown.headers.get('content-type')]).toEqual([200, 'application/octet-stream']);
  expect(Buffer.from(await shown.arrayBuffer())).toEqual(bytes);
});
