/** Makes the landing page usable in a browser, whose user may have no phone to scan the code with. */
import { element } from '../shared/elements.ts';

/** The pointer is hidden after this time without movement. */
const REST_MS = 4_000;

/** Shows the pointer while it moves. */
const followPointer = (page: HTMLElement): void => {
  let resting: ReturnType<typeof setTimeout> | undefined;
  addEventListener('pointermove', ({ pointerType, movementX, movementY }) => {
    // Elements that move under a resting pointer cause events too.
    if (pointerType !== 'mouse' || (movementX === 0 && movementY === 0)) return;
    page.classList.add('pointing');
    clearTimeout(resting);
    resting = setTimeout(() => page.classList.remove('pointing'), REST_MS);
  });
};

/** Calls `act` after each interval without input. */
export const whenAlone = (ms: number, act: () => void): void => {
  let timer = setInterval(act, ms);
  for (const sign of ['pointerdown', 'keydown']) {
    addEventListener(sign, () => {
      clearInterval(timer);
      timer = setInterval(act, ms);
    });
  }
};

let formLink: HTMLAnchorElement | null = null;

/** Sets the address of the link to the form, if there is one. */
export const setFormLink = (deviceId: string, claim: string | null): void => {
  if (formLink !== null) formLink.href = `/onboard?deviceId=${deviceId}${claim === null ? '' : `&claim=${claim}`}#here`;
};

/** Adds a link to the form, on the origin that the browser uses. */
export const receive = (page: HTMLElement, deviceId: string): void => {
  const link = document.createElement('a');
  formLink = link;
  setFormLink(deviceId, null);
  link.append(...element('form-address').childNodes);
  element('form-address').append(link);
  element('begin').addEventListener('click', () => link.click());
  page.classList.add('attended');
  followPointer(page);
};
