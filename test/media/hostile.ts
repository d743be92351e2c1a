/** Files that are built to be as expensive to parse as possible. */
import { crc32, deflateSync } from 'node:zlib';
import { png } from './server.ts';

const u32 = (number: number): Buffer => {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32BE(number);
  return bytes;
};

const box = (type: string, content: Buffer): Buffer =>
  Buffer.concat([u32(8 + content.length), Buffer.from(type), content]);

const repeated = (count: number, bytes: Buffer): Buffer => Buffer.concat(Array.from({ length: count }, () => bytes));

/** A film of `tracks` tracks with `boxes` boxes each and no track header. */
export const nestedBoxes = (tracks: number, boxes: number): Buffer => {
  const track = box('trak', repeated(boxes, box('free', Buffer.alloc(0))));
  return Buffer.concat([box('ftyp', Buffer.from('isom\0\0\0\0')), box('moov', repeated(tracks, track))]);
};

/** An AVIF header with `sizes` image sizes without a crop, followed by `boxes` boxes that are no crop either. */
export const manySizes = (sizes: number, boxes: number): Buffer => {
  const properties = [repeated(sizes, box('ispe', Buffer.alloc(12))), repeated(boxes, box('free', Buffer.alloc(0)))];
  const meta = box('meta', Buffer.concat([u32(0), box('iprp', box('ipco', Buffer.concat(properties)))]));
  return Buffer.concat([box('ftyp', Buffer.from('avif\0\0\0\0')), meta]);
};

const element = (id: string, content: Buffer): Buffer => {
  const size = u32(content.length);
  // RFC 8794, 4: four bytes, behind the marker of their number.
  size[0] = (size[0] ?? 0) | 0x10;
  return Buffer.concat([Buffer.from(id, 'hex'), size, content]);
};

/** A WebM of `tracks` tracks with `elements` empty elements each, and then one with a picture. */
export const nestedElements = (tracks: number, elements: number): Buffer => {
  const empty = element('ae', repeated(elements, Buffer.from('ec80', 'hex')));
  const seen = element('ae', element('e0', Buffer.from('b0820280ba820168', 'hex')));
  const segment = element('18538067', element('1654ae6b', Buffer.concat([repeated(tracks, empty), seen])));
  return Buffer.concat([element('1a45dfa3', Buffer.alloc(0)), segment]);
};

/** A picture of one pixel with `texts` compressed texts of `length` bytes each. */
export const manyTexts = (texts: number, length: number): Buffer => {
  const content = Buffer.concat([Buffer.from('zTXtComment\0\0'), deflateSync(Buffer.alloc(length), { level: 9 })]);
  const chunk = Buffer.concat([u32(content.length - 4), content, u32(crc32(content))]);
  // Behind the signature and the header.
  return Buffer.concat([png.subarray(0, 33), repeated(texts, chunk), png.subarray(33)]);
};
