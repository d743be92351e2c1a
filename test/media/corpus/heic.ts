/** Pictures of an iPhone: a grid of HEVC tiles (ISO/IEC 23008-12, 6.6.2.3). */
import { readFileSync } from 'node:fs';
import { makeMedium } from '../../support/media.ts';

const u8 = (...numbers: number[]): Buffer => Buffer.from(numbers);
const u16 = (...numbers: number[]): Buffer => Buffer.from(numbers.flatMap((each) => [each >> 8, each & 0xff]));
const u32 = (...numbers: number[]): Buffer => Buffer.concat(numbers.map((each) => u16(each >>> 16, each & 0xffff)));
export const box = (type: string, ...parts: Buffer[]): Buffer => {
  const content = Buffer.concat(parts);
  return Buffer.concat([u32(8 + content.length), Buffer.from(type, 'latin1'), content]);
};
/** A box with a version and flags. */
export const full = (type: string, version: number, ...parts: Buffer[]): Buffer =>
  box(type, u8(version, 0, 0, 0), ...parts);

/** Flag of items that are not shown by themselves. */
const HIDDEN = 1;

/** The content of the first box of a type, wherever it is. */
const contentOf = (file: Buffer, type: string): Buffer => {
  const at = file.indexOf(type, 0, 'latin1') - 4;
  return file.subarray(at + 8, at + file.readUInt32BE(at));
};

/** Rotates a picture counterclockwise by quarter turns. */
export const turn = (quarters: number): Buffer => box('irot', u8(quarters));
/** Shows the middle of a picture. */
export const clap = (width: number, height: number): Buffer => box('clap', u32(width, 1, height, 1, 0, 1, 0, 1));

/**
 * @param how what ffmpeg makes the whole picture from, whose sides are multiples of those of a tile
 * @param shown the part of it that is shown, from its upper left corner
 * @param changes what is done with that then
 */
export const tiledHeic = (
  how: readonly string[],
  [width, height]: readonly [number, number],
  tile: number,
  changes: readonly Buffer[] = [],
): Buffer => {
  const [columns, rows] = [Math.ceil(width / tile), Math.ceil(height / tile)];
  const tiles = Array.from({ length: columns * rows }, (_, at) => {
    const crop = `crop=${tile}:${tile}:${(at % columns) * tile}:${Math.floor(at / columns) * tile}`;
    const encoding = ['-c:v', 'libx265', '-x265-params', 'log-level=none', '-pix_fmt', 'yuv420p', '-tag:v', 'hvc1'];
    return readFileSync(makeMedium('tile.mp4', [...how, '-filter_complex', crop, ...encoding]));
  });
  const samples = tiles.map((file) => contentOf(file, 'mdat'));
  const properties = box(
    'ipco',
    box('hvcC', contentOf(tiles[0] as Buffer, 'hvcC')),
    full('ispe', 0, u32(tile, tile)),
    full('ispe', 0, u32(width, height)),
    ...changes,
  );
  const grid = tiles.length + 1;
  const associations = [
    ...tiles.map((_, at) => Buffer.concat([u16(at + 1), u8(2, 0x81, 2)])),
    Buffer.concat([u16(grid), u8(1 + changes.length, 3, ...changes.map((_, at) => 0x84 + at))]),
  ];
  const item = (id: number, type: string, flags: number): Buffer =>
    box('infe', u8(2, 0, 0, flags), u16(id, 0), Buffer.from(`${type}\0`, 'latin1'));
  const description = Buffer.concat([u8(0, 0, rows - 1, columns - 1), u16(width, height)]);
  const meta = (begin: number): Buffer => {
    let at = begin;
    const extents = samples.map((sample, index) => {
      const place = Buffer.concat([u16(index + 1, 0, 0, 1), u32(at, sample.length)]);
      at += sample.length;
      return place;
    });
    return full(
      'meta',
      0,
      full('hdlr', 0, u32(0), Buffer.from('pict'), Buffer.alloc(13)),
      full('pitm', 0, u16(grid)),
      full(
        'iloc',
        1,
        u8(0x44, 0),
        u16(grid),
        ...extents,
        Buffer.concat([u16(grid, 1, 0, 1), u32(0, description.length)]),
      ),
      full('iinf', 0, u16(grid), ...tiles.map((_, index) => item(index + 1, 'hvc1', HIDDEN)), item(grid, 'grid', 0)),
      full('iref', 0, box('dimg', u16(grid, tiles.length), ...tiles.map((_, index) => u16(index + 1)))),
      box('iprp', properties, full('ipma', 0, u32(grid), ...associations)),
      box('idat', description),
    );
  };
  const head = box('ftyp', Buffer.from('heic\0\0\0\0mif1heic', 'latin1'));
  const begin = head.length + meta(0).length + 8;
  return Buffer.concat([head, meta(begin), box('mdat', ...samples)]);
};
