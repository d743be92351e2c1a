/** At what rate a page sends, whatever happens to it. */
import fc from 'fast-check';
import { afterEach, beforeEach, expect, it, vi } from 'vitest';
import { createOutbox } from '../../renderer/player/outbox.ts';

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

const openOutbox = () => {
  const sent: { at: number; type: string; n: number }[] = [];
  let isOpen = true;
  const outbox = createOutbox({
    elapsed: () => performance.now(),
    send: (message) => {
      if (isOpen) sent.push({ at: performance.now(), ...JSON.parse(message) });
      return isOpen;
    },
  });
  const setOpen = (open: boolean): void => {
    isOpen = open;
    if (open) outbox.open();
  };
  return { outbox, sent, setOpen };
};

const mostWithin = (times: number[], ms: number): number =>
  Math.max(0, ...times.map((from) => times.filter((at) => at >= from && at < from + ms).length));

it('a state that changes once is sent at once, and one that did not change is not', () => {
  const { outbox, sent } = openOutbox();
  outbox.state({ type: 'state', n: 1 });
  outbox.state({ type: 'state', n: 1 });
  vi.advanceTimersByTime(5_000);
  outbox.state({ type: 'state', n: 2 });
  expect(sent.map(({ at, n }) => [n, at - (sent[0]?.at ?? 0)])).toEqual([
    [1, 0],
    [2, 5_000],
  ]);
});

it('a new socket is sent the state again, and the newest notes that were kept', () => {
  const { outbox, sent, setOpen } = openOutbox();
  outbox.state({ type: 'state', n: 1 });
  setOpen(false);
  for (let n = 0; n < 70; n++) outbox.note({ type: 'fault', n });
  vi.advanceTimersByTime(60_000);
  setOpen(true);
  const again = sent.slice(1);
  expect(again[0]).toMatchObject({ type: 'state', n: 1 });
  expect(again.slice(1).map(({ n }) => n)).toEqual(Array.from({ length: 50 }, (_, index) => 20 + index));
});

it('rates are kept whatever is sent when, and the last state and note always arrive', () => {
  const step = fc.record({
    waitMs: fc.integer({ min: 0, max: 900 }),
    isState: fc.boolean(),
    count: fc.nat({ max: 40 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 40 }), (steps) => {
      const { outbox, sent } = openOutbox();
      const last = { state: -1, fault: -1 };
      for (const [n, { waitMs, isState, count }] of steps.entries()) {
        const type = isState ? 'state' : 'fault';
        for (let times = 0; times < count; times++) {
          last[type] = n * 100 + times;
          if (isState) outbox.state({ type, n: last[type] });
          else outbox.note({ type, n: last[type] });
        }
        vi.advanceTimersByTime(waitMs);
      }
      vi.advanceTimersByTime(20_000);
      const timesOf = (type: string) => sent.filter((each) => each.type === type).map(({ at }) => at);
      expect(mostWithin(timesOf('state'), 1_000)).toBeLessThanOrEqual(4);
      expect(mostWithin(timesOf('fault'), 10_000)).toBeLessThanOrEqual(60);
      for (const type of ['state', 'fault'] as const) {
        expect(sent.findLast((each) => each.type === type)?.n ?? -1).toBe(last[type]);
      }
    }),
    { numRuns: 60 },
  );
});
