/** Colours of a house style; pure. */
import type { HouseStyle } from '../contract/style.ts';

/** Contrast of text that can be read (WCAG 2.2, 1.4.3). */
export const leastContrast = 4.5;

/** Ground and ink of a style that names only an accent. */
const STANDARD = '#17343a';
const LIGHT = '#f6f1e4';
const DARK = '#14181b';
const FORM_SHARE = 0.09;

const channels = (hex: string): number[] => [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16));

/** Relative luminance of `#rrggbb` (WCAG 2.2). */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = channels(hex).map((channel) => {
    const share = channel / 255;
    return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};

/** Contrast of two colours `#rrggbb`, 1 to 21 (WCAG 2.2). */
export const contrastOf = (one: string, other: string): number => {
  const [low = 0, high = 0] = [luminance(one), luminance(other)].sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
};

const mixed = (one: string, other: string, share: number): string => {
  const others = channels(other);
  const parts = channels(one).map((channel, at) => Math.round(channel + ((others[at] ?? 0) - channel) * share));
  return `#${parts.map((part) => part.toString(16).padStart(2, '0')).join('')}`;
};

const better = (ground: string, one: string, other: string): string =>
  contrastOf(ground, one) >= contrastOf(ground, other) ? one : other;

/** One of the pair of softer colours, unless only black or white can be read. */
const readableOn = (ground: string): string => {
  const soft = better(ground, LIGHT, DARK);
  return contrastOf(ground, soft) >= leastContrast ? soft : better(ground, '#ffffff', '#000000');
};

/** A little of the ink in the ground; away from it where the text on it could not be read. */
const formOf = (ground: string, ink: string): string => {
  const near = mixed(ground, ink, FORM_SHARE);
  if (contrastOf(near, ink) >= leastContrast) return near;
  const away = better(ink, '#ffffff', '#000000');
  return mixed(ground, away, FORM_SHARE);
};

/** Colours that belong together. */
export interface Palette {
  ground: string;
  ink: string;
  /** The large quiet shape behind the text. */
  form: string;
  accent: string;
}

/** All colours of a style; null: it has none. */
export const paletteOf = (style: HouseStyle | undefined): Palette | null => {
  const { background, text, accent } = style?.colours ?? {};
  if (background === undefined && text === undefined && accent === undefined) return null;
  const ground = background ?? (text === undefined ? STANDARD : readableOn(text));
  const ink = text ?? readableOn(ground);
  return { ground, ink, form: formOf(ground, ink), accent: accent ?? ink };
};

/** The colours of a style that cannot be read on its background: the field, and the contrast. */
export const unreadableColours = (style: HouseStyle | undefined): { name: 'text' | 'accent'; contrast: number }[] => {
  const palette = paletteOf(style);
  if (palette === null) return [];
  return (['text', 'accent'] as const).flatMap((name) => {
    const colour = style?.colours?.[name];
    if (colour === undefined) return [];
    const contrast = contrastOf(palette.ground, colour);
    return contrast < leastContrast ? [{ name, contrast }] : [];
  });
};
