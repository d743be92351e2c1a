/** Announces results: shown for a while at the bottom of the page, and to assistive technology. */
import { type ReadonlySignal, signal } from '@preact/signals';

interface Notice {
  id: number;
  text: string;
  /** `spoken`: for assistive technology alone, as the page shows it already. */
  kind: 'success' | 'failure' | 'spoken';
}

export interface Announcer {
  readonly notices: ReadonlySignal<readonly Notice[]>;
  /** Replaces the previous announcement. */
  say(text: string): void;
  /** Announces to assistive technology only: the page shows it already. */
  speak(text: string): void;
  /** Stays until it is put away. */
  complain(text: string): void;
  dismiss(id: number): void;
}

const SHOWN_MS = 6_000;
const MOST = 4;

export const createAnnouncer = (): Announcer => {
  const notices = signal<readonly Notice[]>([]);
  let last = 0;
  const dismiss = (id: number): void => {
    notices.value = notices.value.filter((notice) => notice.id !== id);
  };
  const add = (text: string, kind: Notice['kind']): number => {
    last += 1;
    const others = notices.value.filter((notice) => notice.kind === 'failure' && notice.text !== text);
    notices.value = [...others, { id: last, text, kind }].slice(-MOST);
    return last;
  };
  const addForAWhile = (text: string, kind: Notice['kind']): void => {
    const id = add(text, kind);
    setTimeout(() => dismiss(id), SHOWN_MS);
  };
  return {
    notices,
    say: (text) => addForAWhile(text, 'success'),
    speak: (text) => addForAWhile(text, 'spoken'),
    complain: (text) => void add(text, 'failure'),
    dismiss,
  };
};
