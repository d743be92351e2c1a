import { createFrame, hushFrame, reach } from '../foreign.ts';
import type { SlideFactory } from './slide.ts';
import { createView, mediaUrl } from './view.ts';

/** How long a page may take to load. */
const LOAD_MS = 15_000;

const loaded = (frame: HTMLIFrameElement, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    frame.addEventListener('load', () => resolve(), { once: true });
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** A web page. */
export const createWeb: SlideFactory = ({ slide, credentials }) => {
  const view = createView('web');
  const url = mediaUrl(slide);
  const frame = createFrame(url);
  frame.title = slide.title ?? '';

  return {
    ...view,
    async prepare(signal) {
      const patience = AbortSignal.timeout(LOAD_MS);
      const within = AbortSignal.any([signal, patience]);
      try {
        await reach(url, credentials(), within);
        frame.src = url;
        const done = loaded(frame, within);
        view.element.append(frame);
        await done;
      } catch (error) {
        throw patience.aborted ? new Error(`${url} did not load within ${LOAD_MS / 1000} s`) : error;
      }
    },
    hush: (silent) => hushFrame(frame, url, silent),
  };
};
