/** When a box takes the site's list of media instead of merging its own. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { Attendance } from '../../service/contract/peer-media.ts';
import {
  agreedTime,
  hiddenUntil,
  type KeptAttendance,
  met,
  missedUntil,
  running,
  started,
} from '../../service/domain/attendance.ts';

const DAY = 86_400_000;
const noon = Date.UTC(2026, 5, 1, 12);
const on = (day: number): number => noon + day * DAY;

/** A box that was first started at a day. */
const first = (day: number): KeptAttendance => started(null, on(day)) as KeptAttendance;
/** A box that was off since `left`, and has judged the gap by itself. */
const restarted = (kept: KeptAttendance, day: number): KeptAttendance =>
  running(started(kept, on(day)), on(day), true) as KeptAttendance;
/** A box that ran until a day without a pause. */
const ran = (kept: KeptAttendance, day: number, isAlone = false): KeptAttendance => {
  let next: KeptAttendance | null = kept;
  for (let at = Math.floor((kept.ran.until - noon) / DAY) + 1; at <= day; at++) next = running(next, on(at), isAlone);
  return next as KeptAttendance;
};
const together = (a: KeptAttendance, b: KeptAttendance, day: number): [KeptAttendance, KeptAttendance] => [
  met(a, b, on(day)),
  met(b, a, on(day)),
];
/** Which of two boxes takes the list of the other at a day. */
const takes = (a: Attendance, b: Attendance, day: number): [boolean, boolean] => [
  missedUntil(a, b, on(day)) > 0,
  missedUntil(b, a, on(day)) > 0,
];

const [a0, b0] = together(first(0), first(1), 2);

describe('of two boxes that were together', () => {
  test.each<[string, Attendance, Attendance, [boolean, boolean]]>([
    [
      'the one that was off takes the list of the one that ran alone',
      ran(a0, 410, true),
      restarted(b0, 410),
      [false, true],
    ],
    ['none takes a list after 399 days', ran(a0, 401, true), restarted(b0, 401), [false, false]],
    ['none does if both were off', restarted(a0, 410), restarted(b0, 410), [false, false]],
    ['none does if both ran alone', ran(a0, 410, true), ran(b0, 410, true), [false, false]],
    ['the one that was cut off does, if the other one was not', ran(a0, 410), ran(b0, 410, true), [false, true]],
    ['a new box has no list to take', first(410), restarted(b0, 410), [false, false]],
  ])('%s', (_, a, b, expected) => {
    expect(takes(a, b, 410)).toEqual(expected);
  });
});

test('a new box that has met the site has its list', () => {
  const [, late] = together(ran(a0, 410), first(410), 410);
  expect(takes(late, restarted(b0, 410), 410)).toEqual([false, true]);
});

test('boxes that were off together still take the list of one that comes later, each what is as old as its absence', () => {
  const c0 = met(first(1), a0, on(2));
  const [b, c] = together(restarted(b0, 410), restarted(c0, 410), 410);
  const a = ran(a0, 500, true);
  for (const box of [ran(b, 500), ran(c, 500)]) expect(missedUntil(box, a, on(500))).toBe(on(100));
  // What was uploaded since their return stays.
  for (const box of [ran(b, 900), ran(c, 900)]) expect(missedUntil(box, ran(a, 900, true), on(900))).toBe(on(410));
});

test('a box that has taken the list merges from then on', () => {
  const a = ran(a0, 410, true);
  const [next, back] = together(a, restarted(b0, 410), 410);
  expect(takes(next, back, 410)).toEqual([false, false]);
  expect(takes(ran(next, 900), ran(back, 900), 900)).toEqual([false, false]);
});

test('a clock that is ahead makes no absence, not even later, when it is right again', () => {
  const wrong = restarted(b0, 5_000);
  const a = ran(a0, 10, true);
  expect(missedUntil(wrong, a, agreedTime(on(5_000), on(10)))).toBe(0);
  const right = running(wrong, on(11), true) as KeptAttendance;
  expect(takes(ran(a, 500, true), ran(right, 500, true), 500)).toEqual([false, false]);
});

test('a box whose clock is not set is judged by the other one', () => {
  const unset = started(b0, 0) as KeptAttendance;
  expect(missedUntil(unset, ran(a0, 410, true), agreedTime(0, on(410)))).toBe(on(10));
  expect(started(null, 0)).toBeNull();
  expect(agreedTime(0, 0)).toBe(0);
});

test.each<[string, KeptAttendance]>([
  ['ran alone', ran(first(0), 410, true)],
  ['was off', restarted(first(0), 410)],
])('a box that %s before it met a site has missed nothing', (_, box) => {
  const site = ran(a0, 410);
  expect(takes(box, site, 410)).toEqual([false, false]);
  const [joined] = together(box, site, 410);
  expect(takes(joined, ran(site, 411), 411)).toEqual([false, false]);
});

test('a box whose clock is behind does not make another one absent', () => {
  const met5 = met(ran(b0, 300), ran(a0, 300), on(300), agreedTime(on(300), on(5)));
  expect(takes(ran(a0, 310, true), restarted(met5, 310), 310)).toEqual([false, false]);
});

test('an absence counts, too, where the clock is set only after the start', () => {
  const back = running(restarted(b0, 2), on(410), true) as KeptAttendance;
  expect(takes(ran(a0, 410, true), back, 410)).toEqual([false, true]);
});

test('a gap that the clock shows only when two boxes meet is not closed unjudged', () => {
  const a = ran(a0, 450, true);
  const stale = running(restarted(b0, 3), on(3), false) as KeptAttendance;
  expect(missedUntil(met(stale, a, on(450)), a, on(450))).toBe(on(50));
});

test('a box whose clock stood still for as long hides its absence', () => {
  expect(hiddenUntil(on(2), on(410))).toBe(on(2));
  expect(hiddenUntil(on(2), on(400))).toBe(0);
  expect(hiddenUntil(0, on(410))).toBe(0);
});

test('never do two boxes take the list of each other', () => {
  const step = fc.record({
    box: fc.boolean(),
    what: fc.constantFrom('off', 'alone', 'meet'),
    days: fc.integer({ min: 0, max: 900 }),
  });
  fc.assert(
    fc.property(fc.array(step, { maxLength: 12 }), (steps) => {
      let day = 2;
      const boxes: [KeptAttendance, KeptAttendance] = [a0, b0];
      for (const { box, what, days } of steps) {
        const index = box ? 1 : 0;
        if (what === 'meet') [boxes[0], boxes[1]] = together(...boxes, day);
        else {
          day += days;
          boxes[index] = what === 'off' ? restarted(boxes[index], day) : ran(boxes[index], day, true);
          boxes[1 - index] = ran(boxes[1 - index] as KeptAttendance, day, true);
        }
        expect(takes(...boxes, day)).not.toEqual([true, true]);
      }
    }),
  );
});
