import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createProbe, inspect, readReport } from '../../service/media/inspect.ts';
import { createConfined } from '../../service/platform/confined.ts';
import { createFfmpeg } from '../../service/platform/ffmpeg.ts';
import { hasFfmpeg, makeMedium } from '../support/media.ts';
import { temporaryFolder } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';
import { clap, tiledHeic, turn } from './corpus/heic.ts';
import { fillSegments, tiffOf } from './headers.ts';
import { png } from './server.ts';

const childEnvironment = { PATH: process.env['PATH'] ?? '', LANG: 'C' };
const probe = createProbe({
  ffmpeg: createFfmpeg({ childEnvironment, ffmpegPath: null }),
  confined: createConfined(childEnvironment),
  tempo: testTempo,
});
const never = new AbortController().signal;

const inspectBytes = (name: string, bytes: Buffer) => {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, bytes);
  return inspect(path, name);
};

describe('the first bytes', () => {
  it('tell the dimensions of pictures', async () => {
    expect(await inspectBytes('a.png', png)).toMatchObject({ width: 1, height: 1, isProbed: true });
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>');
    expect(await inspectBytes('a.svg', svg)).toMatchObject({ width: 30, height: 20 });
    expect(await inspectBytes('cut.png', png.subarray(0, 12))).toMatchObject({ mediaType: 'image/png', width: null });
  });

  const grey = () => [128, 128, 128];
  const photo = (size: string): Buffer =>
    readFileSync(makeMedium('photo.jpg', ['-f', 'lavfi', '-i', `color=gray:size=${size}`, '-frames:v', '1']));
  const cover = ['-f', 'lavfi', '-i', 'color=gray:size=128x64:duration=0.04'];

  it.skipIf(!hasFfmpeg).each<[what: string, name: string, bytes: () => Buffer, expected: object]>([
    [
      'a TIFF on its side, whose directory is behind its pixels',
      'a.tiff',
      () => tiffOf({ width: 300, height: 100, colourAt: grey, orientation: 6 }),
      { width: 100, height: 300, profile: 'picture' },
    ],
    [
      'a HEIC picture on its side, of which a part is shown',
      'a.heic',
      () => tiledHeic(cover, [128, 64], 64, [clap(100, 60), turn(1)]),
      { width: 60, height: 100 },
    ],
    [
      'one that stands on its head',
      'b.heic',
      () => tiledHeic(cover, [128, 64], 64, [turn(2)]),
      { width: 128, height: 64 },
    ],
    [
      'one whose part is larger than it',
      'c.heic',
      () => tiledHeic(cover, [128, 64], 64, [clap(999, 60)]),
      { width: 128, height: 60 },
    ],
    [
      'a JPEG behind a long profile',
      'a.jpg',
      () => Buffer.concat([photo('40x30').subarray(0, 2), fillSegments(2 ** 20), photo('40x30').subarray(2)]),
      { width: 40, height: 30, profile: null },
    ],
    [
      'a JPEG for printers behind a long profile',
      'b.jpg',
      () =>
        Buffer.concat([
          Buffer.from([0xff, 0xd8]),
          fillSegments(2 ** 20),
          Buffer.from(`ffc000140800140140${'04'.padEnd(26, '0')}`, 'hex'),
        ]),
      { width: 320, height: 20, profile: 'picture' },
    ],
  ])('tell the dimensions of %s', async (_, name, bytes, expected) => {
    expect(await inspectBytes(name, bytes())).toMatchObject(expected);
  });

  it('are read of any file', async () => {
    const path = join(temporaryFolder(), 'file');
    const fronts = ['\0\0\0\x18ftypisom', '\x1a\x45\xdf\xa3', 'OggS', 'ID3', '\xff\xd8\xff', 'moov', 'II*\0', ''];
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(...fronts.map((text) => Buffer.from(text, 'latin1')), png),
    );
    const names = ['webm', 'ogg', 'mp3', 'mp4', 'jpg', 'png', 'svg', 'webp', 'avif', 'ico', 'tiff'];
    const name = fc.constantFrom(...names.map((extension) => `a.${extension}`));
    await fc.assert(
      fc.asyncProperty(name, fc.array(piece, { minLength: 1 }), async (name, pieces) => {
        writeFileSync(path, Buffer.concat(pieces));
        expect((await inspect(path, name)).size).toBe(Buffer.concat(pieces).length);
      }),
    );
  });
});

