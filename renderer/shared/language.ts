/**
 * The best of the languages that there are, by their BCP 47 primary tags: the first wanted one, region aside; English where
 * none is there.
 */
export const choose = (available: readonly string[], wanted: readonly string[]): string =>
  wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find((language) => available.includes(language)) ?? 'en';
