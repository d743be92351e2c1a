/** Files of pictures with headers that programs of people write, and ffmpeg does not. */

/** XYZ of D50 of three primaries, and the light of a value: a power of it, or the one of sRGB. */
interface Colours {
  name: string;
  primaries: readonly (readonly number[])[];
  power?: number;
}

export const adobeRgb: Colours = {
  name: 'Adobe RGB (1998)',
  primaries: [
    [0.60974, 0.31111, 0.01947],
    [0.20528, 0.62567, 0.06087],
    [0.14919, 0.06322, 0.74457],
  ],
  power: 563 / 256,
};
export const displayP3: Colours = {
  name: 'Display P3',
  primaries: [
    [0.51512, 0.2412, -0.00105],
    [0.29198, 0.69225, 0.04189],
    [0.1571, 0.06657, 0.78407],
  ],
};

const fixed = (...values: number[]): Buffer => {
  const bytes = Buffer.alloc(4 * values.length);
  for (const [at, value] of values.entries()) bytes.writeInt32BE(Math.round(value * 65_536), 4 * at);
  return bytes;
};
const typed = (type: string, ...parts: Buffer[]): Buffer =>
  Buffer.concat([Buffer.from(`${type}\0\0\0\0`, 'latin1'), ...parts]);

/** A profile of three primaries (ICC.1:2022). @param spare bytes of no meaning at its end */
export const profileOf = ({ name, primaries, power }: Colours, spare = 0): Buffer => {
  const curve =
    power === undefined
      ? typed('para', Buffer.from([0, 3, 0, 0]), fixed(2.4, 1 / 1.055, 0.055 / 1.055, 1 / 12.92, 0.04045))
      : typed('curv', Buffer.from([0, 0, 0, 1, Math.floor(power), Math.round((power % 1) * 256)]));
  const tags: [string, Buffer][] = [
    ['desc', typed('desc', Buffer.from(`\0\0\0${String.fromCharCode(name.length + 1)}${name}\0`, 'latin1'))],
    ...primaries.map((xyz, at): [string, Buffer] => [`${'rgb'[at]}XYZ`, typed('XYZ ', fixed(...xyz))]),
    ...[...'rgb'].map((letter): [string, Buffer] => [`${letter}TRC`, curve]),
  ];
  const head = Buffer.alloc(132 + 12 * tags.length);
  let offset = head.length;
  head.write('lcms\x04\x30\0\0mntrRGB XYZ ', 4, 'latin1');
  head.write('acsp', 36, 'latin1');
  head.writeUInt32BE(tags.length, 128);
  for (const [at, [tag, { length }]] of tags.entries()) {
    head.write(tag, 132 + 12 * at, 'latin1');
    head.writeUInt32BE(offset, 136 + 12 * at);
    head.writeUInt32BE(length, 140 + 12 * at);
    offset += length;
  }
  const profile = Buffer.concat([head, ...tags.map(([, data]) => data), Buffer.alloc(spare)]);
  profile.writeUInt32BE(profile.length);
  return profile;
};

/** Segments APP2 of JPEG with a profile (ICC.1:2022, B.4). */
export const profileSegments = (profile: Buffer): Buffer => {
  const most = 65_519;
  const count = Math.ceil(profile.length / most);
  const pieces = Array.from({ length: count }, (_, at) => {
    const piece = profile.subarray(at * most, (at + 1) * most);
    const head = Buffer.from(`\xff\xe2\0\0ICC_PROFILE\0${String.fromCharCode(at + 1, count)}`, 'latin1');
    head.writeUInt16BE(piece.length + 16, 2);
    return Buffer.concat([head, piece]);
  });
  return Buffer.concat(pieces);
};

/** Segments that say nothing, of at least so many bytes. */
export const fillSegments = (bytes: number): Buffer =>
  Buffer.concat(
    Array.from({ length: Math.ceil(bytes / 65_000) }, () =>
      Buffer.concat([Buffer.from([0xff, 0xe9, 0xfd, 0xea]), Buffer.alloc(65_000)]),
    ),
  );

interface Tiff {
  width: number;
  height: number;
  /** Red, green and blue of a pixel. */
  colourAt(x: number, y: number): readonly number[];
  /** Tag 274. */
  orientation?: number;
  profile?: Buffer;
}

/** A TIFF (TIFF 6.0) as scanners and Photoshop write it: behind its pixels lies what it says of them. */
export const tiffOf = ({ width, height, colourAt, orientation = 1, profile = Buffer.alloc(0) }: Tiff): Buffer => {
  const pixels = Buffer.alloc(width * height * 3);
  for (let at = 0; at < width * height; at++) pixels.set(colourAt(at % width, Math.floor(at / width)), at * 3);
  const [begin, SHORT, LONG, UNDEFINED] = [8 + 8, 3, 4, 7];
  const profileAt = begin + pixels.length;
  const directoryAt = profileAt + profile.length + (profile.length % 2);
  const entries: [tag: number, type: number, count: number, value: number][] = [
    [0x100, SHORT, 1, width],
    [0x101, SHORT, 1, height],
    // Behind the first 8 bytes: 8, 8, 8.
    [0x102, SHORT, 3, 8],
    [0x103, SHORT, 1, 1],
    [0x106, SHORT, 1, 2],
    [0x111, LONG, 1, begin],
    [0x112, SHORT, 1, orientation],
    [0x115, SHORT, 1, 3],
    [0x116, SHORT, 1, height],
    [0x117, LONG, 1, pixels.length],
    ...(profile.length === 0
      ? []
      : [[0x8773, UNDEFINED, profile.length, profileAt] as [number, number, number, number]]),
  ];
  const directory = Buffer.alloc(2 + entries.length * 12 + 4);
  directory.writeUInt16LE(entries.length);
  for (const [at, [tag, type, count, value]] of entries.entries()) {
    directory.writeUInt16LE(tag, 2 + at * 12);
    directory.writeUInt16LE(type, 4 + at * 12);
    directory.writeUInt32LE(count, 6 + at * 12);
    directory.writeUInt32LE(value, 10 + at * 12);
  }
  const head = Buffer.from('49492a0000000000' + '0800080008000000', 'hex');
  head.writeUInt32LE(directoryAt, 4);
  return Buffer.concat([head, pixels, profile, Buffer.alloc(profile.length % 2), directory]);
};
