/**
 * Decodes a HEIF picture to a BMP file: a program of its own, `FROM TO`, that the service never imports. WebAssembly cannot
 * live under a limit of address space, so the memory of its process is watched instead.
 */
import { closeSync, openSync, readFileSync, writeSync } from 'node:fs';
import libheif from 'libheif-js/wasm-bundle.js';

/** Of the largest sensors of phones (200 megapixels) it would take more memory than it is given. */
const MOST_PIXELS = 100_000_000;
const HEADER_BYTES = 54;
const ROWS_AT_ONCE = 64;

/** The header of a BMP file of 24 bits a pixel with the top row first, as ffmpeg and Windows read it. */
const headerOf = (width: number, height: number, rowBytes: number): Buffer => {
  const header = Buffer.alloc(HEADER_BYTES);
  header.write('BM', 0, 'latin1');
  header.writeUInt32LE(HEADER_BYTES + rowBytes * height, 2);
  header.writeUInt32LE(HEADER_BYTES, 10);
  header.writeUInt32LE(40, 14);
  header.writeInt32LE(width, 18);
  header.writeInt32LE(-height, 22);
  header.writeUInt16LE(1, 26);
  header.writeUInt16LE(24, 28);
  return header;
};

const fail = (words: string): never => {
  process.stderr.write(`${words}\n`);
  process.exit(1);
};

const [from = '', to = ''] = process.argv.slice(2);
const images = new libheif.HeifDecoder().decode(readFileSync(from));
const image = images.find((each) => each.is_primary()) ?? images[0] ?? fail('there is no picture in the file');
const [width, height] = [image.get_width(), image.get_height()];
if (width * height > MOST_PIXELS) fail(`${width}x${height} are more pixels than ${MOST_PIXELS}`);

image.display({ data: new Uint8ClampedArray(width * height * 4), width, height }, (decoded) => {
  const { data } = decoded ?? fail('the picture cannot be decoded');
  const rowBytes = Math.ceil((width * 3) / 4) * 4;
  const file = openSync(to, 'w');
  writeSync(file, headerOf(width, height, rowBytes));
  for (let top = 0; top < height; top += ROWS_AT_ONCE) {
    const rows = Math.min(ROWS_AT_ONCE, height - top);
    const strip = Buffer.alloc(rowBytes * rows);
    for (let y = 0; y < rows; y += 1) {
      for (let x = 0; x < width; x += 1) {
        const [source, target] = [((top + y) * width + x) * 4, y * rowBytes + x * 3];
        strip[target] = data[source + 2] ?? 0;
        strip[target + 1] = data[source + 1] ?? 0;
        strip[target + 2] = data[source] ?? 0;
      }
    }
    writeSync(file, strip);
  }
  closeSync(file);
});
