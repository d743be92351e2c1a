/**
 * Soft hyphens in the long words of German texts, whose compounds can be wider than a line. Desktop browsers and Electron
 * lack the dictionaries that `hyphens: auto` needs.
 */
const longWords = /\p{L}{14,}/gu;

const isGerman = (): boolean => /^de\b/i.test(navigator.language);

/** Inserts soft hyphens into the long words of an element; resolves to whether it inserted any (German displays only). */
export const hyphenate = async (root: HTMLElement): Promise<boolean> => {
  // The patterns are large, and few texts need them.
  if (!isGerman() || root.textContent.search(longWords) < 0) return false;
  const patterns = await import('hyphen/de-1996').catch(() => null);
  // A text without hyphens is better than none.
  if (patterns === null) return false;
  const walker = document.createTreeWalker(root, NodeFilter.SHOW_TEXT);
  for (let node = walker.nextNode(); node !== null; node = walker.nextNode()) {
    node.nodeValue = (node.nodeValue ?? '').replace(longWords, (word) => patterns.hyphenateSync(word));
  }
  return true;
};
