/** Which events of a crowded calendar pages get. */
import { expect, onTestFinished, test, vi } from 'vitest';
import { createCalendarDays, nearest } from '../../service/feeds/calendar-days.ts';
import { testTempo } from '../support/tempo.ts';

const midnight = Date.parse('2026-06-15T00:00:00Z');
const minute = 60_000;
const event = (id: number, from: number, until = from + 10) => ({
  id: String(id),
  title: '',
  location: null,
  starts_at: new Date(midnight + from * minute).toISOString(),
  ends_at: new Date(midnight + until * minute).toISOString(),
  all_day: false,
  private: false,
});

test('a crowded morning does not hide the afternoon', () => {
  const morning = Array.from({ length: 600 }, (_, n) => event(n, n));
  const afternoon = Array.from({ length: 300 }, (_, n) => event(1_000 + n, 780 + n));
  const long = event(9_999, 0, 1_440);
  const all = [long, ...morning, ...afternoon];
  const shown = (time: string): number[] =>
    nearest(all, Date.parse(`2026-06-15T${time}:00Z`)).map(({ id }) => Number(id));
  expect(shown('00:10')).toEqual([9_999, ...Array.from({ length: 499 }, (_, n) => n)]);
  // Those that are over follow, the latest of them first.
  expect(shown('12:59')).toEqual([
    9_999,
    ...Array.from({ length: 199 }, (_, n) => 401 + n),
    ...afternoon.map(({ id }) => Number(id)),
  ]);
  expect(nearest(morning.slice(0, 500), midnight)).toHaveLength(500);
});

test.each<[string, () => Promise<object>]>([
  ['was shown', async () => ({ events: [event(1, 0)], unfinished: [] })],
  ['could not be read', () => Promise.reject(new Error('it takes too long'))],
])('a calendar that %s, and is no longer, changes nothing but once a day', async (_, ask) => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  let time = midnight + 600 * minute;
  let changes = 0;
  const days = createCalendarDays(
    { now: () => time, tempo: testTempo },
    { reader: { ask, close: async () => undefined }, timeZone: 'UTC', onChange: () => changes++ },
  );
  const calendar = {};
  days.shown('room', calendar, null, true);
  await expect.poll(() => changes).toBe(1);
  for (const day of [1, 2]) {
    time += 1_440 * minute;
    vi.advanceTimersByTime(10 * testTempo.content.boundary);
    expect(changes).toBeLessThanOrEqual(1 + day);
  }
  // Where it is shown again, it is expanded for that day.
  const before = changes;
  days.shown('room', calendar, null, true);
  await expect.poll(() => changes).toBe(before + 1);
  await days.close();
});

test('what is shown of a crowded calendar is picked once an hour, however many ask', async () => {
  let time = midnight + 600 * minute;
  const events = Array.from({ length: 600 }, (_, n) => event(n, n));
  const days = createCalendarDays(
    { now: () => time, tempo: testTempo },
    {
      reader: { ask: async () => ({ events, unfinished: [] }), close: async () => undefined },
      timeZone: 'UTC',
      onChange: () => undefined,
    },
  );
  const calendar = {};
  const shown = () => days.shown('room', calendar, null, true).events;
  expect(shown()).toEqual([]);
  await expect.poll(() => shown().length).toBe(500);
  const before = shown();
  time += 59 * minute;
  expect(shown()).toBe(before);
  expect(days.troubles('room').excess).toBe(100);
  time += minute;
  expect(shown()).not.toBe(before);
  time += 1_440 * minute;
  expect(shown()).toEqual([]);
  await days.close();
});
