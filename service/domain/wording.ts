import { closestMatch } from 'leven';

/** Longer words are not typing errors. */
const MAX_WORD = 64;

/** The known word closest to a misspelled one; undefined: no similar word. */
export const nearestOf = (word: string, known: readonly string[]): string | undefined =>
  word.length > MAX_WORD ? undefined : closestMatch(word, known, { maxDistance: Math.ceil(word.length / 3) });

/** Known words that begin with the misspelled one, at most, and its letters, at least. */
const MAX_PREFIXED = 3;
const MIN_PREFIX = 3;

/**
 * The suggestion as a clause, `; did you mean "muted"?`, or an empty string.
 * @param alias the known word for what others call `word`
 */
export const didYouMean = (word: string, known: readonly string[], alias?: string): string => {
  const start = word.length < MIN_PREFIX ? `${word}_` : word;
  const prefixed = known.filter((each) => each.startsWith(start)).slice(0, MAX_PREFIXED);
  const meant = new Set([alias, ...prefixed, nearestOf(word, known)].filter((each) => known.includes(each ?? '')));
  return meant.size === 0 ? '' : `; did you mean ${[...meant].map((each) => JSON.stringify(each)).join(' or ')}?`;
};

/** Maximum number of sentences of one kind. */
const MOST = 10;

/** The first ten sentences, and one that counts the rest: `3 more boxes are away.` @param what `boxes are away` */
export const limitSentences = (sentences: readonly string[], what: string): string[] => {
  const rest = sentences.length - MOST;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MOST), `${rest} more ${what}.`];
};
