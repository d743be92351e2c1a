/** Where blocks of the week lie, what a drag makes of them, and how days are copied. */
import { describe, expect, test } from 'vitest';
import type { ContentDocument, ProgrammeDraft } from '../../renderer/console/model/document.ts';
import { fillDraft, payloadOf } from '../../renderer/console/model/payload.ts';
import { weekOf } from '../../renderer/console/model/week.ts';
import { added, dayCopied, daySplit, onDate } from '../../renderer/console/programmes/edits.ts';
import { createEvaluation, subjectOf } from '../../renderer/console/programmes/evaluation.ts';
import {
  blocksOf,
  clockChangeOn,
  type Drag,
  dragged,
  drawnWindow,
  lengthOn,
  minutesAt,
  partsOf,
  timesOf,
  windowOf,
} from '../../renderer/console/programmes/geometry.ts';
import { roundAt } from '../../renderer/console/screen/plan.ts';
import { addDays, instantOf } from '../../service/domain/wall-time.ts';
import { itBrowser } from '../support/browser.ts';
import { patience } from '../support/observe.ts';
import { startTestService } from '../support/service.ts';
import { openConsole } from './browser.ts';

const monday = '2026-11-23';
const dates = Array.from({ length: 9 }, (_, day) => addDays(monday, day - 1));
const programme = (more: object = {}): ProgrammeDraft => ({
  id: 'lunch',
  targets: ['all'],
  playlist_id: 'lunch',
  ...more,
});

describe('a place in a row', () => {
  test.each([
    [0, 0],
    [0.5, 720],
    [0.486, 705],
    [1.2, 1440],
    [-1, 0],
  ])('%d is minute %d of the day', (share, minutes) => {
    expect(minutesAt(share)).toBe(minutes);
  });

  test.each([
    [660, 840, { start_time: '11:00', end_time: '14:00' }],
    [840, 660, { start_time: '11:00', end_time: '14:00' }],
    [0, 1440, {}],
    [0, 360, { end_time: '06:00' }],
    [1200, 1440, { start_time: '20:00' }],
    [600, 600, { start_time: '10:00', end_time: '10:15' }],
    [1440, 1440, { start_time: '23:45' }],
  ])('from %d to %d draws %o', (one, other, times) => {
    expect(timesOf(drawnWindow(one, other))).toEqual({ start_time: undefined, end_time: undefined, ...times });
  });
});

describe('a drag', () => {
  const drag = (grip: Drag['grip'], from: [number, number], to: [number, number]): Drag => ({
    grip,
    origin: from[0],
    from: { row: from[0], minutes: from[1] },
    to: { row: to[0], minutes: to[1] },
  });
  const lunch = { days: [2, 4], start_time: '11:00', end_time: '14:00' };
  test.each([
    ['of a block an hour later', lunch, drag('move', [1, 690], [1, 750]), { start_time: '12:00', end_time: '15:00' }],
    ['of a block to another day', lunch, drag('move', [1, 690], [2, 690]), { days: [3, 4] }],
    ['of a block onto another day of its own', lunch, drag('move', [1, 690], [3, 690]), { days: [4] }],
    ['of a block off the week', lunch, drag('move', [1, 690], [6, 690]), { days: [4, 7] }],
    ['of a block before midnight', lunch, drag('move', [1, 690], [1, 0]), { start_time: undefined, end_time: '03:00' }],
    ['of a block past midnight', lunch, drag('move', [1, 690], [1, 1440]), { start_time: '23:30', end_time: '02:30' }],
    ['of its start', lunch, drag('start', [1, 660], [1, 630]), { start_time: '10:30' }],
    ['of its start past its end', lunch, drag('start', [1, 660], [1, 1200]), { start_time: '13:45' }],
    ['of its end', lunch, drag('end', [1, 840], [1, 870]), { end_time: '14:30' }],
    ['of its end before its start', lunch, drag('end', [1, 840], [1, 0]), { end_time: '11:15' }],
    ['of its end to midnight', lunch, drag('end', [1, 840], [1, 1440]), { end_time: undefined }],
    ['of its end to the next day', lunch, drag('end', [1, 840], [2, 120]), { end_time: '02:00' }],
    ['of its end two days on', lunch, drag('end', [1, 840], [3, 120]), { end_time: '11:00' }],
    [
      'of odd times',
      { start_time: '11:07', end_time: '12:00' },
      drag('move', [1, 660], [1, 675]),
      { start_time: '11:15', end_time: '12:08' },
    ],
    ['of a date', { dates: ['2026-11-24'] }, drag('move', [1, 0], [4, 0]), { dates: ['2026-11-27'] }],
    ['of all days to another day', { start_time: '11:00', end_time: '14:00' }, drag('move', [1, 690], [2, 690]), {}],
    ['of all day', {}, drag('move', [1, 690], [1, 690]), {}],
  ])('%s', (_, rule, how, changed) => {
    expect(dragged(programme(rule), how, dates)).toEqual({
      start_time: undefined,
      end_time: undefined,
      ...programme(rule),
      ...changed,
    });
  });
});

