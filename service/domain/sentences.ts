/** Maximum number of sentences of one kind. */
const MOST = 10;

/** The first ten sentences, and one that counts the rest: `3 more boxes are away.` @param what `boxes are away` */
export const limitSentences = (sentences: readonly string[], what: string): string[] => {
  const rest = sentences.length - MOST;
  return rest <= 0 ? [...sentences] : [...sentences.slice(0, MOST), `${rest} more ${what}.`];
};
