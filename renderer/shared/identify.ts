/** The panel that says which box and which display this is. It has no words, and so no language. */
import type { Identify } from '../../service/contract/socket.ts';
import { make } from './elements.ts';

export interface DisplayLabel {
  name: string;
  /** Its base URL for other machines; null: they cannot reach it. */
  address: string | null;
  /** Of the display among those of the box. */
  number: number;
}

export const createIdentifyPanel = ({ name, address, number }: DisplayLabel): HTMLElement =>
  make(
    'div',
    'identify',
    make('p', 'identify-number', String(number)),
    make('p', 'identify-name', name),
    make('p', 'identify-address', (address ?? '').replace(/^https?:\/\//, '')),
  );

/**
 * Returns a function that shows the panel over everything, and a later one in its place.
 * @param onPainted called once the panel has been painted
 */
export const createIdentify = (onPainted: () => void): ((message: Identify) => void) => {
  let panel: HTMLElement | null = null;
  let timer: ReturnType<typeof setTimeout> | undefined;
  return (message) => {
    panel?.remove();
    clearTimeout(timer);
    const shown = createIdentifyPanel(message);
    panel = shown;
    document.body.append(shown);
    timer = setTimeout(() => shown.remove(), message.seconds * 1000);
    // The second frame begins after the first one was painted.
    requestAnimationFrame(() => requestAnimationFrame(onPainted));
  };
};
