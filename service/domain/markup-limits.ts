/** Limits on the text and markup of one slide. Layout of more would block the page. */

export interface Richness {
  /** Without tags, styles and scripts. */
  characters: number;
  elements: number;
}

/** For a text slide's title and body together. */
export const textLimit: Richness = { characters: 8_000, elements: 400 };
export const templateLimit: Richness = { characters: 40_000, elements: 2_000 };

const STYLE_OR_SCRIPT = /<(style|script)\b[\s\S]*?(?:<\/\1|$)/gi;
const TAG_NAME = /<(\/?)([a-z][a-z0-9]*)/iy;
/** Formatting elements: parsers reopen unclosed ones in each following block (HTML, 13.2.4.3). */
const FORMATTING = /^(?:a|b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)$/i;
/** Formatting elements that usual markup has open at once; each further one counts as often as it may be reopened. */
const USUALLY_OPEN = 3;

/** Counts characters and elements of markup. A parser may add a few elements, such as parts of tables. */
export const richness = (markup: string): Richness => {
  const text = markup.replace(STYLE_OR_SCRIPT, '<$1');
  let characters = 0;
  let elements = 0;
  let at = 0;
  let formatting = 0;
  for (;;) {
    const open = text.indexOf('<', at);
    const close = open === -1 ? -1 : text.indexOf('>', open);
    if (close === -1) break;
    characters += open - at;
    TAG_NAME.lastIndex = open;
    const [, slash = '', name = ''] = TAG_NAME.exec(text) ?? [];
    if (name !== '' && slash === '') elements += 1;
    elements += Math.max(0, formatting - USUALLY_OPEN);
    if (FORMATTING.test(name)) formatting = Math.max(0, formatting + (slash === '' ? 1 : -1));
    at = close + 1;
  }
  return { characters: characters + text.length - at, elements };
};

/** What exceeds the limit, as a clause about the slide; null: nothing. */
export const excess = (found: Richness, limit: Richness): string | null => {
  const kind = (['elements', 'characters'] as const).find((each) => found[each] > limit[each]);
  return kind === undefined ? null : `it has ${found[kind]} ${kind}, and more than ${limit[kind]} cannot be laid out`;
};
