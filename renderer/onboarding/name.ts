/** The name that a player is given until somebody gives it another. */

/** What a reader takes for one character: an emoji of many code points is whole or not there. */
const characters = (text: string): string[] =>
  typeof Intl.Segmenter === 'function'
    ? Array.from(new Intl.Segmenter().segment(text), ({ segment }) => segment)
    : Array.from(text);

/** The beginning of a text, `most` UTF-16 code units at most; a word is divided only where it is most of what there is. */
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

/** The name of the screen, numbered where another player has that name: "Lobby", "Lobby 2". */
export const suggestName = (screenName: string, taken: ReadonlySet<string | null>, most: number): string => {
  for (let number = 1; ; number += 1) {
    const suffix = number === 1 ? '' : ` ${number}`;
    const name = shorten(screenName, most - suffix.length) + suffix;
    if (!taken.has(name)) return name;
  }
};
