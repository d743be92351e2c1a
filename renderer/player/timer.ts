/** The longest delay of `setTimeout` in browsers. */
const MAX_MS = 2 ** 31 - 1;

/**
 * Like `setTimeout`, for delays of any length: browsers fire immediately for delays beyond 24.8 days, and a slide can
 * be shown for a year. Returns a function that cancels the timer.
 */
export const startTimer = (act: () => void, ms: number): (() => void) => {
  const due = performance.now() + ms;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number): void => {
    timer = left > MAX_MS ? setTimeout(() => wait(due - performance.now()), MAX_MS) : setTimeout(act, left);
  };
  wait(ms);
  return () => clearTimeout(timer);
};
