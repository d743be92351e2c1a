/** Pictures as people have them: what makes them, and what a site makes of them. */
import { execFileSync } from 'node:child_process';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { makeMedium } from '../../support/media.ts';
import { tiffOf } from '../headers.ts';
import { manyTexts } from '../hostile.ts';
import { tiledHeic, turn } from './heic.ts';
import type { Sample } from './sample.ts';

/** A blue picture with white in its upper left corner. */
const marked = (size = '640x360', more?: string): string[] => [
  ...['-f', 'lavfi', '-i'],
  [
    `color=0x2850e6:size=${size}`,
    'drawbox=w=iw/4:h=ih/4:color=white:t=fill',
    ...(more === undefined ? [] : [more]),
  ].join(','),
  ...['-frames:v', '1'],
];
const moving = [
  '-f',
  'lavfi',
  '-i',
  'color=0x2850e6:size=320x180:rate=10:duration=1,drawbox=w=iw/4:h=ih/4:color=white:t=fill',
];

const byFfmpeg = (name: string, how: readonly string[]) => (): Buffer => readFileSync(makeMedium(name, how));

/** The segment APP1 that says how a picture is to be turned (Exif 2.32, 4.6.4). */
const exif = (orientation: number): Buffer => {
  const tiff = Buffer.from('4d4d002a00000008000101120003000000010000000000000000', 'hex');
  tiff.writeUInt16BE(orientation, 18);
  const head = Buffer.from('ffe10000457869660000', 'hex');
  head.writeUInt16BE(8 + tiff.length, 2);
  return Buffer.concat([head, tiff]);
};
const turnedJpeg = (orientation: number, how: readonly string[]) => (): Buffer => {
  const file = byFfmpeg('turned.jpg', how)();
  return Buffer.concat([file.subarray(0, 2), exif(orientation), file.subarray(2)]);
};

/** On its side: turned clockwise it is upright. */
const turnedTiff = (): Buffer => {
  const colourAt = (x: number, y: number) => (639 - y < 160 && x < 90 ? [255, 255, 255] : [0x28, 0x50, 0xe6]);
  return tiffOf({ width: 360, height: 640, colourAt, orientation: 6 });
};

const u16 = (...numbers: number[]): Buffer => Buffer.from(numbers.flatMap((number) => [number >> 8, number & 0xff]));

/**
 * A flat JPEG of four colours as printers use them (ITU-T T.81): each block is one DC coefficient. Adobe's are inverted.
 */
const cmykJpeg = (): Buffer => {
  const [across, up] = [640, 360];
  // Categories 0 and 10 of differences have the codes 0 and 10, the end of a block 0.
  const table = (id: number, values: number[]): Buffer => {
    const counts = Buffer.alloc(16);
    for (let at = 0; at < values.length; at++) counts[at] = 1;
    return Buffer.concat([u16(0xffc4, 19 + values.length), Buffer.from([id]), counts, Buffer.from(values)]);
  };
  const inverted = [0x28, 0x40, 0xe6, 0xff];
  const bits: string[] = [];
  const blocks = (across / 8) * (up / 8);
  for (let block = 0; block < blocks; block++) {
    for (const value of inverted) {
      const difference = block === 0 ? (value - 128) * 8 : 0;
      const coded = (difference < 0 ? difference + 1023 : difference).toString(2).padStart(10, '0');
      bits.push(difference === 0 ? '0' : `10${coded}`, '0');
    }
  }
  const stream = bits.join('').padEnd(Math.ceil(bits.join('').length / 8) * 8, '1');
  const bytes = (stream.match(/.{8}/g) ?? []).flatMap((byte) =>
    byte === '11111111' ? [255, 0] : [Number.parseInt(byte, 2)],
  );
  const components = [1, 2, 3, 4];
  return Buffer.concat([
    u16(0xffd8, 0xffee, 14),
    Buffer.from('Adobe\0d\0\0\0\0\0', 'latin1'),
    u16(0xffdb, 67),
    Buffer.alloc(65, 1).fill(0, 0, 1),
    u16(0xffc0, 20),
    Buffer.from([8]),
    u16(up, across),
    Buffer.from([4, ...components.flatMap((id) => [id, 0x11, 0])]),
    table(0x00, [0, 10]),
    table(0x10, [0]),
    u16(0xffda, 14),
    Buffer.from([4, ...components.flatMap((id) => [id, 0]), 0, 63, 0]),
    Buffer.from(bytes),
    u16(0xffd9),
  ]);
};

/** A Photoshop document without layers (Adobe Photoshop File Formats Specification). */
const psd = (): Buffer => {
  const [across, up] = [640, 360];
  const head = Buffer.concat([
    Buffer.from('8BPS\0\x01\0\0\0\0\0\0', 'latin1'),
    Buffer.from([0, 3, 0, 0, up >> 8, up & 0xff, 0, 0, across >> 8, across & 0xff, 0, 8, 0, 3]),
    Buffer.alloc(12),
    Buffer.alloc(2),
  ]);
  const planes = [0x28, 0x50, 0xe6].map((value) => {
    const plane = Buffer.alloc(across * up, value);
    for (let row = 0; row < up / 4; row++) plane.fill(255, row * across, row * across + across / 4);
    return plane;
  });
  return Buffer.concat([head, ...planes]);
};

/**
 * A raw file of a camera: a small thumbnail, and the picture for viewers in a second directory.
 * @param orientation of the first directory
 */
