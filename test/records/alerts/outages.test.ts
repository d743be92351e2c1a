/** Which messages about outages are due, and who sends them: tables, without clocks. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { AlertRecord, BoxAlerts } from '../../../service/contract/alerts.ts';
import {
  type Condition,
  noOutages,
  type Outages,
  record,
  reduce,
  speakerOf,
  typeOf,
} from '../../../service/records/alerts/outages.ts';

const GRACE_MS = 300_000;
const start = Date.parse('2026-01-31T08:00:00.000Z');
const instantAt = (second: number): string => new Date(start + second * 1000).toISOString();

const reduceAt = (outages: Outages, second: number, observed: readonly Condition[], graceMs: number) =>
  reduce(outages, observed, { now: start + second * 1000, monotonicNow: second * 1000 }, graceMs);

const sent = (outages: Outages, due: readonly AlertRecord[], now: number): Outages =>
  record(
    outages,
    due.map((each) => ({ ...each, isSent: true })),
    now,
  );

const condition = (status: Condition['status'], kind: Condition['kind'] = 'device'): Condition => ({
  ...{ kind, status, subject: 'a' },
  message: `It is ${status}.`,
});

/**
 * What was said, with the second it was said in. A receiver takes each message at once.
 * @param course second, and what is observed from then on, once a second
 */
const said = (
  course: readonly (readonly [number, Condition['status'] | null])[],
  kind?: Condition['kind'],
): string[] => {
  let outages = noOutages;
  const messages: string[] = [];
  const end = course.at(-1)?.[0] ?? 0;
  for (let second = 0; second <= end; second += 1) {
    const status = course.findLast(([from]) => from <= second)?.[1] ?? null;
    const conditions = status === null ? [] : [condition(status, kind)];
    const [next, due] = reduceAt(outages, second, conditions, GRACE_MS);
    for (const alert of due) messages.push(`${second} ${typeOf(alert)} ${(Date.parse(alert.at) - start) / 1000}`);
    outages = sent(next, due, start + second * 1000);
  }
  return messages;
};

describe('a failure raises one alert after the grace, and one when it ends', () => {
  test.each<[string, Parameters<typeof said>[0], string[]]>([
    [
      'away for less than the grace',
      [
        [0, 'failing'],
        [299, 'ok'],
        [900, 'ok'],
      ],
      [],
    ],
    [
      'away for the grace',
      [
        [10, 'failing'],
        [900, 'failing'],
      ],
      ['310 device.away 10'],
    ],
    [
      'away and back',
      [
        [10, 'failing'],
        [400, 'ok'],
        [900, 'ok'],
      ],
      ['310 device.away 10', '400 device.back 400'],
    ],
    [
      'short returns restart the grace',
      [
        [0, 'failing'],
        [200, 'ok'],
        [201, 'failing'],
        [600, 'ok'],
      ],
      ['501 device.away 201', '600 device.back 600'],
    ],
    [
      'twice',
      [
        [0, 'failing'],
        [400, 'ok'],
        [500, 'failing'],
        [900, 'ok'],
      ],
      ['300 device.away 0', '400 device.back 400', '800 device.away 500', '900 device.back 900'],
    ],
    [
      'unknown for less than the grace',
      [
        [0, 'failing'],
        [10, null],
        [200, 'failing'],
        [900, 'failing'],
      ],
      ['300 device.away 0'],
    ],
    [
      'unknown for longer: it may have ended',
      [
        [0, 'failing'],
        [10, null],
        [1_000, 'failing'],
        [1_900, 'failing'],
      ],
      ['1300 device.away 1000'],
    ],
    [
      'closed before the grace ends',
      [
        [0, 'failing'],
        [200, 'silent'],
        [900, 'silent'],
      ],
      [],
    ],
    [
      'the grace begins as it opens',
      [
        [0, 'failing'],
        [200, 'silent'],
        [500, 'failing'],
        [900, 'failing'],
      ],
      ['800 device.away 500'],
    ],
    [
      'a return while closed is reported on opening',
      [
        [0, 'failing'],
        [400, 'silent'],
        [900, 'ok'],
        [901, 'ok'],
      ],
      ['300 device.away 0', '900 device.back 900'],
    ],
    [
      'still away as it opens again is no second outage',
      [
        [0, 'failing'],
        [400, 'silent'],
        [500, 'failing'],
        [999, 'failing'],
      ],
      ['300 device.away 0'],
    ],
    [
      'unbound while away',
      [
        [0, 'failing'],
        [400, 'gone'],
        [900, 'ok'],
      ],
      ['300 device.away 0'],
    ],
    [
      'not observed for a while',
      [
        [0, 'failing'],
        [200, null],
        [280, 'failing'],
        [400, 'ok'],
      ],
      ['300 device.away 0', '400 device.back 400'],
    ],
  ])('%s', (_, course, messages) => {
    expect(said(course)).toEqual(messages);
  });

  test('a disk that has room again is no message', () => {
    expect(
      said(
        [
          [0, 'failing'],
          [400, 'ok'],
          [500, 'failing'],
          [900, 'failing'],
        ],
        'storage',
      ),
    ).toEqual(['300 storage.low 0', '800 storage.low 500']);
  });

  test('a message stays due, and the same, until a receiver has it', () => {
    const [first] = reduceAt(noOutages, 0, [condition('failing')], 0);
    const [second, due] = reduceAt(first, 60, [condition('failing')], 0);
    expect(reduceAt(second, 61, [condition('failing')], 0)[1]).toEqual(due);
    expect(due).toEqual([
      {
        kind: 'device',
        subject: 'a',
        isFailing: true,
        at: instantAt(0),
        message: 'It is failing.',
        isSent: false,
      },
    ]);
    expect(reduceAt(sent(second, due, start + 61_000), 62, [condition('failing')], 0)[1]).toEqual([]);
  });

  test('an outage that never was told of ends without a message', () => {
    const [first] = reduceAt(noOutages, 0, [condition('failing')], 0);
    expect(reduceAt(first, 5, [condition('ok')], 0)[1]).toEqual([]);
  });

  test('whatever happens, messages of a subject alternate', () => {
    const status = fc.constantFrom('failing', 'ok', 'silent', null);
    const course = fc.array(fc.tuple(fc.integer({ min: 0, max: 3_000 }), status), { maxLength: 20 });
    fc.assert(
      fc.property(course, (steps) => {
        const types = said(steps.toSorted(([a], [b]) => a - b)).map((message) => message.split(' ')[1]);
        expect(types).toEqual(types.map((__, index) => (index % 2 === 0 ? 'device.away' : 'device.back')));
      }),
      { numRuns: 30 },
    );
  });
});

