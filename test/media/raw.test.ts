/** Pictures for viewers in the raw files of cameras. */
import { writeFileSync } from 'node:fs';
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { findPreview, type Preview, readPreview } from '../../service/media/raw.ts';
import { temporaryFolder } from '../support/service.ts';

/** The least that is a JPEG with a frame of a kind. */
const jpeg = (frame: number, length: number): Buffer =>
  Buffer.concat([Buffer.from([0xff, 0xd8, 0xff, frame, 0, 11, 8, 0, 9, 0, 16, 1]), Buffer.alloc(length)]);

type Entry = [tag: number, value: number];
const directory = (entries: Entry[], next = 0): Buffer => {
  const bytes = Buffer.alloc(2 + entries.length * 12 + 4);
  bytes.writeUInt16BE(entries.length, 0);
  for (const [at, [tag, value]] of entries.entries()) {
    bytes.writeUInt16BE(tag, 2 + at * 12);
    bytes.writeUInt16BE(4, 4 + at * 12);
    bytes.writeUInt32BE(1, 6 + at * 12);
    bytes.writeUInt32BE(value, 10 + at * 12);
  }
  bytes.writeUInt32BE(next, 2 + entries.length * 12);
  return bytes;
};

/** A file of these directories, the first at 8, and of these pictures, from 1,000 and 2,000 on. */
const rawOf = (first: Buffer, second: Buffer, ...pictures: Buffer[]): Buffer => {
  const file = Buffer.alloc(3_000 + 100);
  file.write('4d4d002a00000008', 'hex');
  first.copy(file, 8);
  second.copy(file, 500);
  for (const [at, picture] of pictures.entries()) picture.copy(file, 1_000 * (at + 1));
  return file;
};

const previewOf = async (bytes: Buffer): Promise<[Preview | null, Buffer | null]> => {
  const path = join(temporaryFolder(), 'file.nef');
  writeFileSync(path, bytes);
  const handle = await open(path);
  try {
    const preview = await findPreview(handle);
    return [preview, preview && (await readPreview(handle, preview))];
  } finally {
    await handle.close();
  }
};

const small = jpeg(0xc0, 50);
const large = jpeg(0xc0, 800);

it('of several the largest is shown, as the camera was held', async () => {
  const first = directory([
    [0x112, 6],
    [0x201, 1_000],
    [0x202, small.length],
    [0x14a, 500],
  ]);
  const second = directory([
    [0x201, 2_000],
    [0x202, large.length],
  ]);
  const [preview, bytes] = await previewOf(rawOf(first, second, small, large));
  expect(preview).toEqual({ offset: 2_000, length: large.length, orientation: 6 });
  expect(bytes?.equals(large)).toBe(true);
});

it('the raw picture itself, a lossless JPEG, is none', async () => {
  const first = directory(
    [
      [0x201, 1_000],
      [0x202, small.length],
    ],
    500,
  );
  const second = directory([
    [0x103, 7],
    [0x111, 2_000],
    [0x117, large.length],
  ]);
  const [preview] = await previewOf(rawOf(first, second, small, jpeg(0xc3, 800)));
  expect(preview).toMatchObject({ offset: 1_000 });
});

it.each<[what: string, bytes: Buffer]>([
  ['directories in a circle', rawOf(directory([[0x14a, 500]], 8), directory([[0x14a, 8]], 500))],
  [
    'places behind the end',
    rawOf(
      directory([
        [0x201, 0xfffffff0],
        [0x202, 100],
        [0x14a, 0xffffffff],
      ]),
      Buffer.alloc(0),
    ),
  ],
  ['a text', Buffer.from('hello')],
  ['nothing', Buffer.alloc(0)],
])('%s have none', async (_, bytes) => {
  expect(await previewOf(bytes)).toEqual([null, null]);
});
