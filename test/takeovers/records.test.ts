import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { mostTakeovers, type TakeoverRecord } from '../../service/contract/peers.ts';
import { pictureKindOf } from '../../service/domain/media-types.ts';
import {
  byPrecedence,
  compareTakeovers,
  isOpenAt,
  mergeTakeovers,
  type Records,
  recordOfEnd,
  rowsOf,
  slideOf,
} from '../../service/takeovers/records.ts';

const NOW = Date.parse('2026-11-22T12:00:00.000Z');
const CLOCK = { now: NOW, isConfirmed: true };
const at = (minutes: number): string => new Date(NOW + minutes * 60_000).toISOString();

const record = (changes: Partial<TakeoverRecord> = {}): TakeoverRecord => ({
  id: 'lift',
  targets: ['all'],
  level: 'info',
  title: 'The lift is out of order',
  body: null,
  media_url: null,
  from: at(0),
  until: at(60),
  updatedAt: at(0),
  endedAt: null,
  ...changes,
});

const merged = (...lists: TakeoverRecord[][]): Records =>
  lists.reduce<Records>((records, list) => mergeTakeovers(records, list, CLOCK), new Map());

describe('records of takeovers', () => {
  const arbitrary = fc.record({
    id: fc.constantFrom('a', 'b', 'c'),
    minutes: fc.integer({ min: 0, max: 3 }),
    title: fc.constantFrom('one', 'two'),
    endedAt: fc.constantFrom(null, at(1)),
  });
  const list = fc.array(
    arbitrary.map(({ minutes, ...rest }) => record({ ...rest, updatedAt: at(minutes) })),
    { maxLength: 8 },
  );

  test('end up the same on all boxes, in whichever order and how often they arrive', () => {
    fc.assert(
      fc.property(list, list, list, (one, two, three) => {
        const expected = rowsOf(merged(one, two, three));
        expect(rowsOf(merged(three, one, two))).toEqual(expected);
        expect(rowsOf(merged([...two, ...three], one, two, one))).toEqual(expected);
      }),
    );
  });

  test('are replaced by newer ones alone, and an end is a newer one', () => {
    const before = merged([record({ updatedAt: at(2) })]);
    expect(mergeTakeovers(before, [record({ updatedAt: at(1), title: 'Older' })], CLOCK)).toBe(before);
    const ended = mergeTakeovers(before, [record({ updatedAt: at(3), endedAt: at(3) })], CLOCK);
    expect(ended.get('lift')?.endedAt).toBe(at(3));
    expect(mergeTakeovers(ended, [...before.values()], CLOCK)).toBe(ended);
  });

  test('are not taken from a clock that is decades ahead, nor when they were over a month ago', () => {
    const month = 31 * 24 * 60;
    const empty: Records = new Map();
    expect(mergeTakeovers(empty, [record({ updatedAt: '2099-01-01T00:00:00.000Z' })], CLOCK)).toBe(empty);
    const over = record({ from: at(-month - 90), until: at(-month - 1), updatedAt: at(-month - 90) });
    expect(mergeTakeovers(empty, [over], CLOCK)).toBe(empty);
    expect(mergeTakeovers(empty, [{ ...over, until: at(-month + 1) }], CLOCK).size).toBe(1);
  });

  test.each([
    [-399, true],
    [-401, false],
  ])('an end of one without a time is taken and kept for 400 days: at %i days', (days, isTaken) => {
    const clock = { now: NOW + 1_000 * 86_400_000, isConfirmed: true };
    const minutes = (1_000 + days) * 24 * 60;
    const endless = record({ level: 'emergency', until: null, from: at(minutes - 9), updatedAt: at(minutes - 9) });
    const known = mergeTakeovers(new Map(), [endless], clock);
    const ended = mergeTakeovers(known, [recordOfEnd({ id: endless.id, updatedAt: at(minutes), until: null })], clock);
    const kept = mergeTakeovers(ended, [record({ id: 'later' })], clock);
    expect(typeof kept.get('lift')?.endedAt === 'string').toBe(isTaken);
  });

  test('beyond the limit those that are over go first, of these the oldest', () => {
    const many = Array.from({ length: mostTakeovers }, (_, index) =>
      record({ id: `t-${index}`, updatedAt: at(index / 60), endedAt: index < 10 ? at(index / 60) : null }),
    );
    const full = merged(many);
    expect(full.size).toBe(mostTakeovers);
    const more = mergeTakeovers(full, [record({ id: 'new-1', updatedAt: at(0) })], CLOCK);
    expect(more.size).toBe(mostTakeovers);
    expect(more.has('t-0')).toBe(false);
    expect(more.has('t-1')).toBe(true);
    expect(more.has('new-1')).toBe(true);
  });

  test('beyond the limit those that this version cannot read displace none that it can and that is on', () => {
    const unread = Array.from({ length: mostTakeovers }, (_, index) =>
      record({ id: `u-${index}`, level: 'whisper' as never, until: null, updatedAt: at(1) }),
    );
    const full = merged([record()], unread, [record({ id: 'over', updatedAt: at(2), endedAt: at(2) })]);
    expect([full.size, full.has('lift'), full.has('over')]).toEqual([mostTakeovers, true, false]);
  });

  test('with a date that no clock can have made is the older one, also where it is known', () => {
    const wrong = record({ updatedAt: '2038-01-19T00:00:00.000Z' });
    const known = new Map([[wrong.id, wrong]]);
    expect(mergeTakeovers(known, [record({ updatedAt: at(0) })], CLOCK).get(wrong.id)?.updatedAt).toBe(at(0));
  });

  test.each([
    ['is on', {}, true],
    ['is still to come', { from: at(10) }, true],
    ['has been ended', { endedAt: at(0) }, false],
    ['ends now', { until: at(0) }, false],
  ])('one that %s', (_, changes, expected) => {
    expect(isOpenAt(record(changes), NOW)).toBe(expected);
  });

  test('are equal only if all of their fields are', () => {
    expect(compareTakeovers(record(), record())).toBe(0);
    for (const changes of [
      { more: 'of a newer version' },
      { title: 'Other' },
      { level: 'warning' },
      { targets: ['bar'] },
    ] as const) {
      expect(compareTakeovers(record(), record(changes as Partial<TakeoverRecord>))).not.toBe(0);
    }
  });
});