describe('the blocks of a week', () => {
  const placesOf = (...rules: object[]) =>
    blocksOf(rules.map(programme), dates).map(({ index, row, from, until, lane }) => [index, row, from, until, lane]);

  test('past midnight are in two rows, the first of them from the Sunday before', () => {
    expect(placesOf({ days: [7], start_time: '22:00', end_time: '02:00' })).toEqual([
      [0, 0, 0, 120, 0],
      [0, 6, 1320, 1440, 0],
    ]);
  });
  test('overlap in lanes, and use a lane again once it is free', () => {
    const rules = [
      { days: [1], start_time: '08:00', end_time: '12:00' },
      { days: [1], start_time: '11:00', end_time: '13:00' },
      { days: [1], start_time: '12:00', end_time: '14:00' },
    ];
    expect(placesOf(...rules).map(([index, , , , lane]) => [index, lane])).toEqual([
      [0, 0],
      [1, 1],
      [2, 0],
    ]);
  });
  test('are not of dates of another week, nor beyond the limits', () => {
    expect(placesOf({ dates: ['2026-12-24'] }, { days: [1], start_date: '2026-11-24' }, { days: [] })).toEqual([]);
  });
  test('with an incomplete time are not drawn', () => {
    expect(placesOf({ start_time: 'x' })).toEqual([]);
  });
});

describe('a day on which the clock changes', () => {
  test.each([
    ['Europe/Berlin', '2026-03-29', { isSkipped: true, from: 120, until: 180 }, 1380],
    ['Europe/Berlin', '2026-10-25', { isSkipped: false, from: 120, until: 180 }, 1500],
    ['Europe/Berlin', '2026-11-25', null, 1440],
    ['America/New_York', '2026-03-08', { isSkipped: true, from: 120, until: 180 }, 1380],
    ['America/Santiago', '2026-09-06', { isSkipped: true, from: 0, until: 60 }, 1380],
    ['Africa/Cairo', '2026-04-24', { isSkipped: true, from: 0, until: 60 }, 1380],
    ['Australia/Lord_Howe', '2026-10-04', { isSkipped: true, from: 120, until: 150 }, 1410],
    ['Australia/Lord_Howe', '2026-04-05', { isSkipped: false, from: 90, until: 120 }, 1470],
    ['Asia/Kolkata', '2026-03-29', null, 1440],
  ])('in %s on %s is %o and has %d minutes', (timeZone, date, change, length) => {
    expect(clockChangeOn(date, timeZone)).toEqual(change);
    expect(lengthOn(date, { from: 0, until: 1440 }, timeZone)).toBe(length);
  });

  test.each([
    ['2026-03-29', { start_time: '01:30', end_time: '03:30' }, 60],
    ['2026-03-29', { start_time: '02:15', end_time: '02:45' }, 0],
    ['2026-10-25', { start_time: '01:30', end_time: '03:30' }, 180],
    ['2026-03-28', { start_time: '22:00', end_time: '04:00' }, 300],
  ])('on %s a window %o lasts %d minutes', (date, times, length) => {
    expect(lengthOn(date, windowOf(times), 'Europe/Berlin')).toBe(length);
  });

  test('shows parts by the clock of the wall, and one that ends when it is shown again to there', () => {
    const week = weekOf(instantOf('2026-10-25', '12:00', 'Europe/Berlin'), 'Europe/Berlin');
    const at = (time: string) => instantOf('2026-10-25', time, 'Europe/Berlin');
    expect(partsOf({ start: at('01:00'), end: at('03:00') }, week, 'Europe/Berlin')).toEqual([
      { row: 6, from: 60, until: 180 },
    ]);
    expect(partsOf({ start: week[5] ?? 0, end: week[7] ?? 0 }, week, 'Europe/Berlin')).toEqual([
      { row: 5, from: 0, until: 1440 },
      { row: 6, from: 0, until: 1440 },
    ]);
  });
});

