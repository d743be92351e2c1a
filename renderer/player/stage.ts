/** Two layers and the swap: the next slide is made ready under the one that is on, and then takes its place. */
import type { SlideView } from './slides/slide.ts';

export interface Stage {
  /** Puts a view into a layer under everything that is on, where it can load, lay out and decode unseen. */
  place(view: SlideView): void;
  /** Brings a placed view to the front within `fadeMs` (0: a cut), and takes away what was there. */
  show(view: SlideView, fadeMs: number): void;
  /** Takes away a placed view that never came on. */
  discard(view: SlideView): void;
}

/**
 * So little that nobody sees it, and enough that the browser draws it: what is covered or wholly transparent is not
 * drawn at all, and a video would come on without its first frame.
 */
const BARELY = 0.001;
/** Frames that the browser is given to draw a layer before it is seen, and after it covers the one before. */
const WARM_UP_FRAMES = 4;
const COVER_FRAMES = 2;
/** Animation frames stop in hidden pages; what waits for them must still happen. */
const LONGEST_WAIT_MS = 500;

const afterFrames = (frames: number, callback: () => void): void => {
  let left = frames;
  const finish = (): void => {
    clearTimeout(timer);
    left = -1;
    callback();
  };
  const timer = setTimeout(finish, LONGEST_WAIT_MS);
  const count = (): void => {
    if (left === 0) finish();
    else if (left > 0) requestAnimationFrame(count);
    left -= 1;
  };
  count();
};

export const createStage = (root: HTMLElement): Stage => {
  const layers = new Map<SlideView, HTMLElement>();
  let front: SlideView | null = null;
  let height = 0;

  const discard = (view: SlideView): void => {
    layers.get(view)?.remove();
    if (layers.delete(view)) view.destroy();
  };

  return {
    discard,
    place: (view) => {
      const layer = document.createElement('div');
      layer.className = 'layer';
      layer.style.zIndex = '-1';
      layer.append(view.element);
      layers.set(view, layer);
      root.prepend(layer);
    },
    show: (view, fadeMs) => {
      const layer = layers.get(view);
      if (layer === undefined) return;
      const behind = front;
      front = view;
      height += 1;
      layer.style.zIndex = String(height);
      const settle = (): void => {
        layer.style.opacity = '';
        // The old picture stays whole underneath until the new one has been painted over all of it.
        afterFrames(COVER_FRAMES, () => {
          if (behind !== null) discard(behind);
        });
      };
      if (behind === null) return;
      layer.style.opacity = String(BARELY);
      afterFrames(WARM_UP_FRAMES, () => {
        if (fadeMs === 0) return settle();
        const fade = layer.animate([{ opacity: BARELY }, { opacity: 1 }], { duration: fadeMs, easing: 'ease-in-out' });
        fade.finished.then(settle, settle);
      });
    },
  };
};
