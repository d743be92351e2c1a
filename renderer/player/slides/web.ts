import { type ForeignPage, openForeign } from '../foreign.ts';
import type { SlideFactory } from './slide.ts';
import { createView, mediaUrl } from './view.ts';

/** A web page. */
export const createWeb: SlideFactory = ({ slide, credentials }) => {
  const view = createView('web');
  const url = mediaUrl(slide);
  let page: ForeignPage | null = null;

  return {
    ...view,
    async prepare(signal) {
      page = await openForeign(url, { parent: view.element, headers: credentials(), isSilent: false }, signal);
    },
    start() {
      view.start();
      page?.show();
    },
    hush: (silent) => page?.hush(silent),
    destroy() {
      page?.close();
      view.destroy();
    },
  };
};
