/** Announces results: shown for a while at the bottom of the page, and to assistive technology. */
import { type ReadonlySignal, signal } from '@preact/signals';
import { reasonOf } from '../api/errors.ts';
import type { ConsoleTexts } from '../texts/box.ts';

interface Notice {
  id: number;
  text: string;
  /** `spoken`: only for assistive technology, as the page shows it already. */
  kind: 'success' | 'failure' | 'spoken';
  /** A button beside the text; null: none. */
  action: NoticeAction | null;
}

export interface NoticeAction {
  label: string;
  act(): void;
}

export type Announcer = ReturnType<typeof createAnnouncer>;

const SHOWN_MS = 6_000;
/** Long enough to find and press its button. */
const SHOWN_WITH_ACTION_MS = 20_000;
const MOST = 4;

export const createAnnouncer = (texts: Pick<ConsoleTexts, 'errors' | 'ofBox'>) => {
  const notices = signal<readonly Notice[]>([]);
  const dialogs = signal<readonly string[]>([]);
  let last = 0;
  const dismiss = (id: number): void => {
    notices.value = notices.value.filter((notice) => notice.id !== id);
  };
  const add = (text: string, kind: Notice['kind'], action: NoticeAction | null = null): number => {
    last += 1;
    // What is spoken alone covers nothing that can be pressed.
    const others = notices.value.filter((notice) =>
      notice.kind === 'failure' ? notice.text !== text : kind === 'spoken' && notice.action !== null,
    );
    notices.value = [...others, { id: last, text, kind, action }].slice(-MOST);
    return last;
  };
  const addForAWhile = (text: string, kind: Notice['kind'], action: NoticeAction | null = null): void => {
    const id = add(text, kind, action);
    setTimeout(() => dismiss(id), action === null ? SHOWN_MS : SHOWN_WITH_ACTION_MS);
  };
  /** Stays until it is put away. */
  const complain = (text: string): void => void add(text, 'failure');
  return {
    notices: notices as ReadonlySignal<readonly Notice[]>,
    /** The ids of open dialogs, the topmost last: what is behind it is not announced, so that it has the notices. */
    dialogs,
    /** Replaces the previous announcement. @param action such as undoing what is announced */
    say: (text: string, action?: NoticeAction): void => addForAWhile(text, 'success', action),
    /** Announces to assistive technology only: the page shows it already. */
    speak: (text: string): void => addForAWhile(text, 'spoken'),
    complain,
    /** Complains of why a request had no answer that could be used. */
    report: (error: unknown): void => complain(reasonOf(error, texts)),
    dismiss,
  };
};