test('an emergency and an old record stay while no clock can be relied on', () => {
  const emergencies = Array.from({ length: 3 }, (_, index) =>
    record({ id: `e-${index}`, level: 'emergency', from: at(-90), until: at(-60), updatedAt: at(-90) }),
  );
  const many = Array.from({ length: mostTakeovers }, (_, index) => record({ id: `t-${index}`, endedAt: at(index) }));
  const unsure = mergeTakeovers(new Map(), [...emergencies, ...many], { now: NOW, isConfirmed: false });
  expect(emergencies.every(({ id }) => unsure.has(id))).toBe(true);
  const sure = mergeTakeovers(new Map(), [...emergencies, ...many], CLOCK);
  expect(emergencies.some(({ id }) => sure.has(id))).toBe(false);
});

test('what was dated in 1970 is of no known age', () => {
  const old = record({
    from: at(-90),
    until: new Date(60_000).toISOString(),
    updatedAt: new Date(60_000).toISOString(),
  });
  expect(mergeTakeovers(new Map(), [old], CLOCK).has(old.id)).toBe(true);
});

test('a record of an end wins over the one that it ends', () => {
  const old = record();
  expect(compareTakeovers(recordOfEnd(old), old)).toBeGreaterThan(0);
  expect(slideOf(old, true)).toMatchObject({ schedule_mode: 'between', schedule_end_datetime: null });
});

test('of several takeovers the highest level leads, then the later start, then the greater id', () => {
  const list = [
    record({ id: 'a' }),
    record({ id: 'c' }),
    record({ id: 'b', from: at(1) }),
    record({ id: 'd', level: 'warning', from: at(-9) }),
    record({ id: 'e', level: 'emergency', from: at(-99) }),
  ];
  expect(list.toSorted(byPrecedence).map(({ id }) => id)).toEqual(['e', 'd', 'b', 'c', 'a']);
});

describe('the slide of a takeover', () => {
  test('is scheduled from its start to its end, and says what it belongs to', () => {
    expect(slideOf(record({ level: 'warning', body: 'Use the stairs' }))).toEqual({
      id: 'takeover-lift',
      title: 'The lift is out of order',
      body: 'Use the stairs',
      duration_seconds: null,
      schedule_mode: 'between',
      schedule_start_datetime: at(0),
      schedule_end_datetime: at(60),
      schedule_start_time: null,
      schedule_end_time: null,
      schedule_days_json: null,
      media_url: null,
      media_type: null,
      kind: 'text',
      template_id: null,
      template: null,
      content: { takeover: { id: 'lift', level: 'warning' } },
    });
  });

  test.each([
    ['/media/exit.png', 'image', 'image/png'],
    ['https://example.com/evacuate.mp4', 'video', 'video/mp4'],
    ['https://example.com/picture?id=3', 'image', null],
    ['/media/plan.pdf', 'text', 'application/pdf'],
  ])('of %s is of kind %s', (media_url, kind, media_type) => {
    expect(slideOf(record({ media_url }))).toMatchObject({ kind, media_type, media_url });
    expect(pictureKindOf(media_url)).toBe(kind === 'text' ? null : kind);
  });
});
