/** The messages of the form. */
import { isRefusal } from './api.ts';
import { element } from './element.ts';
import type { Texts } from './texts.ts';

interface Messages {
  /** Shows an error beside a field; an empty text removes it. */
  complain(field: 'screens' | 'name' | 'device' | 'claim', text?: string): void;
  /** Shows a message about the whole form beside its button. */
  say(text: string): void;
  /** Fills in the last view. */
  conclude(title: string, text: string): void;
  /** The reason why a request failed, as a sentence. */
  reason(error: unknown): string;
}

export const createMessages = (texts: Texts): Messages => ({
  complain: (field, text = '') => {
    element(`${field}-error`).textContent = text;
    if (text === '') element(field).removeAttribute('aria-invalid');
    else element(field).setAttribute('aria-invalid', 'true');
  },
  say: (text) => {
    element('form-error').textContent = text;
  },
  conclude: (title, text) => {
    element('done-title').textContent = title;
    element('done').textContent = text;
  },
  reason: (error) => {
    if (!isRefusal(error)) return navigator.onLine ? texts.unreachable : texts.offline;
    if (error.code === 'insufficient_storage') return texts.diskFull;
    if (error.code === 'too_many_requests') return texts.tooMany;
    return texts.fault;
  },
});
