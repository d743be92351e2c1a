/** Finds characters that no installed font has; browsers show boxes for them. */
import type { SlideFactory } from './slide.ts';

/** All of the player's fonts have the characters before this one. */
const FIRST_FOREIGN = 0x0250;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** A noncharacter, which no font has. */
const NONE = '\u{10FFFF}';
const SIZE = 24;
/** Limits per slide: characters that are checked, and characters that are reported. */
const MOST_LOOKED_UP = 400;
const MOST_REPORTED = 20;
const MOST_KNOWN = 20_000;

type FindMissing = (text: string) => string;

/** Draws each character once, and compares it with the picture of a character that does not exist. */
const createFindMissing = (): FindMissing => {
  const context = Object.assign(document.createElement('canvas'), { width: SIZE, height: SIZE }).getContext('2d', {
    willReadFrequently: true,
  });
  const known = new Map<string, boolean>();

  const draw = (character: string): string => {
    if (context === null) return '';
    context.clearRect(0, 0, SIZE, SIZE);
    context.fillText(character, 2, SIZE - 6);
    return String(context.getImageData(0, 0, SIZE, SIZE).data);
  };

  return (text) => {
    const foreign = [...new Set(text)].filter(
      (each) => (each.codePointAt(0) ?? 0) >= FIRST_FOREIGN && VISIBLE.test(each),
    );
    if (foreign.length === 0 || context === null) return '';
    if (known.size > MOST_KNOWN) known.clear();
    context.font = `${SIZE - 8}px ${getComputedStyle(document.documentElement).getPropertyValue('--sans')}`;
    const none = draw(NONE);
    for (const each of foreign.filter((candidate) => !known.has(candidate)).slice(0, MOST_LOOKED_UP)) {
      known.set(each, draw(each) === none);
    }
    return foreign
      .filter((each) => known.get(each))
      .slice(0, MOST_REPORTED)
      .join('');
  };
};

/** Wraps slides so that they report characters without a glyph, and report an empty set once all are gone. */
export const watchGlyphs = (
  create: SlideFactory,
  report: (slideId: string, characters: string) => void,
  findMissing: FindMissing = createFindMissing(),
): SlideFactory => {
  const lacking = new Set<string>();
  return (context) => {
    const view = create(context);
    const { id } = context.slide;
    const prepareView = view.prepare.bind(view);
    // The object itself is changed: a copy would miss fields that are set while it is prepared, such as its length.
    return Object.assign(view, {
      prepare: async (signal: AbortSignal) => {
        await prepareView(signal);
        const { element } = view;
        const characters = findMissing(element.textContent + (element.shadowRoot?.textContent ?? ''));
        if (characters !== '') lacking.add(id);
        else if (!lacking.delete(id)) return;
        report(id, characters);
      },
    });
  };
};
