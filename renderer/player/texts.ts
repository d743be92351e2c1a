/** The player's own texts, in the language of the system. */
import { choose } from '../shared/language.ts';
import type { Note } from './idle.ts';

interface Texts {
  tag: string;
  /** For a screen that does not exist yet, and for one that was removed. */
  noScreen(slug: string): Omit<Note, 'language'>;
  screenGone(name: string): Omit<Note, 'language'>;
}

const en: Texts = {
  tag: 'en',
  noScreen: (slug) => ({
    title: `There is no screen “${slug}” on this player yet.`,
    task: 'It plays here as soon as it is in content.json.',
  }),
  screenGone: (name) => ({
    title: `The screen “${name}” was removed.`,
    task: 'It plays here again as soon as it is back in content.json.',
  }),
};
const de: Texts = {
  tag: 'de',
  noScreen: (slug) => ({
    title: `Auf diesem Player gibt es noch keinen Bildschirm „${slug}“.`,
    task: 'Er läuft hier, sobald er in content.json steht.',
  }),
  screenGone: (name) => ({
    title: `Der Bildschirm „${name}“ wurde entfernt.`,
    task: 'Er läuft hier wieder, sobald er zurück in content.json ist.',
  }),
};

const languages = new Map([en, de].map((texts) => [texts.tag, texts]));

/** The texts in the first available of the `wanted` languages (BCP 47), else in English. */
export const textsFor = (wanted: readonly string[]): Texts =>
  languages.get(choose([...languages.keys()], wanted)) ?? en;
