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

const afterNextPaint = (callback: () => void): void => {
  // Animation frames stop in hidden pages; what waits for one must still happen.
  const timer = setTimeout(callback, 250);
  requestAnimationFrame(() =>
    requestAnimationFrame(() => {
      clearTimeout(timer);
      callback();
    }),
  );
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
      // The old picture stays whole underneath until the new one has been painted over all of it.
      const settle = (): void => {
        if (behind !== null) discard(behind);
      };
      if (fadeMs === 0 || behind === null) return afterNextPaint(settle);
      const fade = layer.animate([{ opacity: 0 }, { opacity: 1 }], { duration: fadeMs, easing: 'ease-in-out' });
      fade.finished.then(settle, settle);
    },
  };
};
