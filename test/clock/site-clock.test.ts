/** Boxes with clocks of their own, on a simulated LAN: what their site's clocks say at the same moment. */
import { describe, expect, it } from 'vitest';
import { majorityOf } from '../../service/clock/majority.ts';
import { createSiteClock, type SiteClock } from '../../service/clock/site-clock.ts';

const HOUR = 3_600_000;

interface Box {
  id: string;
  clock: SiteClock;
  steady(at: number): number;
  wall(at: number): number;
  setWall(by: number): void;
}

/** A box whose steady clock began at any number and runs too fast by `ppm`, and whose time of day is off by `wrong`. */
const createBox = (id: string, { since = 0, ppm = 0, wrong = 0 }): Box => {
  let error = wrong;
  const steady = (at: number): number => (at - since) * (1 + ppm / 1e6) + id.charCodeAt(0) * 1e5;
  const wall = (at: number): number => at + 1e12 + error;
  return {
    id,
    clock: createSiteClock(steady(since), wall(since)),
    steady,
    wall,
    setWall: (by) => {
      error += by;
    },
  };
};

/** A repeatable sequence of numbers from 0 to 1. */
const createDice = (seed: number) => () => {
  seed = (seed * 1_103_515_245 + 12_345) % 2 ** 31;
  return seed / 2 ** 31;
};

/** Lets the first box lead and the others follow it, from one moment to another; `onTick` after each exchange. */
const run = ([leader, ...followers]: [Box, ...Box[]], from: number, to: number, onTick = (_: number): void => {}) => {
  const dice = createDice(7);
  for (let at = from; at < to; at += at < from + 2_000 ? 250 : 4_000) {
    const walls = [leader, ...followers].map(({ wall }) => wall(at));
    const majority = majorityOf(walls, walls.length, 1_000);
    leader.clock.lead(leader.steady(at), leader.wall(at), majority);
    for (const { clock, steady } of followers) {
      const there = 0.3 + dice() * dice() * 20;
      const back = 0.3 + dice() * dice() * 20;
      const time = leader.clock.at(leader.steady(at + there));
      const exchange = { t0: steady(at), t1: time, t2: time, t3: steady(at + there + back) };
      clock.follow(leader.id, exchange, () => majority !== null);
    }
    onTick(at);
  }
};

const timeOf = (box: Box, at: number): number => box.clock.at(box.steady(at));
const apart = (boxes: Box[], at: number): number => {
  const times = boxes.map((box) => timeOf(box, at));
  return Math.max(...times) - Math.min(...times);
};

describe('the clock of a site', () => {
  it('is one on all boxes, with clocks an hour apart that drift, over a LAN with jitter', () => {
    const boxes: [Box, Box, Box] = [
      createBox('a', { ppm: 40 }),
      createBox('b', { ppm: -40, wrong: HOUR }),
      createBox('c', { wrong: -HOUR }),
    ];
    const skews: number[] = [];
    run(boxes, 0, HOUR, (at) => at > 60_000 && skews.push(apart(boxes, at)));
    expect(Math.max(...skews)).toBeLessThan(8);
    expect(timeOf(boxes[2], HOUR) - boxes[0].wall(HOUR)).toBeLessThan(20);
  });

  it('keeps to the time of day of the reference, however its steady clock drifts', () => {
    const box = createBox('a', { ppm: 100 });
    run([box], 0, 24 * HOUR);
    expect(Math.abs(timeOf(box, 24 * HOUR) - box.wall(24 * HOUR))).toBeLessThan(2);
  });

  it('goes on without a jump where the reference is gone, and another takes over whose own clock is an hour off', () => {
    const [a, b, c] = [createBox('a', {}), createBox('b', { wrong: HOUR }), createBox('c', {})];
    run([a, b, c], 0, 60_000);
    const before = timeOf(c, 60_000);
    const held = timeOf(b, 60_000);
    run([b, c], 60_000, 2 * HOUR);
    expect(timeOf(b, 2 * HOUR) - held).toBeCloseTo(2 * HOUR - 60_000, 3);
    expect(Math.abs(timeOf(c, 2 * HOUR) - before - (2 * HOUR - 60_000))).toBeLessThan(8);
    expect(apart([b, c], 2 * HOUR)).toBeLessThan(8);
  });

  it('goes on by itself while there is nobody to follow', () => {
    const [a, b] = [createBox('a', {}), createBox('b', { wrong: HOUR, ppm: 20 })];
    run([a, b], 0, 60_000);
    expect(apart([a, b], 60_000 + 10 * 60_000)).toBeLessThan(8 + 12);
  });

  it('is set where most clocks are set, and then on all boxes', () => {
    const boxes: [Box, Box] = [createBox('a', { wrong: -HOUR }), createBox('b', {})];
    run(boxes, 0, 60_000);
    boxes[0].setWall(HOUR);
    run(boxes, 60_000, 120_000);
    expect(Math.abs(timeOf(boxes[0], 120_000) - boxes[0].wall(120_000))).toBeLessThan(1);
    expect(apart(boxes, 120_000)).toBeLessThan(8);
  });

  it('does not step where the clock of the reference alone is set', () => {
    const boxes: [Box, Box, Box] = [createBox('a', {}), createBox('b', {}), createBox('c', { wrong: -HOUR })];
    run(boxes, 0, 60_000);
    boxes[0].setWall(HOUR);
    run(boxes, 60_000, 120_000);
    for (const box of boxes) expect(Math.abs(timeOf(box, 120_000) - (120_000 + 1e12))).toBeLessThan(20);
  });

  it('slews to the reference where no majority stands behind it, and by half a percent at most', () => {
    const [a, b] = [createBox('a', {}), createBox('b', { wrong: HOUR })];
    run([a], 0, 10_000);
    run([b], 0, 10_000);
    const before = apart([a, b], 10_000);
    run([a, b], 10_000, 70_000);
    // It had settled before the two met.
    expect(before - apart([a, b], 70_000)).toBeGreaterThan(0);
    expect(before - apart([a, b], 70_000)).toBeLessThan(0.006 * 60_000);
  });

  it('says whom it follows, and how well', () => {
    const [a, b] = [createBox('a', {}), createBox('b', {})];
    expect(b.clock.source()).toBeNull();
    run([a, b], 0, 10_000);
    expect(b.clock.source()).toMatchObject({ nodeId: 'a' });
    expect(b.clock.source()?.roundTrip).toBeLessThan(20);
    expect(a.clock.source()).toBeNull();
  });
});