describe('the programmes', () => {
  const week = { id: 'week', days: [1, 2], start_time: '08:00' };
  test('of a day are repeated on others, which become like it; dates, every day and other targets stay', () => {
    const list = [
      programme(week),
      programme({ id: 'gone', days: [3] }),
      programme({ id: 'kept', days: [3, 5] }),
      programme({ id: 'daily' }),
      programme({ id: 'holiday', dates: ['2026-12-24'] }),
      programme({ id: 'bar', targets: ['bar'], days: [3] }),
    ];
    expect(dayCopied(list, 'all', 1, [3, 4]).map(({ id, days }) => [id, days])).toEqual([
      ['week', [1, 2, 3, 4]],
      ['kept', [5]],
      ['daily', undefined],
      ['holiday', undefined],
      ['bar', [3]],
    ]);
  });
  test('can be split by day, made for one date, and get ids of their own', () => {
    expect(daySplit([programme(week)], 0, 2)).toEqual([
      programme({ ...week, days: [1] }),
      programme({ ...week, id: 'week-2', days: [2] }),
    ]);
    expect(daySplit([programme()], 0, 2)[0]?.days).toEqual([1, 3, 4, 5, 6, 7]);
    expect(daySplit([programme({ days: [2] })], 0, 2)).toHaveLength(1);
    expect(onDate([programme(week)], 0, '2026-11-27')).toEqual([
      programme({ id: 'week', start_time: '08:00', dates: ['2026-11-27'] }),
    ]);
    const drawn = { target: 'tag:bar', playlist_id: 'lunch', weekday: 5, window: { from: 0, until: 720 } };
    expect(added([programme()], drawn)[1]).toEqual({
      id: 'lunch-2',
      targets: ['tag:bar'],
      playlist_id: 'lunch',
      days: [5],
      end_time: '12:00',
    });
  });
});

describe('what plays by a draft', () => {
  const slide = { kind: 'text', title: 'x' };
  const document = {
    screens: [
      { name: 'Bar', slug: 'bar', playlist_id: 'house', tags: ['front'] },
      { name: 'Door', slug: 'door', playlist_id: 'door', tags: ['front'] },
    ],
    playlists: [
      { id: 'house', slides: [slide] },
      { id: 'lunch', slides: [{ kind: 'playlist', playlist_id: 'house' }] },
      { id: 'empty', slides: [] },
      { id: 'loop', slides: [{ kind: 'playlist', playlist_id: 'loop' }] },
    ],
    programmes: [
      programme({ id: 'bar', targets: ['bar'], start_time: '11:00', end_time: '12:00' }),
      programme({ start_time: '11:00', end_time: '14:00' }),
      programme({ id: 'front', targets: ['tag:front'], start_time: '13:00', end_time: '15:00' }),
      programme({ id: 'top', start_time: '11:30', end_time: '11:45', priority: 2 }),
      programme({ id: 'empty', playlist_id: 'empty', start_time: '16:00', end_time: '17:00' }),
      programme({ id: 'loop', playlist_id: 'loop', start_time: '16:00', end_time: '17:00' }),
    ],
  } as ContentDocument;
  const at = (target: string, time: string) => {
    const { at: explain } = createEvaluation(document, subjectOf(document, target), 'Europe/Berlin');
    const found = explain(instantOf('2026-11-24', time, 'Europe/Berlin'));
    return [found?.playlist_id, found?.programme?.id, found?.reason, found?.second?.id];
  };
  test.each([
    ['bar', '11:10', ['lunch', 'bar', 'target', 'lunch']],
    ['bar', '11:40', ['lunch', 'top', 'priority', 'bar']],
    ['bar', '12:30', ['lunch', 'lunch', 'only', undefined]],
    ['tag:front', '13:30', ['lunch', 'front', 'target', 'lunch']],
    ['door', '16:30', ['door', undefined, 'default', undefined]],
    ['tag:front', '18:00', [null, undefined, 'none', undefined]],
    ['all', '11:10', ['lunch', 'lunch', 'only', undefined]],
  ])('on %s at %s is explained', (target, time, expected) => {
    expect(at(target, time)).toEqual(expected);
  });
  test('is not told while a time has errors', () => {
    const broken = { ...document, programmes: [programme({ start_time: 'x' })] };
    const evaluation = createEvaluation(broken, subjectOf(broken, 'bar'), 'Europe/Berlin');
    const spring = instantOf('2026-03-27', '12:00', 'Europe/Berlin');
    expect(evaluation.at(spring)).toBeNull();
    expect(evaluation.stretches(spring, 7)).toBeNull();
  });
});

