/** Suggests the name of a player. */

/** Splits a text into graphemes, so that emoji are not cut. */
const characters = (text: string): string[] =>
  typeof Intl.Segmenter === 'function'
    ? Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
    : Array.from(text);

/** Shortens a text to `most` UTF-16 code units; a word is cut only if it is most of the text. */
const shorten = (text: string, most: number): string => {
  if (text.length <= most) return text;
  let kept = '';
  for (const character of characters(text)) {
    if (kept.length + character.length > most) break;
    kept += character;
  }
  const words = text.charAt(kept.length).trim() === '' ? kept.length : kept.search(/\s\S*$/);
  return (words > most / 2 ? kept.slice(0, words) : kept).trimEnd();
};

/** The name of the screen, with a number if another player has that name: "Lobby", "Lobby 2". */
export const suggestName = (screenName: string, taken: ReadonlySet<string | null>, most: number): string => {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` ${number}`;
    const name = shorten(screenName, most - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
};
