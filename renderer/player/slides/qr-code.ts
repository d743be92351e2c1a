/** QR codes (ISO/IEC 18004). Loaded by templates that show one. */
import { create } from 'qrcode';

/** The longest text of a code at this level of error correction, in bytes. */
const MOST_BYTES = 1_000;
/** Modules around the code that must be light. */
const QUIET = 4;

/** The address of a picture of a code, dark on light; empty: the text is empty or too long. */
export const qrPicture = (text: string): string => {
  if (text === '' || new TextEncoder().encode(text).length > MOST_BYTES) return '';
  const { modules } = create(text, { errorCorrectionLevel: 'M' });
  const { size, data } = modules;
  const runs: string[] = [];
  for (let row = 0; row < size; row++) {
    for (let column = 0; column < size; column++) {
      if (!data[row * size + column]) continue;
      let length = 1;
      while (column + length < size && data[row * size + column + length]) length += 1;
      runs.push(`M${column + QUIET} ${row + QUIET}h${length}v1h-${length}z`);
      column += length;
    }
  }
  const side = size + 2 * QUIET;
  const svg = `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${side} ${side}" shape-rendering="crispEdges"><rect width="${side}" height="${side}" fill="#fff"/><path d="${runs.join('')}"/></svg>`;
  return `data:image/svg+xml;base64,${btoa(svg)}`;
};