const away: AlertRecord = {
  kind: 'device',
  subject: 'a',
  isFailing: true,
  at: instantAt(7),
  message: 'It is away.',
  isSent: false,
};

describe('a message that another box was about to send', () => {
  test('is repeated as it was', () => {
    const [before] = reduceAt(noOutages, 10, [condition('failing')], GRACE_MS);
    const announced = record(before, [away], start);
    expect(reduceAt(announced, 310, [condition('failing')], GRACE_MS)[1]).toEqual([away]);
  });

  test('is repeated also where the subject has recovered since, before the message of its end', () => {
    const announced = record(noOutages, [away], start);
    const [between, due] = reduceAt(announced, 20, [condition('ok')], 0);
    expect(due).toEqual([away]);
    const [, end] = reduceAt(sent(between, due, start), 21, [condition('ok')], 0);
    expect(end).toMatchObject([{ isFailing: false, at: instantAt(20) }]);
  });

  test('is forgotten once it was sent', () => {
    const announced = record(noOutages, [away], start);
    expect(reduceAt(sent(announced, [away], start), 20, [condition('failing')], 0)[1]).toEqual([]);
    const many = Array.from({ length: 2_200 }, (_, index) => ({ ...away, subject: `${index}` }));
    expect(record(noOutages, many, start).records.size).toBe(2_000);
  });
});

describe('while the receiver is away for days', () => {
  const DAY_S = 86_400;
  const raised: AlertRecord = { ...away, kind: 'recovery', subject: 'p', message: 'Ada has a new key.' };

  test('an outage that has ended since, and what was said once, stay due', () => {
    const announced = record(noOutages, [away, raised], start);
    const [next] = reduceAt(announced, 1.25 * DAY_S, [condition('ok')], GRACE_MS);
    const [ended, due] = reduceAt(next, 3 * DAY_S, [condition('ok')], GRACE_MS);
    expect(due).toEqual([away, raised]);
    // Its end has its own time, not that of the delivery.
    const [, ends] = reduceAt(sent(ended, due, start + 3 * DAY_S * 1000), 3 * DAY_S + 1, [condition('ok')], GRACE_MS);
    expect(ends.map(({ isFailing, at }) => [isFailing, at])).toEqual([[false, instantAt(1.25 * DAY_S)]]);
  });

  test('what another box has sent since is not due here, nor what is a month old', () => {
    const told = sent(record(noOutages, [away, raised], start), [away, raised], start);
    const [kept] = reduceAt(told, 3 * DAY_S, [condition('failing')], GRACE_MS);
    const met = record(kept, [away, raised], start + 3 * DAY_S * 1000);
    expect(reduceAt(met, 3 * DAY_S, [condition('failing')], GRACE_MS)[1]).toEqual([]);
    const late = record(noOutages, [away, raised], start);
    expect(reduceAt(late, 31 * DAY_S, [condition('ok')], GRACE_MS)).toEqual([noOutages, []]);
  });
});

test('where there are too many, what lasts or waits to be told stays', () => {
  const over = Array.from({ length: 2_000 }, (_, at) => {
    return { ...away, subject: `s${at}`, isFailing: false, isSent: true, at: instantAt(60) };
  });
  const lasting = { ...away, isSent: true };
  const waiting = { ...away, subject: 'b', isFailing: false, isSent: false };
  const { records } = record(noOutages, [lasting, waiting, ...over], start + 60_000);
  expect([records.size, records.get('device a'), records.get('device b')]).toEqual([2_000, lasting, waiting]);
});

test('of two records of a subject the newer stays, in any order', () => {
  const end = { ...away, isFailing: false, at: instantAt(9) };
  for (const news of [
    [away, { ...away, isSent: true }, end],
    [end, { ...away, isSent: true }, away],
  ]) {
    expect([...record(noOutages, news, start).records.values()]).toEqual([end]);
  }
  expect(record(record(noOutages, [{ ...away, isSent: true }], start), [away], start).records.get('device a')).toEqual({
    ...away,
    isSent: true,
  });
});

test.each<[string, [string, BoxAlerts['receiver']][], string | null]>([
  [
    'the lowest id',
    [
      ['b', 'ok'],
      ['a', 'ok'],
      ['c', 'ok'],
    ],
    'a',
  ],
  [
    'one that reaches its receiver',
    [
      ['a', 'failing'],
      ['b', 'none'],
      ['c', 'ok'],
    ],
    'c',
  ],
  [
    'where none reaches it, one that has one',
    [
      ['a', 'none'],
      ['c', 'failing'],
      ['b', 'failing'],
    ],
    'b',
  ],
  ['where none has one, no box', [['a', 'none']], null],
])('messages are sent by: %s', (_, boxes, speaker) => {
  expect(speakerOf(boxes.map(([nodeId, receiver]) => ({ nodeId, receiver })))).toBe(speaker);
});
