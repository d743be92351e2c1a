import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPace } from '../../service/streams/pace.ts';

const frame = 40;

/** What is thought of a source that sent frames at these times. */
const judge = (frames: { now: number; position: number }[]) => {
  const pace = createPace();
  return frames.map(({ now, position }) => ({ now, state: pace.judge(now, position) }));
};

const interruptedAt = (frames: { now: number; position: number }[]): number | undefined =>
  judge(frames).find(({ state }) => state === 'interrupted')?.now;

/** A source in real time: a frame every 40 ms for so many seconds, from a moment and a position (ms) on. */
const live = (seconds: number, now = 0, position = 0) =>
  Array.from({ length: (1000 * seconds) / frame }, (_, n) => ({
    now: now + n * frame,
    position: position + n * frame,
  }));

describe('a source keeps pace', () => {
  it.each([
    ['in real time', live(60)],
    [
      'with a hitch that it makes up for',
      live(60).map(({ now, position }) => ({ now: now > 9_000 && now < 11_000 ? 11_000 : now, position })),
    ],
    ['in bursts', live(60).map(({ now, position }) => ({ now: Math.ceil(now / 900) * 900, position }))],
    ['after a first burst', live(60).map(({ now, position }) => ({ now: Math.max(0, now - 3_000), position }))],
    ['by a clock that is a little slow', live(600).map(({ now, position }) => ({ now: now * 1.03, position }))],
    ['with one frame every two seconds', live(60).filter((_, n) => n % 50 === 0)],
  ])('%s', (_, frames) => {
    expect(interruptedAt(frames)).toBeUndefined();
  });

  it('however unevenly it arrives, as long as it is never late for long', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 500, maxLength: 500 }), (delays) => {
        const frames = live(20).map(({ now, position }, n) => ({ now: now + (delays[n] ?? 0), position }));
        expect(interruptedAt(frames.toSorted((one, other) => one.now - other.now))).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });
});

describe('a source is interrupted', () => {
  it.each([200, 300, 500, 2_000, 5_000])('when its time stands still for %i ms', (pause) => {
    const again = 10_000 + pause;
    const judged = judge([...live(10), ...live(10, again, 10_000)]);
    expect(judged.filter(({ now }) => now < 10_000).every(({ state }) => state === 'steady')).toBe(true);
    expect(judged.filter(({ now }) => now >= again && now < again + 1_500).every(({ state }) => state === 'late')).toBe(
      true,
    );
    expect(judged.find(({ now }) => now >= again + 1_500)?.state).toBe('interrupted');
  });

  it('when its time does not move on any more', () => {
    const stuck = live(10, 10_000).map(({ now }) => ({ now, position: 10_000 }));
    expect(interruptedAt([...live(10), ...stuck])).toBeLessThan(12_000);
  });
});
