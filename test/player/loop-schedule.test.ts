import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { oneRound } from '../../renderer/player/page-plan.ts';
import { createLoopSchedule, type Scene, synchronizedMove } from '../../renderer/player/synchronized.ts';
import { LEAD_MS } from '../../renderer/player/timeline.ts';
import type { Slide } from '../../service/contract/playlist.ts';
import { slide } from './scene.ts';

const NOON = Date.parse('2026-07-01T12:00:00Z');

/** A slide that is on at these hours of the day. */
const between = (id: string, start: string, end: string, duration_seconds = 10): Slide =>
  slide(id, { duration_seconds, schedule_mode: 'weekly', schedule_start_time: start, schedule_end_time: end });

const threes = [
  slide('a', { duration_seconds: 1 }),
  slide('b', { duration_seconds: 2 }),
  slide('c', { duration_seconds: 3 }),
];

describe('the loop schedule', () => {
  it('shows the slides in order, each for its duration', () => {
    const loopSchedule = createLoopSchedule(oneRound(threes, true), 'UTC');
    const start = loopSchedule.slotAt(NOON).since;
    const turns = [0, 1, 2, 3].reduce<{ index: number | null; since: number; until: number }[]>(
      (all) => [...all, loopSchedule.slotAt(all.at(-1)?.until ?? start)],
      [],
    );
    expect(turns.map(({ index }) => index)).toEqual([0, 1, 2, 0]);
    expect(turns.map(({ since, until }) => until - since)).toEqual([1_000, 2_000, 3_000, 1_000]);
  });

  it('does not depend on the times at which it was read before', () => {
    const slides = [
      ...threes,
      between('day', '06:00', '20:30', 7),
      between('night', '22:00', '05:00', 0.25),
      slide('once', { ...{ schedule_mode: 'between' }, schedule_end_datetime: '2026-07-02T09:30:00' }),
      slide('film', { kind: 'video', duration_seconds: 4.2 }),
      slide('text', { duration_seconds: null }),
    ];
    const looked = createLoopSchedule(oneRound(slides, true), 'Europe/Berlin');
    fc.assert(
      fc.property(fc.integer({ min: NOON, max: NOON + 3 * 86_400_000 }), (now) => {
        const slot = looked.slotAt(now);
        const fresh = createLoopSchedule(oneRound(slides, true), 'Europe/Berlin').slotAt(now);
        expect(slot).toEqual(fresh);
        expect(slot.since).toBeLessThanOrEqual(now);
        expect(slot.until).toBeGreaterThan(now);
        expect(looked.slotAt(slot.until - 1).index).toBe(slot.index);
      }),
      { numRuns: 200 },
    );
  });

  it('ends a slot with the schedule, and has no slide when none is on schedule', () => {
    const loopSchedule = createLoopSchedule(oneRound([between('a', '11:00', '12:00', 3_600)], true), 'UTC');
    expect(loopSchedule.slotAt(NOON - 1)).toMatchObject({ index: 0, until: NOON });
    expect(loopSchedule.slotAt(NOON)).toMatchObject({ index: null, until: NOON + 23 * 3_600_000 });
    expect(createLoopSchedule(oneRound([], true), 'UTC').slotAt(NOON)).toMatchObject({
      index: null,
      until: Number.POSITIVE_INFINITY,
    });
  });
});

