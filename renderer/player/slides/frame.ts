import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { paletteOf } from '../../../service/domain/house-style.ts';
import { colour } from './palette.ts';

type Picture = HTMLImageElement | HTMLVideoElement;

/** How a picture is fitted to the screen. */
interface Framing {
  /** `cover` fills the screen and may crop; `contain` shows all of it. */
  fit: 'cover' | 'contain';
  /** The point that stays visible if the picture is cropped: from the left and from the top, 0 to 1. */
  focus: readonly [x: number, y: number];
}

const share = (value: unknown): number =>
  typeof value === 'number' && Number.isFinite(value) ? Math.min(1, Math.max(0, value)) : 0.5;

/** Reads `content.fit` and `content.focus`. Missing or invalid values become `cover` and the centre. */
export const framing = (content: Slide['content']): Framing => {
  const focus: unknown = content?.['focus'];
  const [x, y] = Array.isArray(focus) ? (focus as unknown[]) : [];
  return { fit: content?.['fit'] === 'contain' ? 'contain' : 'cover', focus: [share(x), share(y)] };
};

/** Fits the picture to the screen. */
export const frame = (picture: Picture | HTMLCanvasElement, { fit, focus }: Framing): void => {
  picture.style.objectFit = fit;
  picture.style.objectPosition = fit === 'cover' ? focus.map((part) => `${part * 100}%`).join(' ') : 'center';
};

/** Pixels of the longer side: enlarging so few blurs them, without a filter on every frame. */
const BACKDROP_SIZE = 48;

/** A blurred copy of the picture. */
const backdrop = (picture: Picture, width: number, height: number): HTMLElement => {
  const canvas = document.createElement('canvas');
  canvas.className = 'backdrop';
  const scale = BACKDROP_SIZE / Math.max(width, height);
  canvas.width = Math.max(1, Math.round(width * scale));
  canvas.height = Math.max(1, Math.round(height * scale));
  const context = canvas.getContext('2d');
  if (context !== null) {
    context.filter = 'blur(2px) brightness(0.72) saturate(1.1)';
    context.drawImage(picture, 0, 0, canvas.width, canvas.height);
  }
  return canvas;
};

const PAPER_SIZE = 16;

/** The most frequent colour at a page's edge, as CSS: on this background the edge is invisible. */
export const paperOf = (page: HTMLCanvasElement): string => {
  const canvas = document.createElement('canvas');
  canvas.width = PAPER_SIZE;
  canvas.height = PAPER_SIZE;
  const context = canvas.getContext('2d', { willReadFrequently: true });
  context?.drawImage(page, 0, 0, PAPER_SIZE, PAPER_SIZE);
  const { data = [] } = context?.getImageData(0, 0, PAPER_SIZE, PAPER_SIZE) ?? {};
  const counts = new Map<string, number>();
  for (let at = 0; at < PAPER_SIZE ** 2; at++) {
    const isRim = [at % PAPER_SIZE, Math.floor(at / PAPER_SIZE)].some((part) => part === 0 || part === PAPER_SIZE - 1);
    const colour = `rgb(${data[at * 4]}, ${data[at * 4 + 1]}, ${data[at * 4 + 2]})`;
    if (isRim) counts.set(colour, (counts.get(colour) ?? 0) + 1);
  }
  const [[most] = ['#fff']] = [...counts].toSorted(([, a], [, b]) => b - a);
  return most;
};

/**
 * The background around a picture that does not fill the screen: `content.background` (a CSS colour), else that of the house,
 * else the picture, blurred. Null if the picture covers the screen.
 */
export const surround = (
  { content }: Pick<Slide, 'content'>,
  { style }: Pick<PlaylistPayload, 'style'>,
  { fit }: Framing,
  picture: Picture,
  width: number,
  height: number,
): HTMLElement[] => {
  if (fit === 'cover') return [];
  const own = colour(content?.['background']) ?? paletteOf(style)?.ground ?? null;
  if (own === null) return [backdrop(picture, width, height)];
  const ground = document.createElement('div');
  ground.className = 'backdrop';
  ground.style.background = own;
  return [ground];
};
