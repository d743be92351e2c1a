import type { TakeoverLevel } from '../../../service/contract/console/takeover-levels.ts';
import type { Slide } from '../../../service/contract/playlist.ts';
import { drawnKinds } from '../../../service/contract/slide-values.ts';
import type { HouseStyle } from '../../../service/contract/style.ts';
import { type Palette, paletteOf } from '../../../service/domain/house-style.ts';

const palette = (ground: string, ink: string, form: string, accent: string): Palette => ({ ground, ink, form, accent });

export const palettes: readonly Palette[] = [
  palette('#12352a', '#f6f1e4', '#1d4a3a', '#f2b84b'),
  palette('#f4ecdf', '#1f2a24', '#f0d3ae', '#b23a1e'),
  palette('#15233f', '#fbf4e8', '#22355c', '#f6a66a'),
  palette('#f3b938', '#2a1a08', '#f8cd6e', '#7a2410'),
  palette('#3a1c3e', '#fbeeea', '#522a57', '#f5a3a6'),
  palette('#cbd8c1', '#1b2a1e', '#b6caa9', '#8a3218'),
  palette('#a63f28', '#fff3e4', '#8f3320', '#ffdcae'),
  palette('#dde9f1', '#12263a', '#c0d7e8', '#a8324a'),
  palette('#0f5257', '#f3f7ee', '#17656a', '#ffcf8a'),
  palette('#f7d9cf', '#3a1420', '#f3c2b3', '#9c1c3a'),
];

/** Colours of signs (ISO 3864): white on blue informs, black on yellow warns, white on red is for an emergency. */
export const takeoverColours: Record<TakeoverLevel, { background: string; color: string }> = {
  info: { background: '#0a3f73', color: '#ffffff' },
  warning: { background: '#ffc20a', color: '#000000' },
  emergency: { background: '#a8001c', color: '#ffffff' },
};

/** The shapes behind the text, drawn by the style sheet. */
export const forms = ['sun', 'arch', 'hill', 'rings', 'wave'] as const;

/** FNV-1a, 32 bits, spread once more so that ids that differ in their last letter land far apart. */
const hash = (text: string): number => {
  let value = 0x811c9dc5;
  for (const char of text) value = Math.imul(value ^ (char.codePointAt(0) ?? 0), 0x01000193);
  value = Math.imul(value ^ (value >>> 16), 0x45d9f3b);
  return (value ^ (value >>> 16)) >>> 0;
};

export interface Look {
  palette: Palette;
  form: (typeof forms)[number];
}

/**
 * The look of a slide without its own: in the colours of the house, if it has any; else in colours that change. It is derived from the slide's id, so it is the same on every screen and after every
 * edit; only a slide that would repeat the colours or the shape of its predecessor gets the next ones.
 */
export const lookOf = (
  slide: Pick<Slide, 'id'>,
  slides: readonly Pick<Slide, 'id' | 'kind'>[],
  style?: HouseStyle,
): Look => {
  let colours = -1;
  let shape = -1;
  const pick = (id: string): void => {
    const value = hash(id);
    const nextColours = value % palettes.length;
    const nextShape = Math.floor(value / palettes.length) % forms.length;
    colours = nextColours === colours ? (nextColours + 1) % palettes.length : nextColours;
    shape = nextShape === shape ? (nextShape + 1) % forms.length : nextShape;
  };
  for (const { id, kind } of slides) {
    if (id === slide.id) break;
    if (drawnKinds.includes(kind)) pick(id);
  }
  pick(slide.id);
  const own = paletteOf(style) ?? (palettes[colours] as Palette);
  return { palette: own, form: forms[shape] as Look['form'] };
};

/** The colours of a takeover: one of the level `info` is in those of the house, if it has any. */
export const takeoverLook = (level: TakeoverLevel, style: HouseStyle | undefined) => {
  const own = level === 'info' ? paletteOf(style) : null;
  return own === null ? takeoverColours[level] : { background: own.ground, color: own.ink };
};

/** A CSS colour that the operator has set; null if it is invalid. */
export const colour = (value: unknown): string | null =>
  typeof value === 'string' && CSS.supports('color', value) ? value : null;

/** Sets the palette on an element, as the custom properties that the style sheets use. */
export const paint = (element: HTMLElement, colours: Palette): void => {
  for (const [name, value] of Object.entries(colours)) element.style.setProperty(`--${name}`, value);
};
