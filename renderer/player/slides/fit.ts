/** Halvings of the interval: the answer is within half a percent, and one to choose a layout by within three. */
const FINE = 8;
const COARSE = 5;

/**
 * The largest t in [0, 1] for which `fits` holds, where `fits` holds for everything below some t and for nothing above.
 * 0 where it never holds. Calls `fits` at most nine times, and six times where a coarse answer will do: each call is a
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

/** Whether what is in the element is larger than the element. */
export const overflows = (element: Element): boolean =>
  element.scrollHeight > element.clientHeight || element.scrollWidth > element.clientWidth;

/** Resolves when the fonts that the document's text needs are there, or after 3 s without them. */
export const fontsLoaded = async (element: HTMLElement): Promise<void> => {
  // Fonts begin to load at layout, and layout is lazy.
  void element.offsetHeight;
  await Promise.race([document.fonts.ready, new Promise((resolve) => setTimeout(resolve, 3000))]);
};

/** Calls `onResize` when the element's size is no longer what it was at `start`. */
export const watchSize = (element: Element, onResize: () => void) => {
  const size = (): string => `${element.clientWidth} ${element.clientHeight}`;
  let before = '';
  // An observer also reports once as it begins, when there is nothing new to fit.
  const observer = new ResizeObserver(() => {
    if (size() === before) return;
    before = size();
    onResize();
  });
  return {
    start: () => {
      before = size();
      observer.observe(element);
    },
    stop: () => observer.disconnect(),
  };
};
