/** What the stage of a page tells of its swaps, and that of a page that nobody sees. */
import { expect, it, onTestFinished, vi } from 'vitest';
import type { SlideView } from '../../renderer/player/slides/slide.ts';
import { createStage } from '../../renderer/player/stage.ts';

const createElement = () => ({
  style: {},
  classList: { add() {}, remove() {} },
  append() {},
  prepend() {},
  remove() {},
});

const viewOf = (presented?: () => Promise<void>): SlideView => ({
  element: createElement() as unknown as HTMLElement,
  length: null,
  prepare: async () => {},
  ...(presented && { presented }),
  start() {},
  pause() {},
  resume() {},
  flipPage: () => false,
  destroy() {},
});

const open = (requestAnimationFrame: (callback: FrameRequestCallback) => unknown) => {
  vi.useFakeTimers();
  vi.stubGlobal('requestAnimationFrame', requestAnimationFrame);
  vi.stubGlobal('document', { createElement });
  onTestFinished(() => {
    // In this order: the clock is put back into the true `performance`, which files that follow share.
    vi.unstubAllGlobals();
    vi.useRealTimers();
  });
  return createStage(createElement() as unknown as HTMLElement);
};

it.each([
  ['a picture', undefined],
  ['a film, none of whose frames is presented', () => new Promise<void>(() => {})],
])('swaps without a gap while no frame is painted, and asks for one frame alone: %s', async (_, presented) => {
  let requests = 0;
  const stage = open(() => ++requests);
  const gaps: number[] = [];
  const cue = { left: () => 0, onSeen() {} };
  for (let swap = 0; swap < 20; swap += 1) {
    const view = viewOf(presented);
    stage.place(view);
    void stage.show(view, 0, () => {}, swap % 2 === 0 ? cue : undefined).then((gap) => gaps.push(gap));
    await vi.advanceTimersByTimeAsync(10_000);
  }
  expect(requests).toBe(1);
  expect(gaps).toEqual(Array(20).fill(0));
});

it.each([
  [2_000, 2_000],
  [90_000_000, 86_400_000],
])(
  'tells a film whose picture comes after %i ms with a gap of about %i ms, which the service takes',
  async (late, gap) => {
    const stage = open((callback) => setTimeout(() => callback(performance.now()), 16));
    let come = (): void => {};
    const presented = new Promise<void>((resolve) => {
      come = resolve;
    });
    const [before, film] = [viewOf(), viewOf(() => presented)];
    for (const view of [before, film]) stage.place(view);
    void stage.show(before, 0, () => {});
    const told = stage.show(film, 0, () => {});
    await vi.advanceTimersByTimeAsync(2_500);
    const read = performance.now.bind(performance);
    vi.stubGlobal('performance', { now: () => read() + late });
    come();
    await vi.advanceTimersByTimeAsync(1_000);
    expect(Math.abs((await told) - gap)).toBeLessThan(2_500);
  },
);
