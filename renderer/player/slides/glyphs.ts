/** Finds characters that no font of this machine has: they are shown as boxes. */
import type { SlideFactory } from './slide.ts';

/** Every font of the player has the characters before this one. */
const FIRST_FOREIGN = 0x0250;
const VISIBLE = /[\p{L}\p{N}\p{P}\p{S}]/u;
/** A noncharacter, which no font has. */
const NONE = '\u{10FFFF}';
const SIZE = 24;
/** Characters that are looked up for one slide, and that are reported of it. */
const MOST_LOOKED_UP = 400;
const MOST_REPORTED = 20;
const MOST_KNOWN = 20_000;

export type FindMissing = (text: string) => string;

/** Draws each character once, and compares it with what is drawn for a character that does not exist. */
export const createFindMissing = (): FindMissing => {
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

/** Slides that report what they can't show of their text: whenever it is something, and once more when it is nothing. */
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
    // The same object: in a copy, what is known only once it is prepared, such as its length, would stay unknown.
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
