/** The header of a HEIF or AVIF picture: boxes of an ISO base media file (ISO/IEC 14496-12, 23008-12). */
import { MAX_PROFILE_BYTES, type PictureHeader, readAt, type Source, unknownHeader } from './header.ts';

interface Box {
  type: string;
  content: Buffer;
}

/** Boxes at the top of a file before the one that is looked for: more is no picture and no film. */
const MAX_BOXES = 100;
const MAX_META_BYTES = 1024 ** 2;
/** Of a version and flags. */
const FULL = 4;

const boxesIn = (bytes: Buffer): Box[] => {
  const boxes: Box[] = [];
  for (let at = 0; at + 8 <= bytes.length; ) {
    const length = bytes.readUInt32BE(at) || bytes.length - at;
    if (length < 8) break;
    boxes.push({ type: bytes.toString('latin1', at + 4, at + 8), content: bytes.subarray(at + 8, at + length) });
    at += length;
  }
  return boxes;
};

const contentOf = (boxes: readonly Box[], type: string): Buffer =>
  boxes.find((box) => box.type === type)?.content ?? Buffer.alloc(0);

/**
 * The first box of one of these types at the top of a file: where its content begins, and its length in
 * bytes, which can be negative in a damaged file.
 */
export const findBox = async (
  source: Source,
  types: readonly string[],
): Promise<{ type: string; begin: number; length: number } | null> => {
  let at = 0;
  for (let count = 0; count < MAX_BOXES && Number.isSafeInteger(at); count++) {
    const head = await readAt(source, at, 16);
    if (head.length < 16) return null;
    const type = head.toString('latin1', 4, 8);
    const size = head.readUInt32BE(0);
    const [length, own] = size === 1 ? [Number(head.readBigUInt64BE(8)), 16] : [size, 8];
    if (types.includes(type)) return { type, begin: at + own, length: length - own };
    if (length < own) return null;
    at += length;
  }
  return null;
};

const readMeta = async (source: Source): Promise<Buffer> => {
  const { begin, length } = (await findBox(source, ['meta'])) ?? { begin: 0, length: 0 };
  return length < FULL || length > MAX_META_BYTES ? Buffer.alloc(0) : readAt(source, begin + FULL, length - FULL);
};

/** The properties of an item, in the order in which they apply (ISO/IEC 23008-12, 9.3). */
const propertiesOf = (item: number, iprp: readonly Box[]): Box[] => {
  const properties = boxesIn(contentOf(iprp, 'ipco'));
  for (const { type, content } of iprp) {
    if (type !== 'ipma') continue;
    const [idBytes, indexBytes] = [(content[0] ?? 0) < 1 ? 2 : 4, ((content[3] ?? 0) & 1) + 1];
    let at = FULL + 4;
    while (at + idBytes < content.length) {
      const id = content.readUIntBE(at, idBytes);
      const count = content[at + idBytes] ?? 0;
      at += idBytes + 1;
      const end = Math.min(content.length, at + count * indexBytes);
      if (id === item) {
        const indices: number[] = [];
        // The first bit says whether it must be understood.
        const mask = indexBytes === 1 ? 0x7f : 0x7fff;
        for (; at + indexBytes <= end; at += indexBytes) indices.push(content.readUIntBE(at, indexBytes) & mask);
        return indices.flatMap((index) => properties[index - 1] ?? []);
      }
      at = end;
    }
  }
  return [];
};

/** A side of a picture of which a part is shown: a fraction (ISO/IEC 14496-12, 12.1.4). */
const cut = (side: number | null, fraction: Buffer): number | null =>
  Math.min(side ?? 0, Math.round(fraction.readUInt32BE(0) / fraction.readUInt32BE(4))) || side;

/** By quarters of a turn against the clock. */
const TURNED = [1, 8, 3, 6];

/** Of its primary picture. What mirrors it is left to the programs that decode it. */
export const readHeif = async (source: Source): Promise<PictureHeader> => {
  const meta = boxesIn(await readMeta(source));
  const pitm = contentOf(meta, 'pitm');
  const item = pitm.length < FULL + 2 ? 0 : pitm[0] === 0 ? pitm.readUInt16BE(FULL) : pitm.readUIntBE(FULL, 4);
  const header = { ...unknownHeader };
  for (const { type, content } of propertiesOf(item, boxesIn(contentOf(meta, 'iprp')))) {
    if (type === 'ispe' && content.length >= FULL + 8) {
      header.width = content.readUInt32BE(FULL) || null;
      header.height = content.readUInt32BE(FULL + 4) || null;
    } else if (type === 'clap' && content.length >= 16) {
      header.width = cut(header.width, content);
      header.height = cut(header.height, content.subarray(8));
    } else if (type === 'irot') header.orientation = TURNED[(content[0] ?? 0) & 3] ?? 1;
    else if (type === 'colr' && /^(?:prof|rICC)$/.test(content.toString('latin1', 0, 4))) {
      header.icc = content.length - 4 > MAX_PROFILE_BYTES ? null : content.subarray(4);
    }
  }
  return header;
};
