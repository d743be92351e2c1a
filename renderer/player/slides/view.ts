import type { Slide } from '../../../service/contract/playlist.ts';
import type { SlideView } from './slide.ts';

/**
 * What the kinds have in common: an element that fills its layer and, in `data-state`, says whether it is on.
 * The style sheet holds every animation still until that is `playing`.
 */
export const createView = (kind: Slide['kind']): Omit<SlideView, 'prepare'> => {
  const element = document.createElement('section');
  element.className = `slide slide-${kind}`;
  const become = (state: 'playing' | 'paused') => () => {
    element.dataset['state'] = state;
  };
  return {
    element,
    length: null,
    start: become('playing'),
    pause: become('paused'),
    resume: become('playing'),
    flipPage: () => false,
    destroy: () => element.replaceChildren(),
  };
};

/** The address of a slide's medium, or the reason why there is none. */
export const mediaUrl = (slide: Slide): string => {
  if (slide.media_url === null) throw new Error('the slide has no media_url');
  return slide.media_url;
};
