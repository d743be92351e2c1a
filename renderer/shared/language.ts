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
