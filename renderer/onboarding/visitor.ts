/** Whoever sits before a screen that is an ordinary browser: there may be no other phone to scan its code with. */

import { element } from './element.ts';

/** A pointer that rests this long has been left there, and stands in the picture. */
const REST_MS = 4_000;

/** Shows the pointer for as long as somebody moves it. */
const followPointer = (page: HTMLElement): void => {
  let resting: ReturnType<typeof setTimeout> | undefined;
  addEventListener('pointermove', ({ pointerType, movementX, movementY }) => {
    // What moves under a pointer that rests is told as a move, too.
    if (pointerType !== 'mouse' || (movementX === 0 && movementY === 0)) return;
    page.classList.add('pointing');
    clearTimeout(resting);
    resting = setTimeout(() => page.classList.remove('pointing'), REST_MS);
  });
};

/** Acts each time that nobody has touched the page for so long. */
export const whenAlone = (ms: number, act: () => void): void => {
  let timer = setInterval(act, ms);
  for (const sign of ['pointerdown', 'keydown']) {
    addEventListener(sign, () => {
      clearInterval(timer);
      timer = setInterval(act, ms);
    });
  }
};

/** Lets the page be used by hand. It leads to the form by the name that the browser itself came by. */
export const receive = (page: HTMLElement, deviceId: string): void => {
  const link = document.createElement('a');
  link.href = `/onboard?deviceId=${deviceId}#here`;
  link.append(...element('form-address').childNodes);
  element('form-address').append(link);
  element('begin').addEventListener('click', () => link.click());
  page.classList.add('attended');
  followPointer(page);
};
