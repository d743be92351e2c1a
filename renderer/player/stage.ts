/** Two layers and the swap: the next slide is made ready under the one that is on, and then takes its place. */
import type { SlideView } from './slides/slide.ts';

/** When a view must come on, to the frame. */
export interface Cue {
  /** Milliseconds from a reading of `performance.now` to the moment; negative: it has passed. */
  left(at: DOMHighResTimeStamp): number;
  /** It has been on the screen since this reading, as far as a page can know. */
  onSeen(at: DOMHighResTimeStamp): void;
}

export interface Stage {
  /** Puts a view into a layer under everything that is on, where it can load, lay out and decode unseen. */
  place(view: SlideView): void;
  /**
   * Brings a placed view to the front within `fadeMs` (0: a cut), and takes away what was there: as soon as it can be
   * seen whole, or on its cue. Resolves once that is done, with how long neither of the two was on the screen, in ms: as
   * a rule 0, since the old picture stays whole underneath until the new one has been painted over all of it.
   * @param onFrame called with the first frame in which the view can be seen, unless another has taken its place by then
   */
  show(view: SlideView, fadeMs: number, onFrame: () => void, cue?: Cue): Promise<number>;
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
/** Where a frame takes this long a fade is a stutter, and a cut is kinder. */
const SLOW_FRAME_MS = 100;
/** Displays draw 30 to 240 pictures a second. */
const LONGEST_FRAME_MS = 34;
const SHORTEST_FRAME_MS = 4;
/** Animation frames stop in hidden pages; what waits for them must still happen. */
const LONGEST_WAIT_MS = 500;

/** Resolves after so many animation frames; to false where they did not come in time. */
const frames = (count: number): Promise<boolean> =>
  new Promise((resolve) => {
    let left = count;
    const timer = setTimeout(() => {
      left = -1;
      resolve(false);
    }, LONGEST_WAIT_MS);
    const next = (): void => {
      if (left < 0) return;
      if (left-- > 0) return void requestAnimationFrame(next);
      clearTimeout(timer);
      resolve(true);
    };
    next();
  });

/** How long it takes from now until frames are painted, in ms; 0 in a page that nobody sees. */
const blindMs = async (): Promise<number> => {
  const since = performance.now();
  while (!document.hidden) if (await frames(1)) return performance.now() - since;
  return 0;
};

/** Resolves in the frame that will be seen nearest to the moment: a frame is seen when the next one begins. */
const frameOf = ({ left }: Cue): Promise<void> =>
  new Promise((resolve) => {
    let before = Number.NEGATIVE_INFINITY;
    let interval = LONGEST_FRAME_MS;
    const timer = setTimeout(resolve, Math.max(0, left(performance.now())) + LONGEST_WAIT_MS);
    const look = (at: DOMHighResTimeStamp): void => {
      // A frame that was left out makes a longer one; the shortest is what the display does.
      interval = Math.min(interval, Math.max(at - before, SHORTEST_FRAME_MS));
      before = at;
      if (left(at) > interval * 1.5) return void requestAnimationFrame(look);
      clearTimeout(timer);
      resolve();
    };
    requestAnimationFrame(look);
  });

export const createStage = (root: HTMLElement): Stage => {
  const layers = new Map<SlideView, HTMLElement>();
  let front: SlideView | null = null;
  let height = 0;

  const discard = (view: SlideView): void => {
    layers.get(view)?.remove();
    if (layers.delete(view)) view.destroy();
  };

  /** Whether the view has a picture on the screen by now; a moving one may be slow to come. */
  const isPainted = (view: SlideView): Promise<boolean> => {
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, LONGEST_WAIT_MS, false));
    return Promise.race([view.presented?.().then(() => true) ?? true, late]);
  };

  /** Waits for the moment, and for nothing else: the picture that was made ready will do. */
  const comeOn = async (view: SlideView, cue: Cue): Promise<boolean> => {
    await frameOf(cue);
    if (front === view) requestAnimationFrame(cue.onSeen);
    return true;
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
    show: async (view, fadeMs, onFrame, cue) => {
      const layer = layers.get(view);
      if (layer === undefined) return 0;
      const behind = front;
      front = view;
      height += 1;
      layer.style.zIndex = String(height);
      if (behind === null) {
        if (cue !== undefined) await comeOn(view, cue);
        if (front === view) onFrame();
        return 0;
      }
      layer.style.opacity = String(BARELY);
      const since = performance.now();
      await frames(WARM_UP_FRAMES);
      const isSmooth = performance.now() - since < WARM_UP_FRAMES * SLOW_FRAME_MS;
      const hasPicture = await (cue === undefined ? isPainted(view) : comeOn(view, cue));
      // Only now: a video that began before would have lost its first frames to the eye.
      if (front === view) onFrame();
      if (fadeMs > 0 && isSmooth) {
        const fade = layer.animate([{ opacity: BARELY }, { opacity: 1 }], { duration: fadeMs, easing: 'ease-in-out' });
        await fade.finished.catch(() => {});
      }
      layer.style.opacity = '';
      const isCovered = await frames(COVER_FRAMES);
      discard(behind);
      const goneAt = performance.now();
      // The page has waited as long as it could; what is on the screen from now on is the ground of the new slide.
      let isSeen = hasPicture;
      while (!isSeen && layers.has(view)) isSeen = await isPainted(view);
      return isCovered ? (hasPicture ? 0 : performance.now() - goneAt) : blindMs();
    },
  };
};
