import { closestMatch } from 'leven';

/** Longer words are no slip of the pen. */
const LONGEST_WORD = 64;

/** The known word nearest to a misspelt one; undefined where none is near. */
export const nearestOf = (word: string, known: readonly string[]): string | undefined =>
  word.length > LONGEST_WORD ? undefined : closestMatch(word, known, { maxDistance: Math.ceil(word.length / 3) });

/** The same as a clause, `; did you mean "muted"?`, or else nothing. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  const nearest = nearestOf(word, known);
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
};
