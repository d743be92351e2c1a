import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { inspect } from '../../service/media/inspect.ts';
import { temporaryFolder } from '../support/service.ts';
import { png } from './server.ts';

const inspectBytes = (name: string, bytes: Buffer) => {
  const path = join(temporaryFolder(), 'file');
  writeFileSync(path, bytes);
  return inspect(path, name);
};

const u32 = (...numbers: number[]) => Buffer.from(Uint32Array.from(numbers).buffer).swap32();
const box = (type: string, ...parts: Buffer[]) => {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(8 + content.length), Buffer.from(type), content]);
};
const longBox = (type: string, content: Buffer) =>
  Buffer.concat([u32(1), Buffer.from(type), u32(0, 16 + content.length), content]);

const ftyp = box('ftyp', Buffer.from('isom'), u32(512));
const mdat = box('mdat', Buffer.alloc(100_000));
const mvhd = box('mvhd', u32(0, 0, 0, 1000, 12_500), Buffer.alloc(80));
const wideMvhd = box('mvhd', u32(0x01000000, 0, 0, 0, 0, 90_000, 1, 0), Buffer.alloc(80));
const upright = [0x10000, 0, 0, 0, 0x10000, 0, 0, 0, 0x40000000];
const onItsSide = [0, 0x10000, 0, 0xffff0000, 0, 0, 0, 0, 0x40000000];
const track = (width: number, height: number, matrix = upright) =>
  box('trak', box('edts'), box('tkhd', Buffer.alloc(40), u32(...matrix, width * 65536, height * 65536)));

describe('inspect', () => {
  it.each([
    ['its index in front', [ftyp, box('moov', mvhd, track(1920, 1080)), mdat], [1920, 1080, 12.5]],
    ['its index at the end', [ftyp, mdat, box('moov', mvhd, track(1920, 1080))], [1920, 1080, 12.5]],
    ['long boxes', [ftyp, longBox('mdat', Buffer.alloc(9)), longBox('moov', mvhd)], [null, null, 12.5]],
    ['a sound track first', [ftyp, box('moov', mvhd, track(0, 0), track(640, 360))], [640, 360, 12.5]],
    ['a picture on its side', [ftyp, box('moov', mvhd, track(1920, 1080, onItsSide))], [1080, 1920, 12.5]],
    ['a 64-bit duration', [ftyp, box('moov', wideMvhd)], [null, null, 2 ** 32 / 90_000]],
    ['no duration yet', [ftyp, box('moov', box('mvhd', Buffer.alloc(100)))], [null, null, null]],
    ['no index', [ftyp, mdat], [null, null, null]],
    ['an index that is cut off', [ftyp, box('moov', mvhd, track(640, 360)).subarray(0, 130)], [null, null, 12.5]],
    ['a box shorter than its own head', [ftyp, u32(4), box('moov', mvhd)], [null, null, null]],
  ] as const)('sees a film with %s', async (_, parts, [width, height, duration]) => {
    const facts = await inspectBytes('film.mp4', Buffer.concat([...parts]));
    expect(facts).toMatchObject({ mediaType: 'video/mp4', width, height, duration });
  });

  it('reads the dimensions of pictures', async () => {
    expect(await inspectBytes('a.png', png)).toMatchObject({ width: 1, height: 1 });
    const svg = Buffer.from('<svg xmlns="http://www.w3.org/2000/svg" width="30" height="20"/>');
    expect(await inspectBytes('a.svg', svg)).toMatchObject({ width: 30, height: 20 });
    expect(await inspectBytes('cut.png', png.subarray(0, 12))).toMatchObject({ mediaType: 'image/png', width: null });
  });

  it('terminates for any file', async () => {
    const path = join(temporaryFolder(), 'file');
    const piece = fc.oneof(
      fc.uint8Array({ maxLength: 40 }).map((bytes) => Buffer.from(bytes)),
      fc.constantFrom(
        ftyp,
        mvhd,
        track(1, 1),
        u32(1),
        u32(0),
        Buffer.from('moov'),
        Buffer.from('\xff\xd8\xff', 'latin1'),
        png,
        Buffer.from('1a45dfa3801853806701ffffffffffffff1549a96688448984', 'hex'),
        Buffer.from('OggS'),
        Buffer.from('\x01vorbis', 'latin1'),
        Buffer.from('ID3'),
        Buffer.from('fffb9064', 'hex'),
      ),
    );
    const fronts = new Map([
      ['a.webm', Buffer.from('1a45dfa3', 'hex')],
      ['a.ogg', Buffer.from('OggS')],
      ['a.mp3', Buffer.from('ID3')],
    ]);
    const name = fc.constantFrom(
      ...fronts.keys(),
      'a.mp4',
      'a.jpg',
      'a.png',
      'a.svg',
      'a.webp',
      'a.avif',
      'a.ico',
      'a.tiff',
    );
    await fc.assert(
      fc.asyncProperty(name, fc.array(piece), async (name, pieces) => {
        writeFileSync(path, Buffer.concat([fronts.get(name) ?? ftyp, ...pieces]));
        expect((await inspect(path, name)).size).toBeGreaterThan(0);
      }),
    );
  });

  const ffmpeg = ((): boolean => {
    try {
      execFileSync('ffmpeg', ['-version'], { stdio: 'ignore' });
      return true;
    } catch {
      return false;
    }
  })();

  const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=2'];
  const film = ['-f', 'lavfi', '-i', 'testsrc=size=320x240:rate=10:duration=2'];
  it.skipIf(!ffmpeg).each<[name: string, how: string[], expected: object]>([
    ['film.mp4', film, { mediaType: 'video/mp4', width: 320, height: 240 }],
    ['film.webm', [...film, ...tone, '-c:v', 'libvpx', '-c:a', 'libopus'], { width: 320, height: 240 }],
    ['film.mkv', [...film, '-c:v', 'libx264'], { mediaType: 'video/matroska', width: 320, height: 240 }],
    ['sound.weba', [...tone, '-f', 'webm', '-c:a', 'libopus'], { mediaType: 'audio/webm', width: null }],
    ['sound.opus', [...tone, '-c:a', 'libopus'], { mediaType: 'audio/ogg' }],
    ['sound.ogg', [...tone, '-c:a', 'libvorbis'], { mediaType: 'audio/ogg' }],
    ['variable.mp3', [...tone, '-c:a', 'libmp3lame', '-q:a', '4'], { mediaType: 'audio/mpeg' }],
    ['constant.mp3', [...tone, '-c:a', 'libmp3lame', '-b:a', '128k', '-write_xing', '0'], { mediaType: 'audio/mpeg' }],
    ['low.mp3', [...tone, '-ar', '22050', '-ac', '1', '-c:a', 'libmp3lame'], { mediaType: 'audio/mpeg' }],
  ])('agrees with ffmpeg on %s (needs it)', async (name, how, expected) => {
    const path = join(temporaryFolder(), name);
    execFileSync('ffmpeg', ['-loglevel', 'error', ...how, path]);
    const facts = await inspect(path, name);
    expect(facts).toMatchObject(expected);
    expect(facts.duration).toBeCloseTo(2, 0);
    expect(Math.abs((facts.duration ?? 0) - 2)).toBeLessThan(0.15);
  });
});
