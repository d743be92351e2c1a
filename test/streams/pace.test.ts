import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createPace } from '../../service/streams/watch.ts';

const frame = 40;

/** When a source that sent frames at these times is found to have lost its time; undefined: never. */
const lostAt = (frames: { now: number; position: number }[]): number | undefined => {
  const pace = createPace();
  return frames.find(({ now, position }) => pace.isLost(now, position))?.now;
};

/** A source in real time: a frame every 40 ms for `seconds`, from a moment and a position (ms) on. */
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
    expect(lostAt(frames)).toBeUndefined();
  });

  it('however unevenly it arrives, as long as it is never late for long', () => {
    fc.assert(
      fc.property(fc.array(fc.nat(200), { minLength: 500, maxLength: 500 }), (delays) => {
        const frames = live(20).map(({ now, position }, n) => ({ now: now + (delays[n] ?? 0), position }));
        expect(lostAt(frames.toSorted((one, other) => one.now - other.now))).toBeUndefined();
      }),
      { numRuns: 30 },
    );
  });
});

describe('a source has lost its time', () => {
  it('when that does not move on', () => {
    const stuck = live(10, 10_000).map(({ now }, n) => ({ now, position: 10_000 + n / 90 }));
    const found = lostAt([...live(10), ...stuck]);
    expect(found).toBeGreaterThan(11_000);
    expect(found).toBeLessThan(13_000);
  });

  it.each([1_500, 3_000])('when that stood still for %i ms', (pause) => {
    const found = lostAt([...live(10), ...live(10, 10_000 + pause, 10_000)]);
    expect(found).toBeLessThan(12_000 + pause);
  });

  it('not when it only stopped for a moment', () => {
    expect(lostAt([...live(10), ...live(60, 10_500, 10_000)])).toBeUndefined();
  });
});
