import { closestMatch } from 'leven';

/** Longer words are no slip of the pen. */
const LONGEST_WORD = 64;

/** A clause that names the known word nearest to a misspelt one: `; did you mean "muted"?`. Empty where none is near. */
export const didYouMean = (word: string, known: readonly string[]): string => {
  if (word.length > LONGEST_WORD) return '';
  const nearest = closestMatch(word, known, { maxDistance: Math.ceil(word.length / 3) });
  return nearest === undefined ? '' : `; did you mean ${JSON.stringify(nearest)}?`;
};