const rawFile = (orientation: number, how: readonly string[]) => (): Buffer => {
  const [thumbnail, preview] = [marked('160x120'), how].map((each) => byFfmpeg('preview.jpg', each)()) as [
    Buffer,
    Buffer,
  ];
  const directory = (...entries: [tag: number, type: number, value: number][]): Buffer => {
    const bytes = Buffer.alloc(2 + entries.length * 12 + 4);
    bytes.writeUInt16LE(entries.length, 0);
    for (const [at, [tag, type, value]] of entries.entries()) {
      bytes.writeUInt16LE(tag, 2 + at * 12);
      bytes.writeUInt16LE(type, 4 + at * 12);
      bytes.writeUInt32LE(1, 6 + at * 12);
      bytes.writeUInt32LE(value, 10 + at * 12);
    }
    return bytes;
  };
  const second = 8 + 2 + 4 * 12 + 4;
  const begin = second + 2 + 2 * 12 + 4;
  return Buffer.concat([
    Buffer.from('49492a0008000000', 'hex'),
    directory([0x112, 3, orientation], [0x14a, 4, second], [0x201, 4, begin], [0x202, 4, thumbnail.length]),
    directory([0x201, 4, begin + thumbnail.length], [0x202, 4, preview.length]),
    thumbnail,
    preview,
  ]);
};

/** Fujifilm's, with nothing but the picture for viewers. */
const fujifilm = (): Buffer => {
  const preview = byFfmpeg('preview.jpg', marked())();
  const head = Buffer.alloc(160);
  head.write('FUJIFILMCCD-RAW 0201', 'latin1');
  head.writeUInt32BE(head.length, 84);
  head.writeUInt32BE(preview.length, 88);
  return Buffer.concat([head, preview]);
};

const byHeif =
  (extension: string, ...options: string[]) =>
  (): Buffer => {
    const folder = mkdtempSync(join(tmpdir(), 'signage-heif-'));
    try {
      const path = join(folder, `made.${extension}`);
      execFileSync('heif-enc', [...options, makeMedium('phone.png', marked('640x480')), '-o', path], {
        stdio: 'ignore',
      });
      return readFileSync(path);
    } finally {
      rmSync(folder, { recursive: true });
    }
  };

/** A few bytes that say of themselves to be 100,000 x 100,000 pixels. */
const bomb = (): Buffer => {
  const file = manyTexts(1, 1);
  file.writeUInt32BE(100_000, 16);
  file.writeUInt32BE(100_000, 20);
  return file;
};

const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 16 9"><rect width="16" height="9" fill="#2850e6"/>\
<rect width="4" height="2.25" fill="#fff"/></svg>`;

type Row = [name: string, rendition: Sample['rendition'], make: () => Buffer, more?: Partial<Sample>];

const rows: Row[] = [
  ['phone.heic', 'picture', byHeif('heic', '-q', '80')],
  ['iphone.heic', 'picture', () => tiledHeic(marked('640x384'), [640, 360], 128)],
  ['portrait.heic', 'picture', () => tiledHeic(marked('640x384', 'transpose=cclock'), [360, 640], 128, [turn(3)])],
  ['thumb.heif', 'picture', byHeif('heic', '-q', '80', '-t', '128')],
  ['huge.jpg', 'picture', byFfmpeg('huge.jpg', marked('8000x6000'))],
  ['wide.jpg', 'picture', byFfmpeg('wide.jpg', marked('8000x4500'))],
  ['turned-huge.jpg', 'picture', turnedJpeg(6, marked('6400x3600', 'transpose=cclock'))],
  ['print.jpg', 'picture', cmykJpeg, { isUnmarked: true }],
  ['scan.tif', 'picture', byFfmpeg('scan.tif', marked())],
  ['turned.tif', 'picture', turnedTiff],
  ['deep.tiff', 'picture', byFfmpeg('deep.tiff', [...marked(), '-pix_fmt', 'rgb48le', '-compression_algo', 'deflate'])],
  ['fax.tif', 'picture', byFfmpeg('fax.tif', [...marked(), '-compression_algo', 'lzw'])],
  ['film.jp2', 'picture', byFfmpeg('film.jp2', [...marked(), '-c:v', 'libopenjpeg'])],
  ['paint.bmp', 'picture', byFfmpeg('paint.bmp', marked())],
  ['layers.psd', 'picture', psd],
  ['camera.nef', 'picture', rawFile(6, marked('640x360', 'transpose=cclock'))],
  ['camera.raf', 'picture', fujifilm],
  ['poster.png', 'picture', byFfmpeg('poster.png', marked('5120x2880'))],
  ['photo.jpg', null, byFfmpeg('photo.jpg', marked())],
  ['turned-3.jpg', null, turnedJpeg(3, marked('640x360', 'hflip,vflip'))],
  ['turned-8.jpg', null, turnedJpeg(8, marked('640x360', 'transpose=clock'))],
  ['fine.jpeg', null, byFfmpeg('fine.jpeg', [...marked(), '-pix_fmt', 'yuvj444p'])],
  ['logo.png', null, byFfmpeg('logo.png', [...marked(), '-pix_fmt', 'rgba'])],
  ['deep.png', null, byFfmpeg('deep.png', [...marked(), '-pix_fmt', 'rgb48be'])],
  ['moving.apng', null, byFfmpeg('moving.apng', [...moving, '-plays', '0', '-f', 'apng'])],
  ['moving.gif', null, byFfmpeg('moving.gif', moving)],
  ['photo.webp', null, byFfmpeg('photo.webp', marked())],
  ['photo.avif', null, byHeif('avif', '-A')],
  ['sign.svg', null, () => Buffer.from(svg)],
  ['bomb.png', 'failed', bomb],
  ['empty.dng', 'failed', () => rawFile(1, marked())().subarray(0, 100)],
  ['cut.tiff', 'failed', () => byFfmpeg('cut.tiff', marked())().subarray(0, 400)],
];

export const pictures: Sample[] = rows.map(([name, rendition, make, more]) => ({
  name,
  kind: 'image',
  rendition,
  seconds: 1,
  make,
  ...more,
}));
