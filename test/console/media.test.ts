/** The media as a person chooses among them, and their thumbnails. */
import { execFileSync } from 'node:child_process';
import { mkdirSync, readdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { imageSize } from 'image-size';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import { createThumbnails } from '../../service/console/thumbnails.ts';
import type { MediaList } from '../../service/contract/media.ts';
import { lobbyWith } from '../content/samples.ts';
import { hasFfmpeg, putImage, putVideo } from '../support/media.ts';
import { patience } from '../support/observe.ts';
import { type Ask, createOperator, refusalOf, secretModes, secretSettings } from '../support/operator.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { repeats } from '../support/soak.ts';

const path = '/console/api/media';
const content = lobbyWith([
  { kind: 'image', id: 'hall', media_url: '/media/red.png' },
  { kind: 'image', id: 'door', media_url: '/media/red.png' },
  { kind: 'text', title: 'Hello', body: '<img src="/media/a%20b.txt">' },
]);

const sizeOf = async (response: Response) => {
  const { width, height, type } = imageSize(Buffer.from(await response.arrayBuffer()));
  return { width, height, type };
};

const listOf = async (ask: Ask): Promise<MediaList> => (await (await ask('GET', path)).json()) as MediaList;

describe.each(secretModes)('%s', (_, secret) => {
  test('media are listed with their measures and the slides that use them', async () => {
    const dataDir = temporaryFolder();
    putImage(dataDir, 'red.png', [200, 0, 0]);
    writeFileSync(join(dataDir, 'uploads', 'a b.txt'), 'text');
    const env = { ...secretSettings(secret), SIGNAGE_MEDIA_QUOTA_BYTES: '1000000' };
    const ask = createOperator(await startTestService({ content, dataDir, env }), secret);
    await expect.poll(async () => (await listOf(ask)).media.length, patience).toBe(2);
    const list = await listOf(ask);
    expect(list).toMatchObject({
      media: [
        {
          filename: 'a b.txt',
          url: '/media/a%20b.txt',
          size: 4,
          width: null,
          duration_seconds: null,
          used_by: ['welcome-3'],
        },
        { filename: 'red.png', media_type: 'image/png', width: 64, height: 36, used_by: ['hall', 'door'] },
      ],
      quota_bytes: 1_000_000,
    });
    expect(list.used_bytes).toBe(list.media.reduce((sum, { size }) => sum + size, 0));
  });

  test('media are used by takeovers and drafts, too', async () => {
    const dataDir = temporaryFolder();
    for (const name of ['red.png', 'b c.png', 'logo.png']) putImage(dataDir, name, [200, 0, 0]);
    const ask = createOperator(await startTestService({ content, dataDir, env: secretSettings(secret) }), secret);
    const uses = async () =>
      Object.fromEntries((await listOf(ask)).media.map((each) => [each.filename, [each.used_by, each.in_drafts]]));
    const none = [[], undefined];
    await expect
      .poll(uses, patience)
      .toEqual({ 'red.png': [['hall', 'door'], undefined], 'b c.png': none, 'logo.png': none });
    const until = new Date(Date.now() + 600_000).toISOString();
    const takeover = { targets: ['all'], level: 'info', title: 'Look', media_url: '/media/b%20c.png', until };
    expect((await ask('PUT', '/console/api/takeovers/look', takeover)).status).toBe(201);
    const draft = {
      title: 'Easter',
      base_sha256: null,
      content: { templates: [{ html: '<img src="/media/b%20c.png">' }], style: { logo_url: '/media/logo.png?v=1' } },
    };
    const saved = await ask('PUT', '/console/api/drafts/easter', draft);
    expect(saved.status).toBe(201);
    const used = {
      'red.png': [['hall', 'door'], undefined],
      'b c.png': [['takeover-look'], ['Easter']],
      'logo.png': [[], ['Easter']],
    };
    expect(await uses()).toEqual(used);
    const changed = JSON.parse(JSON.stringify(draft).replace('logo.png', 'red.png'));
    await ask('PUT', '/console/api/drafts/easter', changed, { 'If-Match': saved.headers.get('ETag') ?? '' });
    await ask('DELETE', '/console/api/takeovers/look');
    expect(await uses()).toEqual({
      'red.png': [['hall', 'door'], ['Easter']],
      'b c.png': [[], ['Easter']],
      'logo.png': none,
    });
  });

  test.runIf(hasFfmpeg)('a thumbnail is a JPEG with a longest side of 640, and is made once', async () => {
    const dataDir = temporaryFolder();
    putImage(dataDir, 'red.png', [200, 0, 0]);
    putVideo(dataDir, 'film.mp4', [0, 200, 0], 2, '180x320');
    putVideo(dataDir, 'short.mp4', [0, 200, 0], 0.2);
    const ask = createOperator(await startTestService({ content, dataDir, env: secretSettings(secret) }), secret);
    const thumbnail = (name: string, headers = {}) => ask('GET', `${path}/${name}/thumbnail`, undefined, headers);
    const [first, second] = await Promise.all([thumbnail('red.png'), thumbnail('red.png')]);
    expect(await sizeOf(first.clone())).toEqual({ width: 640, height: 360, type: 'jpg' });
    expect(Buffer.from(await first.arrayBuffer()).equals(Buffer.from(await second.arrayBuffer()))).toBe(true);
    expect(await sizeOf(await thumbnail('film.mp4'))).toEqual({ width: 360, height: 640, type: 'jpg' });
    expect(await sizeOf(await thumbnail('short.mp4'))).toEqual({ width: 640, height: 360, type: 'jpg' });
    expect(readdirSync(join(dataDir, 'thumbnails'))).toHaveLength(3);
    const tag = first.headers.get('ETag') ?? '';
    expect((await thumbnail('red.png', { 'If-None-Match': tag })).status).toBe(304);
    putImage(dataDir, 'red.png', [0, 0, 200]);
    expect((await thumbnail('red.png', { 'If-None-Match': tag })).status).toBe(200);
  });
});

test('there is no thumbnail of what has no picture, and no way out of the folder', async () => {
  const dataDir = temporaryFolder();
  putImage(dataDir, 'good.png', [200, 0, 0]);
  const put = (name: string, bytes: string | Buffer) => writeFileSync(join(dataDir, 'uploads', name), bytes);
  put('notes.txt', 'text');
  put('sound.mp3', Buffer.from('fffb9000', 'hex'));
  put('broken.png', Buffer.from('89504e470d0a1a0a00', 'hex'));
  put('playlist.mp4', '#EXTM3U\n#EXTINF:1,\nfile:///etc/passwd\n');
  put("-i 'x' %03d.png", Buffer.from('89504e470d0a1a0a00', 'hex'));
  const ask = createOperator(await startTestService({ content, dataDir }), null);
  const refusal = async (name: string) => refusalOf(await ask('GET', `${path}/${name}/thumbnail`));
  for (const name of ['notes.txt', 'sound.mp3', 'broken.png', 'playlist.mp4', encodeURIComponent("-i 'x' %03d.png")]) {
    expect([name, ...(await refusal(name))]).toEqual([name, 404, 'not_found']);
  }
  expect(await refusal('none.png')).toEqual([404, 'file_not_found']);
  for (const name of ['..%2Fcontent.json', '%2Fetc%2Fpasswd', '%00', '%E0%A4%A', '.upload-x']) {
    expect([name, ...(await refusal(name))]).toEqual([name, 400, 'invalid_field']);
  }
});

test.each<[what: string, outputs: object[], runs: number, found: boolean]>([
  [
    'a picture that is made once the machine is less busy',
    [{ isCut: true }, { isCut: true }, { isDone: true }],
    3,
    true,
  ],
  ['nothing of a file that always takes too long', Array.from({ length: 9 }, () => ({ isCut: true })), 3, false],
  ['nothing of a file without a picture', [{}, {}], 1, false],
])('a thumbnail that is asked for again and again shows %s', async (_, outputs, runs, isFound) => {
  let count = 0;
  const confined = async () => {
    const stdout = Buffer.from('picture');
    return Object.assign({ isDone: false, isCut: false, stdout, stderr: '' }, outputs[count++]);
  };
  const medium = { path: '/photo.png', type: 'image/png', etag: 'a', handle: { close: async () => {} } };
  const thumbnails = createThumbnails({
    media: { open: async () => medium as never, openRendition: async () => null },
    ffmpeg: { find: async () => ({ path: 'ffmpeg' }) as never },
    confined,
    cache: { read: async () => null, write: async () => {} },
    log: pino({ level: 'silent' }),
  });
  const ask = () =>
    thumbnails.get('photo.png', new AbortController().signal).then(
      () => true,
      () => false,
    );
  let last = false;
  for (let times = 0; times < 5 && !last; times += 1) last = await ask();
  expect([last, count]).toEqual([isFound, runs]);
});

test('without ffmpeg there are no thumbnails', async () => {
  const dataDir = temporaryFolder();
  putImage(dataDir, 'good.png', [200, 0, 0]);
  const env = { SIGNAGE_FFMPEG_PATH: '/nonexistent/ffmpeg' };
  const ask = createOperator(await startTestService({ content, dataDir, env }), null);
  expect(await refusalOf(await ask('GET', `${path}/good.png/thumbnail`))).toEqual([404, 'not_found']);
});

test.runIf(hasFfmpeg)('a photograph is turned as its camera says', async () => {
  const dataDir = temporaryFolder();
  const uploads = join(dataDir, 'uploads');
  mkdirSync(uploads);
  const file = join(uploads, 'photo.jpg');
  execFileSync('ffmpeg', ['-v', 'error', '-f', 'lavfi', '-i', 'color=red:size=320x180', '-frames:v', '1', file]);
  const jpeg = execFileSync('cat', [file]);
  // An Exif segment with the one tag 0x0112, orientation, of 6: turned by 90 degrees.
  const exif = Buffer.from(
    'ffe10022457869660000' + '4d4d002a00000008' + '0001' + '011200030000000100060000' + '00000000',
    'hex',
  );
  writeFileSync(file, Buffer.concat([jpeg.subarray(0, 2), exif, jpeg.subarray(2)]));
  const ask = createOperator(await startTestService({ content, dataDir }), null);
  expect(await sizeOf(await ask('GET', `${path}/photo.jpg/thumbnail`))).toEqual({
    width: 360,
    height: 640,
    type: 'jpg',
  });
});

const many = repeats(100, 2_000);

test(`${many} media are listed within a second`, async () => {
  const dataDir = temporaryFolder();
  const uploads = join(dataDir, 'uploads');
  mkdirSync(uploads);
  for (let index = 0; index < many; index++) writeFileSync(join(uploads, `file-${index}.txt`), `${index}`);
  const ask = createOperator(await startTestService({ content, dataDir }), null);
  await expect.poll(async () => (await listOf(ask)).media.length, { timeout: 80_000, interval: 1_000 }).toBe(many);
  const since = performance.now();
  await listOf(ask);
  expect(performance.now() - since).toBeLessThan(1_000);
}, 100_000);