describe('a move', () => {
  const loopSchedule = createLoopSchedule(oneRound(threes, true), 'UTC');
  const start = loopSchedule.slotAt(NOON).since;
  const move = (now: number, scene: Scene, isPlayable = () => true) =>
    synchronizedMove(loopSchedule, now, scene, isPlayable, 1_500);

  it.each<[string, number, Scene, unknown]>([
    ['makes ready what is on', 0, { shown: null, upcoming: null }, { prepare: 0 }],
    ['shows it as soon as it can be', 500, { shown: null, upcoming: { index: 0, isReady: true } }, 'swap'],
    ['waits for it', 500, { shown: null, upcoming: { index: 0, isReady: false } }, 'hold'],
    ['makes ready what is next', 0, { shown: 0, upcoming: null }, { prepare: 1 }],
    ['does so when it is time', 1_000, { shown: 1, upcoming: null }, 'hold'],
    ['and not before', 1_600, { shown: 1, upcoming: null }, { prepare: 2 }],
    ['waits for its moment', 699, { shown: 0, upcoming: { index: 1, isReady: true } }, 'hold'],
    ['begins to swap in time for it', 1_000 - LEAD_MS, { shown: 0, upcoming: { index: 1, isReady: true } }, 'swap'],
    ['drops what is not wanted', 0, { shown: 0, upcoming: { index: 2, isReady: true } }, 'drop'],
    ['drops a slide that has missed its slot', 2_800, { shown: 0, upcoming: { index: 1, isReady: false } }, 'drop'],
  ])('%s', (_, at, scene, action) => {
    expect(move(start + at, scene).action).toEqual(action);
  });

  it('skips a slide that can not be shown', () => {
    expect(move(start, { shown: null, upcoming: null }, () => false).action).toBe('hold');
  });

  it('wakes up for the earliest event', () => {
    expect(move(start, { shown: 0, upcoming: { index: 1, isReady: true } }).wakeAt).toBe(start + 1_000 - LEAD_MS);
    expect(move(start + 1_000, { shown: 1, upcoming: null }).wakeAt).toBe(start + 3_000 - 1_500);
  });
});

describe('an origin', () => {
  const loopSchedule = createLoopSchedule(oneRound(threes, true), 'UTC');
  const midnight = Date.parse('2026-07-02T00:00:00Z');

  it('has the slot of a slide begin now, until the end of the day', () => {
    const now = NOON + 1_500.4;
    const origin = loopSchedule.originAt(now, 2);
    expect(origin?.until).toBe(midnight);
    expect(loopSchedule.slotAt(now, origin)).toMatchObject({ index: 2, since: NOON + 1_500, until: NOON + 4_500 });
    expect(loopSchedule.slotAt(NOON + 4_500, origin)).toMatchObject({ index: 0, since: NOON + 4_500 });
    const last = loopSchedule.slotAt(midnight - 1, origin);
    expect(last.until).toBe(midnight);
    expect(loopSchedule.slotAt(midnight, origin)).toEqual(loopSchedule.slotAt(midnight));
    expect(loopSchedule.originAt(now, 3)).toBeNull();
  });

  it('ends when another slide goes on or off schedule, at the latest', () => {
    const slides = [...threes, between('evening', '18:00', '20:00')];
    const ofDay = createLoopSchedule(oneRound(slides, true), 'UTC');
    const evening = NOON + 6 * 3_600_000;
    const origin = ofDay.originAt(NOON + 500, 1);
    expect(origin?.until).toBe(evening);
    expect(ofDay.slotAt(evening + 700, origin)).toEqual(ofDay.slotAt(evening + 700));
    expect(ofDay.originAt(NOON, 3)).toBeNull();
  });
});

describe('the slot of a slide that can not be shown', () => {
  it.each([
    ['goes to the slide before it', [1], 1_200, { index: 0, since: 0, until: 3_000 }],
    ['goes to the one before that if need be', [1, 2], 4_000, { index: 0, since: 0, until: 6_000 }],
    ['goes to the last one of the loop before', [0], 500, { index: 2, since: -3_000, until: 1_000 }],
    ['stays its own if there is no other', [0, 1, 2], 500, { index: 0, since: 0, until: 1_000 }],
  ])('%s', (_, broken, after, slot) => {
    const loopSchedule = createLoopSchedule(oneRound(threes, true), 'UTC');
    const start = loopSchedule.slotAt(NOON).since;
    const { index, since, until } = loopSchedule.slotAt(start + after, null, (each) => !broken.includes(each));
    expect({ index, since: since - start, until: until - start }).toEqual(slot);
  });
});
