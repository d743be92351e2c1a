/** Reading a damaged header throws nothing. */
import fc from 'fast-check';
import { expect, it } from 'vitest';
import type { Source } from '../../service/media/headers/header.ts';
import { hasLateIndex, readHeader } from '../../service/media/inspect.ts';
import { repeats } from '../support/soak.ts';
import { box, full, turn } from './corpus/heic.ts';
import { adobeRgb, profileOf, profileSegments, tiffOf } from './headers.ts';

/** A file in memory, as strict about positions as the newest Node. */
const sourceOf = (file: Buffer): Source => ({
  read: (async (buffer: Buffer, _: number, length: number, position: number) => {
    if (!Number.isSafeInteger(position)) throw new RangeError(`position ${position}`);
    return { buffer, bytesRead: file.subarray(position, position + length).copy(buffer) };
  }) as never,
});

const hex = (digits: string): Buffer => Buffer.from(digits, 'hex');
/** A box of 64 bits of length. */
const longBox = (type: string, length: string): Buffer =>
  Buffer.concat([hex('00000001'), Buffer.from(type), hex(length)]);
const ftyp = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic'));
const heicOf = (pitm: Buffer): Buffer => {
  const properties = box('ipco', full('ispe', 0, hex('0000004000000020')), turn(1));
  const iprp = box('iprp', properties, full('ipma', 0, hex('00000001'), hex('0001028182')));
  return Buffer.concat([ftyp, full('meta', 0, pitm, iprp)]);
};
const heic = heicOf(full('pitm', 0, hex('0001')));
const grey = () => [128, 128, 128];
const tiff = tiffOf({ width: 3, height: 2, colourAt: grey, orientation: 6, profile: profileOf(adobeRgb) });
const exif = Buffer.concat([hex('ffe10000'), Buffer.from('Exif\0\0'), tiff]);
exif.writeUInt16BE(exif.length - 2, 2);
const jpeg = Buffer.concat([
  hex('ffd8'),
  exif,
  profileSegments(profileOf(adobeRgb)),
  hex('ffc0000b080020004001011100ffda0000'),
  Buffer.alloc(16),
]);
/** A directory with the place and the length of a picture for viewers. */
const raw = Buffer.concat([
  hex('4d4d002a00000008'),
  hex('0003011200030000000100060000'),
  hex('0201000400000001'),
  hex('00000032'),
  hex('0202000400000001'),
  hex('00001000'),
  hex('00000000'),
  jpeg,
]);

const files: Record<string, Buffer> = {
  'image/heic': heic,
  'image/jpeg': jpeg,
  'image/tiff': tiff,
  'image/x-nikon-nef': raw,
};

it.each([
  ['image/heic', { width: 64, height: 32, orientation: 8 }],
  ['image/jpeg', { width: 64, height: 32, orientation: 6 }],
  ['image/tiff', { width: 3, height: 2, orientation: 6 }],
  ['image/x-nikon-nef', { width: 64, height: 32, orientation: 6 }],
])('an undamaged header of %s is read', async (mediaType, expected) => {
  expect(await readHeader(sourceOf(files[mediaType] as Buffer), mediaType)).toMatchObject(expected);
});

it.each<[what: string, file: Buffer, width: number | null]>([
  ...[8, 9, 10, 11].map((length): [string, Buffer, null] => [
    `a box of ${length} bytes that should have a version`,
    Buffer.concat([ftyp, Buffer.from([0, 0, 0, length]), Buffer.from('meta'), Buffer.alloc(16)]),
    null,
  ]),
  ['a box that ends where no file does', Buffer.concat([ftyp, longBox('free', '7fffffffffffffff'), heic]), null],
  // What image-size sees in it.
  ['a primary picture whose number is cut off', heicOf(full('pitm', 1, hex('0001'))), 64],
])('a picture with %s is not turned, and as wide as is known', async (_, file, width) => {
  expect(await readHeader(sourceOf(file), 'image/heic')).toMatchObject({ width, orientation: 1 });
});

it('the index of a film behind a box that ends where no file does is not late', async () => {
  const film = Buffer.concat([longBox('free', '7fffffffffffffff'), box('mdat', Buffer.alloc(16))]);
  expect(await hasLateIndex(sourceOf(film))).toBe(false);
});

it('what the disk says is thrown', async () => {
  const failing: Source = { read: () => Promise.reject(new Error('EIO')) };
  await expect(readHeader(failing, 'image/heic')).rejects.toThrow('EIO');
});

const word = fc.constantFrom('00000000', '00000001', '00000008', '0000000b', '7fffffff', 'ffffffff');
const patch = fc.oneof(
  word.map(hex),
  fc.uint8Array({ minLength: 1, maxLength: 4 }).map((bytes) => Buffer.from(bytes)),
);

it.each(Object.entries(files))('no damage of %s is thrown', async (mediaType, file) => {
  const place = fc.nat(file.length - 1);
  const patches = fc.array(fc.tuple(place, patch), { maxLength: 4 });
  await fc.assert(
    fc.asyncProperty(patches, fc.option(place), async (changes, end) => {
      const damaged = Buffer.from(file);
      for (const [at, bytes] of changes) bytes.copy(damaged, at);
      const { orientation } = await readHeader(sourceOf(damaged.subarray(0, end ?? file.length)), mediaType);
      expect(orientation).toBeGreaterThanOrEqual(1);
    }),
    { numRuns: repeats(500, 50_000) },
  );
});
