import { type Age, agedFrom } from '../../../service/domain/age.ts';
import { type ExternalPage, openExternal } from '../external.ts';
import { createView, mediaUrl, type SlideFactory } from './slide.ts';

/** A web page. */
export const createWeb: SlideFactory = ({ slide, credentials, now, fail }) => {
  const view = createView('web');
  const url = mediaUrl(slide);
  const parent = document.createElement('div');
  parent.className = 'page';
  view.element.append(parent);
  let page: ExternalPage | null = null;
  let age: Age | null = null;
  /** The reason if the page was lost before it was shown. */
  let lost: string | null = null;
  let shown: Promise<void> | undefined;

  return {
    ...view,
    async prepare(signal) {
      const onGone = (reason: string): void => {
        lost = reason;
        fail(reason);
      };
      const opening = { parent, headers: credentials(), isSilent: false, isEarly: true, onGone };
      page = await openExternal(url, opening, signal);
      age = agedFrom(now(), slide);
    },
    age: () => age,
    start() {
      view.start();
      shown = page?.show();
      if (lost !== null) fail(lost);
    },
    presented: async () => shown,
    mute: (silent) => page?.mute(silent),
    destroy() {
      page?.close();
      view.destroy();
    },
  };
};
