/** The texts of the onboarding pages. */
import { languages, type Texts as Messages } from 'virtual:texts/onboarding';
import { textsFor } from '../texts/messages.ts';

export type Texts = Messages & { tag: string };

/**
 * Returns the texts in the browser's language, and fills in the page: elements refer to texts by `data-text`.
 * @param wordsOf the part of the texts that they refer to
 */
export const loadTexts = (
  page: Document,
  wanted: readonly string[],
  wordsOf: (texts: Texts) => object = ({ plain }) => plain,
): Texts => {
  const texts = textsFor<Messages>(languages, wanted);
  page.documentElement.lang = texts.tag;
  const words = wordsOf(texts) as Record<string, string>;
  for (const element of page.querySelectorAll<HTMLElement>('[data-text]')) {
    element.textContent = words[element.dataset.text ?? ''] ?? null;
  }
  return texts;
};
