const isTag = (text: string): boolean => {
  try {
    return Intl.getCanonicalLocales(text).length === 1;
  } catch {
    return false;
  }
};

/**
 * Returns the first of the `wanted` tags that is the language `tag` of a region; else `tag`. What is no tag is skipped:
 * Chromium reports `en-US@posix` under `LANG=C`, which `Intl` rejects.
 */
export const inRegion = (tag: string, wanted: readonly string[]): string =>
  wanted.find((each) => each.startsWith(`${tag}-`) && isTag(each)) ?? tag;

/** The browser's language as a tag that `Intl` takes. @param language of `navigator` */
export const localeOf = ({ language }: Pick<Navigator, 'language'>): string => {
  const [tag = ''] = language.split('@');
  return isTag(tag) ? tag : 'en';
};

const primary = (tag: string): string => tag.toLowerCase().split('-')[0] ?? '';

/** Returns the first of the `wanted` languages that is available (BCP 47), in its region if possible; else English. */
export const choose = (available: readonly string[], wanted: readonly string[]): string =>
  wanted
    .map(
      (tag) =>
        available.find((each) => each.toLowerCase() === tag.toLowerCase()) ??
        available.find((each) => primary(each) === primary(tag)),
    )
    .find((tag) => tag !== undefined) ?? 'en';