describe('the page of a screen', () => {
  const due = (id: string) => fillDraft(id, { kind: 'text', id, title: id }, 0);
  const [day, noon] = [due('day'), due('noon')];
  const named = (id: string) => ({ id, name: id, fade_between_slides: true });
  const payload = {
    ...payloadOf([day]),
    playlist: named('day'),
    programme: {
      revision: '',
      from: '2026-11-24T00:00:00Z',
      until: '2026-12-02T00:00:00Z',
      slides: { day, noon },
      playlists: { day: 'day', noon: 'noon' },
      lists: [
        { playlist: named('day'), sync: false, slides: ['day'] },
        { playlist: named('noon'), sync: true, slides: ['noon', 'noon'] },
      ],
      spans: [
        { from: '2026-11-24T00:00:00Z', list: 0, programme_id: null },
        { from: '2026-11-24T11:00:00Z', list: 1, programme_id: 'p' },
      ],
    },
  };
  test.each([
    ['10:59:59', ['day'], false, Date.parse('2026-11-24T11:00:00Z')],
    ['11:00:00', ['noon', 'noon'], true, Number.POSITIVE_INFINITY],
  ])('names the slides that are due at %s', (time, ids, isSynchronized, changesAt) => {
    const round = roundAt(payload, false, Date.parse(`2026-11-24T${time}Z`));
    expect(round.slides.map(({ id }) => id)).toEqual(ids);
    expect([round.isSynchronized, round.changesAt]).toEqual([isSynchronized, changesAt]);
  });
});

itBrowser('the address of a field leads to it each time', async () => {
  const service = await startTestService({
    content: {
      screens: [{ name: 'Bar', slug: 'bar', playlist_id: 'house' }],
      playlists: [{ id: 'house', slides: [{ id: 'one', kind: 'text', title: 'One' }] }],
      programmes: [{ id: 'night', playlist_id: 'house', targets: ['bar'], start_time: '20:00', end_time: '22:00' }],
    },
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const { page, go } = await openConsole(service.url);
  const isReached = () => page.getByLabel('From', { exact: true }).evaluate((each) => each === document.activeElement);
  for (const _ of [1, 2]) {
    await go('content/week/bar/night/start_time');
    await expect.poll(isReached, patience).toBe(true);
    await go('content/week/all');
  }
});

itBrowser('a date is added to a programme once it is typed, and is told as it is in the zone of the site', async () => {
  const service = await startTestService({
    content: {
      screens: [{ name: 'Bar', slug: 'bar', playlist_id: 'house' }],
      playlists: [{ id: 'house', slides: [{ id: 'one', kind: 'text', title: 'One' }] }],
      programmes: [{ id: 'night', playlist_id: 'house', targets: ['bar'], days: [1], dates: ['2026-11-24'] }],
    },
    env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TIME_ZONE: 'Pacific/Auckland' },
  });
  const { page, go } = await openConsole(service.url);
  await go('content/week/bar/night');
  const dates = async () =>
    (await page.getByRole('button', { name: /^Not on / }).allTextContents()).map((text) => text.trim());
  await expect.poll(dates, patience).toEqual(['24 Nov 2026']);
  await page.getByText('Name, dates, limits').click();
  const further = page.getByLabel('Also on');
  await further.focus();
  await page.keyboard.type('05012');
  expect([await further.inputValue(), await dates()]).toEqual(['0002-05-01', ['24 Nov 2026']]);
  await page.keyboard.type('027');
  await page.keyboard.press('Enter');
  await expect.poll(dates, patience).toEqual(['24 Nov 2026', '1 May 2027']);
  expect(await further.inputValue()).toBe('');
  await page.keyboard.type('05022');
  await page.getByLabel('Name', { exact: true }).focus();
  await expect.poll(() => further.inputValue(), patience).toBe('');
  await further.fill('2027-05-03');
  await page.getByLabel('Name', { exact: true }).focus();
  await expect.poll(dates, patience).toEqual(['24 Nov 2026', '1 May 2027', '3 May 2027']);
});
