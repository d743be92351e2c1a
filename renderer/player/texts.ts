/** What the player itself has to say, in the system's language. Slides speak for themselves. */
import { choose } from '../shared/language.ts';

interface Texts {
  tag: string;
  noScreen(slug: string): string;
}

const en: Texts = { tag: 'en', noScreen: (slug) => `There is no screen “${slug}” on this player yet.` };
const de: Texts = { tag: 'de', noScreen: (slug) => `Auf diesem Player gibt es noch keinen Bildschirm „${slug}“.` };

const languages = new Map([en, de].map((texts) => [texts.tag, texts]));

/** In the best of the wanted languages (BCP 47). */
export const textsFor = (wanted: readonly string[]): Texts =>
  languages.get(choose([...languages.keys()], wanted)) ?? en;
