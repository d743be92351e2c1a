/** The lock's keypad, for fingers and for a keyboard. */
import type { MaintenanceAnswer } from '../../service/contract/kiosk.ts';
import { element } from '../onboarding/element.ts';
import type { textsFor } from './texts.ts';

type Texts = ReturnType<typeof textsFor>['maintenance'];
type Locked = Extract<MaintenanceAnswer, { state: 'locked' }>;

interface Handlers {
  onEnter(pin: string): void;
  onLeave(): void;
}

export interface Keypad {
  /** Asks for the PIN, or for a new one, twice. */
  ask(locked: Locked): void;
}

const FEWEST = 4;
const MOST = 12;

export const createKeypad = (texts: Texts, { onEnter, onLeave }: Handlers): Keypad => {
  let digits = '';
  let isNew = false;
  /** The new PIN as it was given first; null: not yet. */
  let first: string | null = null;
  let shutUntil = 0;

  const say = (ask: string, note: string): void => {
    element('ask').textContent = ask;
    element('note').textContent = note;
  };

  const draw = (): void => {
    element('dots').textContent = '●'.repeat(digits.length) + '○'.repeat(Math.max(0, FEWEST - digits.length));
  };

  const enter = (): void => {
    const given = digits;
    if (given.length < FEWEST || performance.now() < shutUntil) return;
    digits = '';
    draw();
    if (!isNew) onEnter(given);
    else if (first === null) {
      first = given;
      say(texts.repeatPin, texts.newPinNote);
    } else if (first === given) onEnter(given);
    else {
      first = null;
      say(texts.newPin, texts.different);
    }
  };

  const press = (key: string): void => {
    if (/^\d$/.test(key) && digits.length < MOST) digits += key;
    else if (key === 'Backspace') digits = digits.slice(0, -1);
    else if (key === 'Enter') enter();
    draw();
  };

  const faces: Record<string, string> = { Backspace: '⌫', Enter: '→' };
  const names: Record<string, string> = { Backspace: texts.erase, Enter: texts.enter };
  for (const key of ['1', '2', '3', '4', '5', '6', '7', '8', '9', 'Backspace', '0', 'Enter']) {
    const button = document.createElement('button');
    button.type = 'button';
    button.textContent = faces[key] ?? key;
    button.setAttribute('aria-label', names[key] ?? key);
    button.addEventListener('click', () => press(key));
    element('keys').append(button);
  }
  addEventListener('keydown', (event) => {
    // A key that a button has the focus for is that button's.
    const isButtons = event.key === 'Enter' && document.activeElement instanceof HTMLButtonElement;
    if (!element('lock').hidden && !isButtons) press(event.key);
  });
  element('leave').textContent = texts.leave;
  element('leave').addEventListener('click', onLeave);

  const countDown = (): void => {
    const seconds = Math.ceil((shutUntil - performance.now()) / 1000);
    element('note').textContent = seconds > 0 ? texts.wait(seconds) : '';
    element('lock').classList.toggle('shut', seconds > 0);
    if (seconds > 0) setTimeout(countDown, 250);
  };

  return {
    ask: (locked) => {
      isNew = locked.isNew;
      element('lock').hidden = false;
      draw();
      if (isNew) say(texts.newPin, texts.newPinNote);
      else say(texts.askPin, locked.wasWrong ? texts.wrong : '');
      if (locked.waitMs === 0) return;
      shutUntil = performance.now() + locked.waitMs;
      countDown();
    },
  };
};
