/** Which messages about outages are due, and who sends them: tables, without clocks. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import type { BoxAlerts } from '../../../service/contract/alerts.ts';
import {
  announce,
  type Condition,
  type DueAlert,
  noOutages,
  record,
  reduce,
  speakerOf,
} from '../../../service/records/alerts/outages.ts';

const GRACE_MS = 300_000;
const start = Date.parse('2026-01-31T08:00:00.000Z');
const instantAt = (second: number): string => new Date(start + second * 1000).toISOString();

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
    let due: DueAlert[];
    [outages, due] = reduce(outages, { conditions, at: instantAt(second) }, second * 1000, GRACE_MS);
    for (const { alert, record: outage } of due) {
      messages.push(`${second} ${alert.type} ${(Date.parse(alert.at) - start) / 1000}`);
      outages = record(outages, [outage]);
    }
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
    const observation = { conditions: [condition('failing')], at: instantAt(0) };
    const [first] = reduce(noOutages, observation, 0, 0);
    const later = { ...observation, at: instantAt(60) };
    const [second, due] = reduce(first, later, 60_000, 0);
    expect(reduce(second, later, 61_000, 0)[1]).toEqual(due);
    expect(due[0]?.alert).toEqual({ type: 'device.away', at: instantAt(0), subject: 'a', message: 'It is failing.' });
    const [{ record: outage }] = due as [DueAlert];
    expect(reduce(record(second, [outage]), later, 62_000, 0)[1]).toEqual([]);
  });

  test('an outage that never was told of ends without a message', () => {
    const [first] = reduce(noOutages, { conditions: [condition('failing')], at: instantAt(0) }, 0, 0);
    expect(reduce(first, { conditions: [condition('ok')], at: instantAt(5) }, 5_000, 0)[1]).toEqual([]);
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

describe('a message that another box was about to send', () => {
  const at = (second: number, status: Condition['status']) => ({
    conditions: [condition(status)],
    at: instantAt(second),
  });
  const alert = { type: 'device.away', subject: 'a', at: instantAt(7), message: 'It is away.' } as const;

  test('is repeated as it was', () => {
    const [before] = reduce(noOutages, at(10, 'failing'), 10_000, GRACE_MS);
    const announced = announce(before, [alert], 340_000);
    const [, due] = reduce(announced, at(310, 'failing'), 310_000, GRACE_MS);
    expect(due).toMatchObject([{ alert, record: { at: alert.at, endedAt: null } }]);
  });

  test.each([
    ['not where the subject has recovered since', 'ok', 500],
    ['also where this box had not seen the outage yet', 'ok', 20],
  ] as const)('%s', (_, status, second) => {
    const announced = announce(noOutages, [alert], 60_000);
    const [between] = reduce(announced, at(second, status), second * 1000, 0);
    const [, due] = reduce(between, at(second + 1, 'failing'), (second + 1) * 1000, 0);
    expect(due[0]?.alert.at === alert.at).toBe(second * 1000 < 60_000);
  });

  test('is forgotten once it was sent', () => {
    const [begun] = reduce(noOutages, at(0, 'failing'), 0, 0);
    const outage = { kind: 'device', subject: 'a', at: alert.at, endedAt: null, updatedAt: alert.at } as const;
    const told = record(announce(begun, [alert], 0), [outage]);
    expect(told.announced.size).toBe(0);
    expect(
      announce(
        told,
        Array.from({ length: 1_200 }, (_, index) => ({ ...alert, subject: `${index}` })),
        0,
      ).announced.size,
    ).toBe(200);
  });
});

test('of two records of a subject the newer stays, in any order', () => {
  const outage = { kind: 'device', subject: 'a', at: instantAt(0), endedAt: null, updatedAt: instantAt(1) } as const;
  const end = { ...outage, endedAt: instantAt(2), updatedAt: instantAt(2) };
  for (const news of [
    [outage, end],
    [end, outage],
  ]) {
    expect([...record(noOutages, news).records.values()]).toEqual([end]);
  }
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
