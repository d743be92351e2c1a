/** Shows which box and which display this page is, as the service asks. */
import type { Identify } from '../../service/contract/socket.ts';
import { createIdentifyPanel } from '../shared/identify.ts';

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
