/** What browsers can count down from. */
const LONGEST_MS = 2 ** 31 - 1;

/**
 * As `setTimeout`, for delays of any length: a browser takes one beyond 24.8 days for none at all, and a slide may be on
 * for a year. Answers how to stop it.
 */
export const startTimer = (act: () => void, ms: number): (() => void) => {
  const due = performance.now() + ms;
  let timer: ReturnType<typeof setTimeout> | undefined;
  const wait = (left: number): void => {
    timer = left > LONGEST_MS ? setTimeout(() => wait(due - performance.now()), LONGEST_MS) : setTimeout(act, left);
  };
  wait(ms);
  return () => clearTimeout(timer);
};
