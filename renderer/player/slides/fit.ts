/** Halvings of the interval: the answer is within half a percent. */
const STEPS = 8;

/**
 * The largest t in [0, 1] for which `fits` holds, where `fits` holds for everything below some t and for nothing above.
 * 0 where it never holds.
 */
export const largestFit = (fits: (t: number) => boolean): number => {
  if (fits(1)) return 1;
  let low = 0;
  let high = 1;
  for (let step = 0; step < STEPS; step++) {
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
