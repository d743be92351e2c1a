/** Wording of messages. */
import { closestMatch } from 'leven';

/** Longer words are not typing errors. */
const MAX_WORD = 64;

/** The known word closest to a misspelled one; undefined: no similar word. */
export const nearestOf = (word: string, known: readonly string[]): string | undefined =>
  word.length > MAX_WORD ? undefined : closestMatch(word, known, { maxDistance: Math.ceil(word.length / 3) });

/** The suggestion as a clause, `; did you mean "muted"?`, or an empty string. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const nearest = nearestOf(word, known);
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
};

/** Maximum number of sentences of one kind. */
const MOST = 10;

/** The first ten sentences, and one that counts the rest: `3 more boxes are away.` @param what `boxes are away` */
export const limitSentences = (sentences: readonly string[], what: string): string[] => {
  const rest = sentences.length - MOST;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MOST), `${rest} more ${what}.`];
};
