/** Two layers and the swap: the next slide is prepared under the current one and then replaces it. */
import type { SlideView } from './slides/slide.ts';

/** The exact moment at which a view must appear. */
export interface Cue {
  /** Milliseconds from a reading of `performance.now` to that moment; negative: it has passed. */
  left(at: DOMHighResTimeStamp): number;
  /** Called with the reading at which the view appeared, as far as a page can know. */
  onSeen(at: DOMHighResTimeStamp): void;
}

export type Stage = ReturnType<typeof createStage>;

/**
 * An invisible opacity that the browser still draws: it skips covered and fully transparent layers, and a video would
 * appear without its first frame.
 */
const WARM_UP_OPACITY = 0.001;
/** Frames to wait for the browser to draw a layer before it is visible, and after it covers the previous one. */
const WARM_UP_FRAMES = 4;
const COVER_FRAMES = 2;
/** Pictures of a film that are presented before the previous slide goes: a busy browser reports them before it draws them. */
const COVER_PICTURES = 3;
/** If a frame takes this long, a fade would stutter: cut instead. */
const SLOW_FRAME_MS = 100;
/** Displays refresh 30 to 240 times a second. */
const MAX_FRAME_MS = 34;
const MIN_FRAME_MS = 4;
/** Hidden pages get no animation frames; waiting for them must still end. */
const MAX_WAIT_MS = 500;
/** The service takes no report of a longer gap, and would close the socket. */
const MAX_GAP_MS = 86_400_000;

/** The frames of a page. One is requested at a time: a page that nobody sees gets none, and would pile up requests. */
const createFrames = () => {
  const waiting = new Set<FrameRequestCallback>();
  let isRequested = false;

  const request = (): void => {
    if (isRequested) return;
    isRequested = true;
    requestAnimationFrame((at) => {
      isRequested = false;
      const due = [...waiting];
      waiting.clear();
      for (const each of due) each(at);
    });
  };

  /** Resolves in the next frame, to its reading; to null if it does not come before `until`, by `performance.now`. */
  const next = (until: number): Promise<DOMHighResTimeStamp | null> =>
    new Promise((resolve) => {
      const come = (at: DOMHighResTimeStamp): void => {
        clearTimeout(timer);
        resolve(at);
      };
      const timer = setTimeout(() => {
        waiting.delete(come);
        resolve(null);
      }, until - performance.now());
      waiting.add(come);
      request();
    });

  return {
    next,
    /** Resolves after `count` frames; to false if they did not come in time. */
    pass: async (count: number): Promise<boolean> => {
      const until = performance.now() + MAX_WAIT_MS;
      for (let left = count; left > 0; left -= 1) if ((await next(until)) === null) return false;
      return true;
    },
    /** Resolves in the frame that is displayed nearest to the cue: a frame is displayed when the next one begins. */
    at: async ({ left }: Cue): Promise<void> => {
      const until = performance.now() + Math.max(0, left(performance.now())) + MAX_WAIT_MS;
      let before = Number.NEGATIVE_INFINITY;
      let interval = MAX_FRAME_MS;
      for (let at = await next(until); at !== null; at = await next(until)) {
        // A dropped frame makes a longer interval; the shortest one is the display's.
        interval = Math.min(interval, Math.max(at - before, MIN_FRAME_MS));
        before = at;
        if (left(at) <= interval * 1.5) return;
      }
    },
  };
};

export const createStage = (root: HTMLElement) => {
  const layers = new Map<SlideView, HTMLElement>();
  const frames = createFrames();
  let front: SlideView | null = null;
  let height = 0;

  const discard = (view: SlideView): void => {
    layers.get(view)?.remove();
    if (layers.delete(view)) view.destroy();
  };

  /** Whether the view has painted a picture; false if a video takes too long. */
  const isPainted = async (view: SlideView): Promise<boolean> => {
    if (view.presented === undefined) return true;
    const late = new Promise<boolean>((resolve) => setTimeout(resolve, MAX_WAIT_MS, false));
    return Promise.race([view.presented().then(() => true), late]);
  };

  /** Waits for the cue, and for a picture that is not there yet. Resolves to whether it is. */
  const waitForCue = async (view: SlideView, cue: Cue): Promise<boolean> => {
    const [hasPicture] = await Promise.all([isPainted(view), frames.at(cue)]);
    if (front === view) void frames.next(performance.now() + MAX_WAIT_MS).then((at) => at !== null && cue.onSeen(at));
    return hasPicture;
  };

  return {
    /** Destroys a placed view that was never shown. */
    discard,
    /** Puts a view into a layer under all visible ones, where it can load, lay out and decode. */
    place: (view: SlideView): void => {
      const layer = document.createElement('div');
      layer.className = 'layer';
      layer.style.zIndex = '-1';
      // Nothing covers the first one while it loads its fonts and fits its text.
      if (front === null) layer.style.opacity = String(WARM_UP_OPACITY);
      layer.append(view.element);
      layers.set(view, layer);
      root.prepend(layer);
    },
    /**
     * Brings a placed view to the front within `fadeMs` (0: a cut) as soon as it is painted, or on its cue, and destroys
     * the previous view. Resolves to how long neither view was on the screen, in ms: normally 0, because the old picture
     * stays underneath until the new one covers it.
     * @param onFrame called in the first frame in which the view is visible, unless another view was shown meanwhile
     */
    show: async (view: SlideView, fadeMs: number, onFrame: () => void, cue?: Cue): Promise<number> => {
      const layer = layers.get(view);
      if (layer === undefined) return 0;
      const behind = front;
      front = view;
      height += 1;
      layer.style.zIndex = String(height);
      if (behind === null) {
        if (cue !== undefined) await waitForCue(view, cue);
        layer.style.opacity = '';
        if (front === view) onFrame();
        return 0;
      }
      layer.style.opacity = String(WARM_UP_OPACITY);
      const since = performance.now();
      await frames.pass(WARM_UP_FRAMES);
      const isSmooth = performance.now() - since < WARM_UP_FRAMES * SLOW_FRAME_MS;
      const hasPicture = await (cue === undefined ? isPainted(view) : waitForCue(view, cue));
      // Only now: a video that starts earlier would play its first frames unseen.
      if (front === view) onFrame();
      if (fadeMs > 0 && isSmooth) {
        const fade = layer.animate([{ opacity: WARM_UP_OPACITY }, { opacity: 1 }], {
          duration: fadeMs,
          easing: 'ease-in-out',
        });
        await fade.finished.catch(() => {});
      } else layer.classList.add('cut-in');
      layer.style.opacity = '';
      const isCovered = await frames.pass(COVER_FRAMES);
      // A busy browser draws a film later than the rest of its page: the previous slide stays underneath until then.
      for (let pictures = 0; pictures < COVER_PICTURES; pictures += 1) await isPainted(view);
      layer.classList.remove('cut-in');
      discard(behind);
      // Without frames the screen has changed nothing yet, or shows something else than this page.
      if (hasPicture || !isCovered) return 0;
      const goneAt = performance.now();
      // The wait has timed out: from now on the screen shows the background of the new slide.
      while (layers.has(view)) if (await isPainted(view)) break;
      return Math.min(performance.now() - goneAt, MAX_GAP_MS);
    },
  };
};
