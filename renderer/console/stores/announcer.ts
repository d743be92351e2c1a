/** Says how something went: seen for a while at the foot of the page, and spoken to assistive technology. */
import { type ReadonlySignal, signal } from '@preact/signals';

interface Notice {
  id: number;
  text: string;
  isFailure: boolean;
}

export interface Announcer {
  readonly notices: ReadonlySignal<readonly Notice[]>;
  say(text: string): void;
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
  const add = (text: string, isFailure: boolean): number => {
    last += 1;
    notices.value = [...notices.value.filter((notice) => notice.text !== text), { id: last, text, isFailure }].slice(
      -MOST,
    );
    return last;
  };
  return {
    notices,
    say: (text) => {
      const id = add(text, false);
      setTimeout(() => dismiss(id), SHOWN_MS);
    },
    complain: (text) => void add(text, true),
    dismiss,
  };
};
