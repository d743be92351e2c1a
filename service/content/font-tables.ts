/** Reads the tables of a font file: TrueType (ISO/IEC 14496-22) and WOFF 2.0 (W3C). Throws a clause about what is wrong. */
import { promisify } from 'node:util';
import { brotliDecompress } from 'node:zlib';

/** Larger fonts delay the first picture of a page. */
export const mostFontBytes = 2 * 1024 ** 2;
/** All tables of a WOFF 2.0, unpacked. */
const MAX_UNPACKED = 32 * 1024 ** 2;
const MAX_TABLES = 64;
/** Ranges of a character map. */
const MAX_RANGES = 20_000;

const unpack = promisify(brotliDecompress);

type Tables = ReadonlyMap<string, Buffer>;

/** Tags of WOFF 2.0 by their number, as far as this module reads them (W3C, 5.2: `known table tags`). */
const knownTags = (
  'cmap head hhea hmtx maxp name OS/2 post cvt  fpgm glyf loca prep CFF  VORG EBDT EBLC gasp hdmx kern LTSH PCLT VDMX vhea ' +
  'vmtx BASE GDEF GPOS GSUB EBSC JSTF MATH CBDT CBLC COLR CPAL SVG  sbix acnt avar bdat bloc bsln cvar fdsc feat fmtx fvar ' +
  'gvar hsty just lcar mort morx opbd prop trak Zapf Silf Glat Gloc Feat Sill'
).match(/\S.{3}(?= |$)/g) as string[];

const fault = (message: string): never => {
  throw new Error(message);
};

const readTrueType = (bytes: Buffer): Tables => {
  const count = bytes.readUInt16BE(4);
  if (count === 0 || count > MAX_TABLES) fault('its directory of tables is broken');
  const tables = new Map<string, Buffer>();
  for (let at = 0; at < count; at++) {
    const entry = 12 + at * 16;
    const tag = bytes.toString('latin1', entry, entry + 4);
    const [offset, length] = [bytes.readUInt32BE(entry + 8), bytes.readUInt32BE(entry + 12)];
    if (offset + length > bytes.length) fault(`its table "${tag}" ends behind the file`);
    tables.set(tag, bytes.subarray(offset, offset + length));
  }
  return tables;
};

const readWoff2 = async (bytes: Buffer): Promise<Tables> => {
  if (bytes.readUInt32BE(4) === 0x74746366) fault('it is a collection of fonts');
  if (bytes.readUInt32BE(8) !== bytes.length) fault('it is cut off');
  const count = bytes.readUInt16BE(12);
  if (count === 0 || count > MAX_TABLES) fault('its directory of tables is broken');
  const packed = bytes.readUInt32BE(20);
  let at = 48;
  const number = (): number => {
    let value = 0;
    for (let step = 0; step < 5; step++) {
      const byte = bytes.readUInt8(at++);
      value = value * 128 + (byte & 0x7f);
      if (byte < 0x80) return value;
    }
    return fault('its directory of tables is broken');
  };
  const entries = Array.from({ length: count }, () => {
    const flags = bytes.readUInt8(at++);
    const index = flags & 0x3f;
    const tag = index === 0x3f ? bytes.toString('latin1', at, at + 4) : (knownTags[index] ?? '');
    if (index === 0x3f) at += 4;
    const length = number();
    const version = flags >> 6;
    const isTransformed = tag === 'glyf' || tag === 'loca' ? version !== 3 : version !== 0;
    return { tag, length: isTransformed ? number() : length };
  });
  const unpacked = await unpack(bytes.subarray(at, at + packed), { maxOutputLength: MAX_UNPACKED }).catch(() =>
    fault('its tables cannot be unpacked'),
  );
  const tables = new Map<string, Buffer>();
  let from = 0;
  for (const { tag, length } of entries) {
    if (from + length > unpacked.length) fault(`its table "${tag}" is cut off`);
    tables.set(tag, unpacked.subarray(from, from + length));
    from += length;
  }
  return tables;
};

const needed = ['cmap', 'head', 'hhea', 'hmtx', 'maxp'];
const outlines = ['glyf', 'CFF ', 'CFF2'];

/** First and last code points of the ranges that a character map has a glyph for (formats 4 and 12). */
const rangesOf = (cmap: Buffer): [first: number, last: number][] => {
  const count = cmap.readUInt16BE(2);
  const found: [number, number][] = [];
  for (let index = 0; index < Math.min(count, MAX_TABLES); index++) {
    const at = cmap.readUInt32BE(4 + index * 8 + 4);
    const format = cmap.readUInt16BE(at);
    if (format === 4) {
      const segments = cmap.readUInt16BE(at + 6) / 2;
      for (let segment = 0; segment < segments; segment++) {
        const last = cmap.readUInt16BE(at + 14 + segment * 2);
        const first = cmap.readUInt16BE(at + 16 + segments * 2 + segment * 2);
        if (first !== 0xffff) found.push([first, last]);
      }
    } else if (format === 12) {
      const groups = Math.min(cmap.readUInt32BE(at + 12), MAX_RANGES);
      for (let group = 0; group < groups; group++) {
        found.push([cmap.readUInt32BE(at + 16 + group * 12), cmap.readUInt32BE(at + 20 + group * 12)]);
      }
    }
  }
  return found;
};

const readTables = async (bytes: Buffer): Promise<(character: string) => boolean> => {
  const signature = bytes.toString('latin1', 0, 4);
  const isWoff2 = signature === 'wOF2';
  if (!isWoff2 && signature !== '\0\x01\0\0' && signature !== 'true') fault('it is neither a woff2 nor a ttf');
  const tables = isWoff2 ? await readWoff2(bytes) : readTrueType(bytes);
  const missing = needed.find((tag) => !tables.has(tag));
  if (missing !== undefined) fault(`it has no table "${missing}"`);
  if (!outlines.some((tag) => tables.has(tag))) fault('it has no outlines');
  if (tables.get('head')?.readUInt32BE(12) !== 0x5f0f3cf5) fault('its table "head" is broken');
  const ranges = rangesOf(tables.get('cmap') ?? Buffer.alloc(0));
  if (ranges.length === 0) fault('it has no characters');
  return (character) => {
    const code = character.codePointAt(0) ?? 0;
    return ranges.some(([first, last]) => first <= code && code <= last);
  };
};

/**
 * Whether a font has a character.
 * @throws Error whose message is a clause about what is wrong with the file
 */
export const readFont = async (bytes: Buffer): Promise<(character: string) => boolean> => {
  if (bytes.length > mostFontBytes) fault(`it is larger than ${mostFontBytes / 1024 ** 2} MiB`);
  try {
    return await readTables(bytes);
  } catch (error) {
    // Offsets that lead out of the file.
    return error instanceof RangeError ? fault('its tables are broken') : Promise.reject(error);
  }
};
