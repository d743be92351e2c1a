/** What the form says, and where. */
import { isRefusal } from './api.ts';
import { element } from './element.ts';
import type { Texts } from './texts.ts';

export interface Messages {
  /** Says beside a field what is wrong with it; an empty text: nothing is. */
  complain(field: 'screens' | 'name' | 'device', text?: string): void;
  /** Says something about the form as a whole, beside its button. */
  say(text: string): void;
  /** Fills in the last view. */
  conclude(title: string, text: string): void;
  /** Why a call of the API failed, as a sentence. */
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
