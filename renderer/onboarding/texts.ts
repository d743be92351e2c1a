/** The texts of the onboarding pages. */
import { languages, type Texts as Messages } from 'virtual:texts/onboarding';
import { textsFor } from '../texts/messages.ts';

export type Texts = Messages & { tag: string };

/** Returns the texts in the browser's language, and fills in the page: elements refer to texts by `data-text`. */
export const loadTexts = (page: Document, wanted: readonly string[]): Texts => {
  const texts = textsFor<Messages>(languages, wanted);
  page.documentElement.lang = texts.tag;
  for (const element of page.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = texts.plain[element.dataset.text as keyof Texts['plain']];
  }
  return texts;
};
