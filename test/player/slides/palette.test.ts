import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { forms, lookOf, palettes } from '../../../renderer/player/slides/palette.ts';

/** Relative luminance and contrast, as WCAG 2.2 defines them. */
const luminance = (hex: string): number => {
  const [red = 0, green = 0, blue = 0] = [1, 3, 5]
    .map((at) => Number.parseInt(hex.slice(at, at + 2), 16) / 255)
    .map((part) => (part <= 0.04045 ? part / 12.92 : ((part + 0.055) / 1.055) ** 2.4));
  return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
};
const contrast = (a: string, b: string): number => {
  const [dark = 0, light = 0] = [luminance(a), luminance(b)].sort((x, y) => x - y);
  return (light + 0.05) / (dark + 0.05);
};

describe('every palette', () => {
  it.each(palettes.map((palette) => [palette.ground, palette] as const))('%s can be read', (_, palette) => {
    expect(contrast(palette.ink, palette.ground)).toBeGreaterThanOrEqual(5);
    expect(contrast(palette.ink, palette.form)).toBeGreaterThanOrEqual(5);
    expect(contrast(palette.accent, palette.ground)).toBeGreaterThanOrEqual(4.5);
    expect(contrast(palette.accent, palette.form)).toBeGreaterThanOrEqual(4);
  });
});

const playlists = fc
  .uniqueArray(fc.string({ minLength: 1 }), { minLength: 2, maxLength: 40 })
  .map((ids) => ids.map((id) => ({ id, kind: 'text' as const })));

describe('the look of a slide', () => {
  it('is never that of the slide before it', () => {
    fc.assert(
      fc.property(playlists, (slides) => {
        const looks = slides.map((slide) => lookOf(slide, slides));
        looks.slice(1).forEach((look, index) => {
          expect(look.palette).not.toBe(looks[index]?.palette);
          expect(look.form).not.toBe(looks[index]?.form);
        });
      }),
    );
  });

  it('hangs on the ids alone, and not on slides that come after it', () => {
    fc.assert(
      fc.property(playlists, (slides) => {
        const [first] = slides;
        if (first !== undefined) expect(lookOf(first, slides)).toEqual(lookOf(first, [first]));
      }),
    );
  });

  it('makes use of all palettes and forms', () => {
    const slides = Array.from({ length: 400 }, (_, index) => ({ id: `main-${index}`, kind: 'text' as const }));
    const looks = slides.map((slide) => lookOf(slide, slides));
    expect(new Set(looks.map(({ palette }) => palette)).size).toBe(palettes.length);
    expect(new Set(looks.map(({ form }) => form)).size).toBe(forms.length);
  });
});
