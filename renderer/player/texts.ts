/** What the player itself has to say, in the system's language. Slides speak for themselves. */

interface Texts {
  tag: string;
  noScreen(slug: string): string;
}

const en: Texts = { tag: 'en', noScreen: (slug) => `There is no screen “${slug}” on this player yet.` };
const de: Texts = { tag: 'de', noScreen: (slug) => `Auf diesem Player gibt es noch keinen Bildschirm „${slug}“.` };

/** In the first of the wanted languages (BCP 47) that there is; in English where there is none. */
export const textsFor = (wanted: readonly string[]): Texts => {
  const languages = wanted.map((tag) => tag.toLowerCase().split('-')[0]);
  return languages.map((language) => [en, de].find(({ tag }) => tag === language)).find(Boolean) ?? en;
};
