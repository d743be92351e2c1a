import type { SlideFactory } from './slide.ts';
import { createView, mediaUrl } from './view.ts';

/** How long a page may take to load. */
const LOAD_MS = 15_000;

/** Scripts, storage and forms of the page's own, so that dashboards work; no windows, no leaving, no downloads. */
const FOREIGN = 'allow-scripts allow-forms allow-same-origin';
/** A page of this very origin could take the sandbox off again: it runs as if it came from nowhere. */
const OWN = 'allow-scripts allow-forms';

const loaded = (frame: HTMLIFrameElement, signal: AbortSignal): Promise<void> =>
  new Promise((resolve, reject) => {
    frame.addEventListener('load', () => resolve(), { once: true });
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });

/** A web page, looked at and not touched. */
export const createWeb: SlideFactory = ({ slide }) => {
  const view = createView('web');
  view.element.inert = true;
  const frame = document.createElement('iframe');
  frame.tabIndex = -1;
  frame.title = slide.title ?? '';
  frame.referrerPolicy = 'strict-origin';

  return {
    ...view,
    async prepare(signal) {
      const url = new URL(mediaUrl(slide), location.href);
      const patience = AbortSignal.timeout(LOAD_MS);
      const within = AbortSignal.any([signal, patience]);
      try {
        // An iframe says nothing of a page that can't be reached; it shows the browser's own. So ask first.
        const probe = new AbortController();
        await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([within, probe.signal]) });
        probe.abort();
        frame.sandbox.value = url.origin === location.origin ? OWN : FOREIGN;
        frame.src = url.href;
        const done = loaded(frame, within);
        view.element.append(frame);
        await done;
      } catch (error) {
        if (signal.aborted) throw error;
        throw new Error(
          `${url.href} ${patience.aborted ? `did not load within ${LOAD_MS / 1000} s` : "can't be reached"}`,
        );
      }
    },
  };
};
