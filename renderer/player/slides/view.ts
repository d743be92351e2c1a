import type { Slide } from '../../../service/contract/playlist.ts';
import type { SlideView } from './slide.ts';

/**
 * Common to all kinds: an element that fills its layer, with its state in `data-state`.
 * The style sheet pauses every animation unless the state is `playing`.
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

/** The address of a slide's medium. @throws Error with the reason if it has none */
export const mediaUrl = (slide: Slide): string => {
  if (slide.media_url === null) throw new Error('the slide has no media_url');
  return slide.media_url;
};
