/** Steps of the bisection: exact to half a percent; a coarse answer, to choose a layout, to three percent. */
const FINE = 8;
const COARSE = 5;

/**
 * The largest t in [0, 1] for which `fits` holds, where `fits` holds for everything below some t and for nothing above.
 * 0 if it never holds. Calls `fits` at most nine times, six times for a coarse answer, because each call causes a
 * layout.
 */
export const largestFit = (fits: (t: number) => boolean, isCoarse = false): number => {
  if (fits(1)) return 1;
  let low = 0;
  let high = 1;
  for (let step = 0; step < (isCoarse ? COARSE : FINE); step++) {
    const middle = (low + high) / 2;
    if (fits(middle)) low = middle;
    else high = middle;
  }
  return low;
};

/** Whether the content of the element overflows it. */
export const overflows = (element: Element): boolean =>
  element.scrollHeight > element.clientHeight || element.scrollWidth > element.clientWidth;

/** Resolves when the fonts of the document's text are loaded, or after 3 s. */
export const fontsLoaded = async (element: HTMLElement): Promise<void> => {
  // Fonts begin to load at layout, and layout is lazy.
  void element.offsetHeight;
  await Promise.race([document.fonts.ready, new Promise((resolve) => setTimeout(resolve, 3000))]);
};

/** Calls `refit` when the element's size has changed since `start`, or a font has loaded, which may be later than {@link fontsLoaded}. */
export const watchFit = (element: Element, refit: () => void) => {
  const size = (): string => `${element.clientWidth} ${element.clientHeight}`;
  let before = '';
  // An observer also reports once at its start.
  const observer = new ResizeObserver(() => {
    if (size() === before) return;
    before = size();
    refit();
  });
  return {
    start: () => {
      before = size();
      observer.observe(element);
      document.fonts.addEventListener('loadingdone', refit);
    },
    stop: () => {
      observer.disconnect();
      document.fonts.removeEventListener('loadingdone', refit);
    },
  };
};
