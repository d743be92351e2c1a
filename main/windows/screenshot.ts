/** Screenshots of displays, from the pictures of their views. */
import { type NativeImage, nativeImage, type Rectangle } from 'electron';
import { mostScreenshotPixels } from '../../service/public.ts';

const JPEG_QUALITY = 80;
/** Blue, green, red and alpha. */
const PIXEL_BYTES = 4;

/** A view as it is painted, and where it lies in its window. */
export interface Shot {
  image: NativeImage;
  bounds: Rectangle;
}

/** @param area in pixels of `below` */
const lay = (below: NativeImage, above: NativeImage, area: Rectangle): NativeImage => {
  const size = below.getSize();
  const bitmap = below.toBitmap();
  const { x, y, width, height } = area;
  const rows = above.resize({ width, height }).toBitmap();
  for (let row = 0; row < height; row += 1) {
    const from = row * width * PIXEL_BYTES;
    rows.copy(bitmap, ((y + row) * size.width + x) * PIXEL_BYTES, from, from + width * PIXEL_BYTES);
  }
  return nativeImage.createFromBitmap(bitmap, size);
};

/**
 * A JPEG whose longest side has {@link mostScreenshotPixels} at most.
 * @param over what lies over a part of the view; null: nothing
 * @throws Error if the picture is empty
 */
export const jpegOf = ({ image, bounds }: Shot, over: Shot | null): Uint8Array => {
  if (image.isEmpty()) throw new Error('the page has not painted');
  const full = image.getSize();
  const scale = Math.min(1, mostScreenshotPixels / Math.max(full.width, full.height));
  const size = { width: Math.round(full.width * scale), height: Math.round(full.height * scale) };
  const resized = scale === 1 ? image : image.resize(size);
  if (over === null || over.image.isEmpty()) return resized.toJPEG(JPEG_QUALITY);
  // Bounds do not count pixels where the display is scaled.
  const horizontal = (at: number): number => Math.round((Math.min(at, bounds.width) / bounds.width) * size.width);
  const vertical = (at: number): number => Math.round((Math.min(at, bounds.height) / bounds.height) * size.height);
  const [x, y] = [horizontal(over.bounds.x), vertical(over.bounds.y)];
  const width = horizontal(over.bounds.x + over.bounds.width) - x;
  const height = vertical(over.bounds.y + over.bounds.height) - y;
  return lay(resized, over.image, { x, y, width, height }).toJPEG(JPEG_QUALITY);
};
