/**
 * The first wanted language that is available, by BCP 47 primary tag and regardless of region; else English.
 */
export const choose = (available: readonly string[], wanted: readonly string[]): string =>
  wanted.map((tag) => tag.toLowerCase().split('-')[0] ?? '').find((language) => available.includes(language)) ?? 'en';
