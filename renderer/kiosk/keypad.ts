/** The PIN pad, for touch and keyboard. */
import type { Texts } from 'virtual:texts/kiosk';
import type { MaintenanceAnswer } from '../../service/contract/kiosk.ts';
import { element } from '../shared/elements.ts';

type Locked = Extract<MaintenanceAnswer, { state: 'locked' }>;

interface Handlers {
  onEnter(pin: string): void;
  onSecret(secret: string): void;
  onLeave(): void;
}

const MIN_DIGITS = 4;
const MAX_DIGITS = 12;

export const createKeypad = (texts: Texts['maintenance'], { onEnter, onSecret, onLeave }: Handlers) => {
  let digits = '';
  let isNew = false;
  /** The first entry of a new PIN; null: none yet. */
  let first: string | null = null;
  let lockedUntil = 0;

  const setTexts = (ask: string, note: string): void => {
    element('ask').textContent = ask;
    element('note').textContent = note;
  };

  const renderDots = (): void => {
    element('dots').textContent = '●'.repeat(digits.length) + '○'.repeat(Math.max(0, MIN_DIGITS - digits.length));
  };

  const enter = (): void => {
    const given = digits;
    if (given.length < MIN_DIGITS || performance.now() < lockedUntil) return;
    digits = '';
    renderDots();
    if (!isNew) onEnter(given);
    else if (first === null) {
      first = given;
      setTexts(texts.repeatPin, texts.newPinNote);
    } else if (first === given) onEnter(given);
    else {
      first = null;
      setTexts(texts.newPin, texts.different);
    }
  };

  const press = (key: string): void => {
    if (/^\d$/.test(key) && digits.length < MAX_DIGITS) digits += key;
    else if (key === 'Backspace') digits = digits.slice(0, -1);
    else if (key === 'Enter') enter();
    renderDots();
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
    // Enter belongs to the focused button.
    const isForButton = event.key === 'Enter' && document.activeElement instanceof HTMLButtonElement;
    if (!element('lock').hidden && !element('keys').hidden && !isForButton) press(event.key);
  });
  const secret = element<HTMLInputElement>('secret');
  secret.setAttribute('aria-label', texts.secret);
  element('secret-form').addEventListener('submit', (event) => {
    event.preventDefault();
    if (secret.value !== '' && performance.now() >= lockedUntil) onSecret(secret.value);
    secret.value = '';
  });
  element('leave').textContent = texts.leave;
  element('leave').addEventListener('click', onLeave);

  const countDown = (): void => {
    const seconds = Math.ceil((lockedUntil - performance.now()) / 1000);
    element('note').textContent = seconds > 0 ? texts.wait({ seconds }) : '';
    element('lock').classList.toggle('locked', seconds > 0);
    if (seconds > 0) setTimeout(countDown, 250);
  };

  return {
    /** Asks for the PIN, twice for a new one, or for the site's secret. */
    ask: (locked: Locked): void => {
      isNew = locked.ask === 'new pin';
      const isPin = isNew || locked.ask === 'pin';
      element('keys').hidden = !isPin;
      element('secret-form').hidden = locked.ask !== 'secret';
      element('lock').hidden = false;
      if (isPin) renderDots();
      if (locked.ask === 'secret') {
        setTexts(texts.secret, locked.wasWrong ? texts.wrongSecret : texts.secretNote);
        secret.focus();
      } else if (locked.ask === 'settings') setTexts(texts.tooLate, texts.tooLateNote);
      else if (isNew) setTexts(texts.newPin, texts.newPinNote);
      else setTexts(texts.askPin, locked.wasWrong ? texts.wrong : '');
      if (locked.waitMs === 0) return;
      lockedUntil = performance.now() + locked.waitMs;
      countDown();
    },
  };
};
