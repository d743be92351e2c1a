/** What plays add up to, and why there was none in between. */
import { expect, test } from 'vitest';
import { type CountedPlay, createFigures, type GapReason, readPlays } from '../../renderer/console/model/figures.ts';
import { spansOfSlide, weekOf } from '../../renderer/console/model/week.ts';

const HOUR = 3_600_000;
const midnight = Date.parse('2026-11-22T00:00:00.000Z');
const bounds = [0, 1, 2, 3, 4].map((day) => midnight + day * 24 * HOUR);

const play = (from: number, hours: number, more: Partial<CountedPlay> = {}): CountedPlay => ({
  node_id: 'n',
  device_id: 'd',
  screen: 'lobby',
  slide_id: 'hello',
  slide_title: 'Hello',
  media_url: null,
  started_at: new Date(midnight + from * HOUR).toISOString(),
  ended_at: new Date(midnight + (from + hours) * HOUR).toISOString(),
  duration_ms: hours * HOUR,
  result: 'played',
  reason: null,
  clock: 'synced',
  ...more,
});

const sumOf = (plays: readonly CountedPlay[], now: number, open: { start: number; end: number }[] | null = null) => {
  const figures = createFigures({ bounds, now: midnight + now * HOUR, openSpans: () => open });
  for (const each of plays) figures.add(each);
  return figures.sum();
};
const inHours = (values: readonly number[]): number[] => values.map((ms) => ms / HOUR);

test('plays are counted by slide, screen and day, over midnight too', () => {
  const failed = play(24, 0, {
    slide_id: 'film',
    slide_title: null,
    media_url: '/media/a.mp4',
    result: 'skipped',
    reason: 'gone',
  });
  const sum = sumOf([play(0, 20), play(20, 4), play(23, 2, { device_id: 'e', screen: 'bar' }), failed], 25);
  expect(sum).toMatchObject({ plays: 3, failures: 1, seenMs: 26 * HOUR, untrusted: 0 });
  expect(inHours(sum.seen)).toEqual([25, 1, 0, 0]);
  expect(sum.screens).toEqual([
    { slug: 'lobby', plays: 2, seenMs: 24 * HOUR },
    { slug: 'bar', plays: 1, seenMs: 2 * HOUR },
  ]);
  expect(sum.slides[1]).toEqual({
    id: 'film',
    title: '/media/a.mp4',
    plays: 0,
    seenMs: 0,
    failures: 1,
    reason: 'gone',
  });
});

test.each<[string, CountedPlay[], GapReason]>([
  ['blacked out', [play(0, 1, { result: 'cut', reason: 'blackout' }), play(5, 1)], 'blackout'],
  ['redirected', [play(0, 1, { result: 'cut', reason: 'redirect' }), play(5, 1)], 'redirect'],
  ['taken over', [play(0, 1, { result: 'cut', reason: 'takeover' }), play(5, 1)], 'takeover'],
  ['without a slide that it could show', [play(1, 0, { result: 'failed', reason: 'gone' }), play(5, 1)], 'failed'],
  ['switched off', [play(0, 1, { result: 'cut', reason: 'page_ended' }), play(5, 1)], 'silent'],
  ['silent since', [play(0, 1), play(1, 1)], 'silent'],
])('a gap of a display that was %s is explained', (_, plays, reason) => {
  const { gaps } = sumOf(plays, 6);
  expect(inHours(gaps[reason])).toEqual([4, 0, 0, 0]);
  expect(
    Object.values(gaps)
      .flat()
      .reduce((sum, ms) => sum + ms, 0),
  ).toBe(4 * HOUR);
});

test('plays of a sidebar and a ticker count for their slides alone, and hide no gap of the main zone', () => {
  const beside = (['sidebar', 'ticker', 'ticker'] as const).map((zone) => play(0, 5, { zone, slide_id: zone }));
  const sum = sumOf([...beside, play(0, 1, { zone: 'main' }), play(4, 1), play(5, 1, { zone: null })], 6);
  expect(sum).toMatchObject({ plays: 3, seenMs: 3 * HOUR, screens: [{ slug: 'lobby', plays: 3, seenMs: 3 * HOUR }] });
  expect([inHours(sum.seen)[0], inHours(sum.gaps.silent)[0]]).toEqual([3, 3]);
  expect(sum.slides.map(({ id, seenMs }) => [id, seenMs / HOUR])).toEqual([
    ['ticker', 10],
    ['sidebar', 5],
    ['hello', 3],
  ]);
});

test('of a gap only the open hours are left unexplained, and moments between slides are none', () => {
  const open = [{ start: midnight + 8 * HOUR, end: midnight + 18 * HOUR }];
  const { gaps } = sumOf([play(8, 4), play(12.01, 2), play(32, 1)], 33, open);
  expect(inHours(gaps.silent).map(Math.round)).toEqual([4, 0, 0, 0]);
  expect(inHours(gaps.closed)).toEqual([6, 8, 0, 0]);
});

test('plays are read line by line however the answer is cut, and one that breaks off is an error', async () => {
  const text = `[\n${[play(0, 1), play(1, 1), play(2, 1)].map((each) => JSON.stringify(each)).join(',\n')}\n]\n`;
  const read = async (given: string, size: number): Promise<number> => {
    const bytes = new TextEncoder().encode(given);
    const chunks = Array.from({ length: Math.ceil(bytes.length / size) }, (_, at) =>
      bytes.slice(at * size, (at + 1) * size),
    );
    const seen: string[] = [];
    const body = new ReadableStream<Uint8Array>({
      start: (controller) => {
        for (const chunk of chunks) controller.enqueue(chunk);
        controller.close();
      },
    });
    await readPlays(
      body,
      new AbortController().signal,
      (each) => seen.push(each.started_at),
      () => {},
    );
    return seen.length;
  };
  for (const size of [1, 7, 400, 10_000]) expect(await read(text, size)).toBe(3);
  expect(await read('[]\n', 2)).toBe(0);
  await expect(read(text.slice(0, -3), 100)).rejects.toThrow('cut off');
});

test('a week has the spans of a schedule, over midnight and a change of the clocks, and none for a faulty one', () => {
  const zone = 'Europe/Vienna';
  const week = weekOf(Date.parse('2026-10-22T12:00:00Z'), zone);
  expect(week.map((time) => new Date(time).toISOString().slice(0, 13))).toEqual([
    ...['2026-10-18T22', '2026-10-19T22', '2026-10-20T22', '2026-10-21T22'],
    ...['2026-10-22T22', '2026-10-23T22', '2026-10-24T22', '2026-10-25T23'],
  ]);
  const schedule = {
    schedule_mode: 'weekly' as const,
    schedule_start_datetime: null,
    schedule_end_datetime: null,
    schedule_start_time: '22:00',
    schedule_end_time: '04:00',
    schedule_days_json: '[6,7]',
  };
  const hours = spansOfSlide(schedule, week, zone)?.map(({ start, end }) => (end - start) / HOUR);
  // Sunday's of the week before ends on Monday; the night of the change is an hour longer; the last is cut at midnight.
  expect(hours).toEqual([4, 7, 2]);
  expect(spansOfSlide({ ...schedule, schedule_days_json: '[6' }, week, zone)).toBeNull();
});