describe('the report of ffmpeg', () => {
  const video = '  Stream #0:0[0x1](und): Video: h264 (High) (avc1 / 0x31637661), yuv420p(progressive)';
  const none = { width: null, height: null, duration: null };

  it.each<[string, string[], object]>([
    ['nothing of what it cannot read', ['a.mp4: Invalid data found when processing input'], none],
    ['the length', ['  Duration: 01:02:03.50, start: 0.000000, bitrate: 1 kb/s'], { ...none, duration: 3723.5 }],
    ['no length that is not known', ['  Duration: N/A, start: 0.000000, bitrate: N/A'], none],
    ['the size', [`${video}, 1920x1080 [SAR 1:1 DAR 16:9], 1 kb/s`], { width: 1920, height: 1080 }],
    ['the size as it is shown', [`${video}, 720x576 [SAR 64:45 DAR 16:9], 1 kb/s`], { width: 1024, height: 576 }],
    [
      'the size as the container has it shown',
      [`${video}, 1440x1080, 51505 kb/s, SAR 4:3 DAR 16:9, 25 fps`],
      { width: 1920, height: 1080, storedWidth: 1440 },
    ],
    [
      'the size as the container has it shown, and not as the film',
      [`${video}, 1440x1080 [SAR 1:1 DAR 4:3], 1 kb/s, SAR 4:3 DAR 16:9, 25 fps`],
      { width: 1920, height: 1080, storedWidth: 1440 },
    ],
    [
      'the size of a picture on its side',
      [`${video}, 1920x1080, 25 fps`, '    Side data:', '      displaymatrix: rotation of -90.00 degrees'],
      { width: 1080, height: 1920 },
    ],
    [
      'the size of the first film behind a sound',
      ['  Stream #0:0: Audio: aac (LC), 48000 Hz', `${video}, 640x360`, `${video}, 320x180`],
      { width: 640, height: 360 },
    ],
    ['no size of a cover', ['  Stream #0:1: Video: mjpeg, yuvj420p, 300x300, 90k tbr (attached pic)'], none],
    [
      'nothing that the author wrote into the file',
      ['    title           : x', '                    :   Duration: 99:00:00.00', '    Stream #0:0: Video: h264, 1x1'],
      none,
    ],
  ])('tells %s', (_, lines, expected) => {
    expect(readReport(['ffmpeg version 7', 'Input #0, mov', ...lines].join('\n'))).toMatchObject(expected);
  });
});

const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2'];
const film = ['-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10:duration=2'];
it.skipIf(!hasFfmpeg).each<[name: string, how: string[], expected: object]>([
  ['film.mp4', film, { mediaType: 'video/mp4', width: 320, height: 240 }],
  ['film.webm', [...film, ...tone, '-c:v', 'libvpx', '-c:a', 'libopus'], { width: 320, height: 240 }],
  ['film.mkv', [...film, '-c:v', 'libx264'], { mediaType: 'video/matroska', width: 320, height: 240 }],
  ['sound.weba', [...tone, '-f', 'webm', '-c:a', 'libopus'], { mediaType: 'audio/webm', width: null }],
  ['sound.opus', [...tone, '-c:a', 'libopus'], { mediaType: 'audio/ogg' }],
  ['sound.ogg', [...tone, '-c:a', 'libvorbis'], { mediaType: 'audio/ogg' }],
  ['variable.mp3', [...tone, '-c:a', 'libmp3lame', '-q:a', '4'], { mediaType: 'audio/mpeg' }],
  ['constant.mp3', [...tone, '-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0'], { mediaType: 'audio/mpeg' }],
  ['low.mp3', [...tone, '-ar', '22050', '-ac', '1', '-c:a', 'libmp3lame'], { mediaType: 'audio/mpeg' }],
])('the size and length of %s are read (needs ffmpeg)', async (name, how, expected) => {
  const path = makeMedium(name, how);
  const facts = await inspect(path, name);
  const shown = await probe(path, facts.mediaType, never);
  expect({ ...facts, ...shown }).toMatchObject(expected);
  expect(Math.abs((shown?.duration ?? 0) - 2)).toBeLessThan(0.15);
});

it('without ffmpeg nothing is known of a film', async () => {
  const ffmpeg = createFfmpeg({ childEnvironment, ffmpegPath: '/nonexistent/ffmpeg' });
  const confined = () => expect.unreachable();
  expect(await createProbe({ ffmpeg, confined, tempo: testTempo })('/film.mp4', 'video/mp4', never)).toBeNull();
});

it.each([
  [1, 1, 5],
  [2, 2, 5],
  [5, 3, 5],
  [6, 3, null],
])(
  'of a film whose first %i readings are cut, the %i. probe tells a length of %s s',
  async (cuts, probes, duration) => {
    let runs = 0;
    const confined = async () => {
      runs += 1;
      const stderr = '  Duration: 00:00:05.00, start: 0.0\n  Stream #0:0: Audio: mp3, 44100 Hz\n';
      return { isDone: false, isCut: runs <= cuts, stdout: Buffer.alloc(0), stderr: runs <= cuts ? '' : stderr };
    };
    const ffmpeg = {
      ...createFfmpeg({ childEnvironment, ffmpegPath: null }),
      find: async () => ({ path: 'ffmpeg' }) as never,
    };
    const read = createProbe({ ffmpeg, confined, tempo: testTempo });
    for (let number = 1; number < probes; number += 1) expect(await read('/song.mp3', 'audio/mpeg', never)).toBeNull();
    const reading = await read('/song.mp3', 'audio/mpeg', never);
    expect(reading).toMatchObject({ duration, isReadable: duration !== null });
    expect(runs).toBe(Math.min(cuts + 1, 6));
  },
);
