import { createFrame, hushFrame, type Overlay, openOverlay, reach } from '../foreign.ts';
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
  let overlay: Overlay | null = null;
  let isSilent = false;

  return {
    ...view,
    async prepare(signal) {
      const patience = AbortSignal.timeout(LOAD_MS);
      const within = AbortSignal.any([signal, patience]);
      try {
        if ((await reach(url, credentials(), within)) === 'view') {
          overlay = await openOverlay(url, within);
          return;
        }
        frame.src = url;
        const done = loaded(frame, within);
        view.element.append(frame);
        await done;
      } catch (error) {
        throw patience.aborted ? new Error(`${url} did not load within ${LOAD_MS / 1000} s`) : error;
      }
    },
    start() {
      view.start();
      if (!isSilent) overlay?.show();
    },
    hush(silent) {
      isSilent = silent;
      if (overlay === null) hushFrame(frame, url, silent);
      else if (silent) overlay.hide();
      else overlay.show();
    },
    destroy() {
      overlay?.close();
      view.destroy();
    },
  };
};
