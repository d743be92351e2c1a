/** Calendars: cases in ten zones, each compared with what the calendar says by the rules of the zone. */
import { Temporal } from 'temporal-polyfill/implementation';
import { describe, expect, onTestFinished, test, vi } from 'vitest';
import type { CalendarEvent } from '../../service/contract/calendars.ts';
import { expandCalendar } from '../../service/feeds/calendar.ts';
import { readCalendar } from '../../service/feeds/calendar-text.ts';
import { decodeDocument, unfolded } from '../../service/feeds/text.ts';
import { isSoak, repeats, walks } from '../support/soak.ts';

const zones = [
  ...['Europe/Vienna', 'Europe/London', 'America/New_York', 'America/St_Johns', 'America/Sao_Paulo'],
  ...['Asia/Kolkata', 'Asia/Kathmandu', 'Australia/Lord_Howe', 'Pacific/Apia', 'Africa/Casablanca'],
];

const calendarOf = (...events: string[]): string =>
  [
    'BEGIN:VCALENDAR',
    'VERSION:2.0',
    ...events.flatMap((event) => ['BEGIN:VEVENT', event, 'END:VEVENT']),
    'END:VCALENDAR',
  ].join('\r\n');

/** The first Sunday on which a zone sets its clocks forward in 2026, else one in March. */
const springIn = (zone: string): Temporal.PlainDate => {
  const start = Temporal.PlainDate.from('2026-01-01').toZonedDateTime(zone);
  for (
    let at = start.getTimeZoneTransition('next');
    at !== null && at.year === 2026;
    at = at.getTimeZoneTransition('next')
  ) {
    const before = at.subtract({ seconds: 1 });
    if (at.offsetNanoseconds > before.offsetNanoseconds) return at.toPlainDate();
  }
  return Temporal.PlainDate.from('2026-03-29');
};

interface Case {
  name: string;
  /** Lines of the events. @param day the day of the change, or its neighbours */
  events(zone: string, day: (add: number) => string): string[];
  /** Starts as wall times, `T` between date and time, from the day before the change on. */
  starts(day: (add: number) => string): string[];
}

const at = (zone: string, date: string, time = '100000'): string =>
  `DTSTART;TZID=${zone}:${date.replaceAll('-', '')}T${time}`;
/** A wall time of a zone in UTC, as calendars write it. */
const utcOf = (zone: string, wall: string): string =>
  Temporal.PlainDateTime.from(wall).toZonedDateTime(zone).toInstant().toString().replaceAll(/[-:]/g, '');
const uid = 'UID:a\r\nSUMMARY:A';
const compact = (date: string): string => date.replaceAll('-', '');

const cases: Case[] = [
  {
    name: 'once',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(1))}\r\nDURATION:PT1H`],
    starts: (day) => [`${day(1)}T10:00`],
  },
  {
    name: 'every day, over the change',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(-30))}\r\nRRULE:FREQ=DAILY`],
    starts: (day) => [-1, 0, 1, 2, 3, 4, 5, 6].map((add) => `${day(add)}T10:00`),
  },
  {
    name: 'every day, later from one on, and not at all from another on',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-30))}\r\nRRULE:FREQ=DAILY`,
      `${uid}\r\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=${zone}:${compact(day(1))}T100000\r\n${at(zone, day(1), '123000')}`,
      `${uid}\r\nRECURRENCE-ID;RANGE=THISANDFUTURE;TZID=${zone}:${compact(day(4))}T100000\r\n${at(zone, day(4))}\r\nSTATUS:CANCELLED`,
    ],
    starts: (day) => [`${day(-1)}T10:00`, `${day(0)}T10:00`, ...[1, 2, 3].map((add) => `${day(add)}T12:30`)],
  },
  {
    name: 'every day in the hour that may be skipped',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(-2), '023000')}\r\nRRULE:FREQ=DAILY;COUNT=5`],
    starts: (day) => [-1, 0, 1, 2].map((add) => `${day(add)}T02:30`),
  },
  {
    name: 'every second day',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(-3))}\r\nRRULE:FREQ=DAILY;INTERVAL=2`],
    starts: (day) => [-1, 1, 3, 5].map((add) => `${day(add)}T10:00`),
  },
  {
    name: 'since the last century',
    events: (zone) => [`${uid}\r\n${at(zone, '1999-12-31', '080000')}\r\nRRULE:FREQ=DAILY`],
    starts: (day) => [-1, 0, 1, 2, 3, 4, 5, 6].map((add) => `${day(add)}T08:00`),
  },
  {
    name: 'except one',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=4\r\nEXDATE;TZID=${zone}:${compact(day(1))}T100000`,
    ],
    starts: (day) => [-1, 0, 2].map((add) => `${day(add)}T10:00`),
  },
  {
    name: 'except a date',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=4\r\nEXDATE;VALUE=DATE:${compact(day(0))}`,
    ],
    starts: (day) => [-1, 1, 2].map((add) => `${day(add)}T10:00`),
  },
  {
    name: 'one moved',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3`,
      `${uid}\r\nRECURRENCE-ID;TZID=${zone}:${compact(day(0))}T100000\r\n${at(zone, day(3), '120000')}`,
    ],
    starts: (day) => [`${day(-1)}T10:00`, `${day(1)}T10:00`, `${day(3)}T12:00`],
  },
  {
    name: 'one cancelled',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3`,
      `${uid}\r\nRECURRENCE-ID;TZID=${zone}:${compact(day(0))}T100000\r\n${at(zone, day(0))}\r\nSTATUS:CANCELLED`,
    ],
    starts: (day) => [-1, 1].map((add) => `${day(add)}T10:00`),
  },
  {
    name: 'all cancelled',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3\r\nSTATUS:CANCELLED`],
    starts: () => [],
  },
  {
    name: 'all cancelled, one of which was moved before',
    events: (zone, day) => [
      `${uid}\r\nRECURRENCE-ID;TZID=${zone}:${compact(day(0))}T100000\r\n${at(zone, day(3), '120000')}`,
      `${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3\r\nSTATUS:CANCELLED`,
    ],
    starts: () => [],
  },
  {
    name: 'one moved that is named by its date',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3`,
      `${uid}\r\nRECURRENCE-ID;VALUE=DATE:${compact(day(0))}\r\n${at(zone, day(3), '120000')}`,
    ],
    starts: (day) => [`${day(-1)}T10:00`, `${day(1)}T10:00`, `${day(3)}T12:00`],
  },
  {
    name: 'one whole day moved',
    events: (_, day) => [
      `${uid}\r\nDTSTART;VALUE=DATE:${compact(day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3`,
      `${uid}\r\nRECURRENCE-ID;VALUE=DATE:${compact(day(0))}\r\nDTSTART;VALUE=DATE:${compact(day(3))}`,
    ],
    starts: (day) => [-1, 1, 3].map((add) => `${day(add)}T00:00`),
  },
  {
    name: 'further dates',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(0))}\r\nRDATE;TZID=${zone}:${compact(day(2))}T140000,${compact(day(4))}T150000`,
    ],
    starts: (day) => [`${day(0)}T10:00`, `${day(2)}T14:00`, `${day(4)}T15:00`],
  },
  {
    name: 'further dates in UTC, its start among them',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(0))}\r\nRDATE;VALUE=PERIOD:${[`${day(0)}T10:00`, `${day(2)}T14:00`]
        .map((wall) => `${utcOf(zone, wall)}/PT1H`)
        .join()}\r\nRDATE:${utcOf(zone, `${day(4)}T15:00`)}`,
    ],
    starts: (day) => [`${day(0)}T10:00`, `${day(2)}T14:00`, `${day(4)}T15:00`],
  },
  {
    name: 'every day, later from one on, which is told in UTC',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(-30))}\r\nRRULE:FREQ=DAILY`,
      `${uid}\r\nRECURRENCE-ID;RANGE=THISANDFUTURE:${utcOf(zone, `${day(3)}T10:00`)}\r\n${at(zone, day(3), '123000')}`,
    ],
    starts: (day) => [
      ...[-1, 0, 1, 2].map((add) => `${day(add)}T10:00`),
      ...[3, 4, 5, 6].map((add) => `${day(add)}T12:30`),
    ],
  },
  {
    name: 'a newer version of an event',
    events: (zone, day) => [
      `${uid}\r\n${at(zone, day(0))}\r\nSEQUENCE:1`,
      `${uid}\r\n${at(zone, day(0), '090000')}\r\nSEQUENCE:0`,
    ],
    starts: (day) => [`${day(0)}T10:00`],
  },
  {
    name: 'before and after the days',
    events: (zone, day) => [
      `UID:b\r\nSUMMARY:B\r\n${at(zone, day(-2))}\r\nDURATION:PT1H`,
      `UID:c\r\nSUMMARY:C\r\n${at(zone, day(7))}\r\nDURATION:PT1H`,
      `${uid}\r\n${at(zone, day(6), '235900')}\r\nDURATION:PT1H`,
    ],
    starts: (day) => [`${day(6)}T23:59`],
  },
  {
    name: 'all days',
    events: (_, day) => [`${uid}\r\nDTSTART;VALUE=DATE:${compact(day(0))}\r\nDTEND;VALUE=DATE:${compact(day(2))}`],
    starts: (day) => [`${day(0)}T00:00`],
  },
  {
    name: 'a whole day that recurs, except one',
    events: (_, day) => [
      `${uid}\r\nDTSTART;VALUE=DATE:${compact(day(-1))}\r\nRRULE:FREQ=DAILY;COUNT=3\r\nEXDATE;VALUE=DATE:${compact(day(0))}`,
    ],
    starts: (day) => [-1, 1].map((add) => `${day(add)}T00:00`),
  },
  {
    name: 'a time without a zone',
    events: (_, day) => [`${uid}\r\nDTSTART:${compact(day(1))}T070000`],
    starts: (day) => [`${day(1)}T07:00`],
  },
  {
    name: 'until a date',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(-1))}\r\nRRULE:FREQ=DAILY;UNTIL=${compact(day(1))}`],
    starts: (day) => [-1, 0, 1].map((add) => `${day(add)}T10:00`),
  },
  {
    name: 'whole days until a time',
    events: (_, day) => [
      `${uid}\r\nDTSTART;VALUE=DATE:${compact(day(-1))}\r\nRRULE:FREQ=DAILY;UNTIL=${compact(day(1))}T000000Z`,
    ],
    starts: (day) => [-1, 0, 1].map((add) => `${day(add)}T00:00`),
  },
  {
    name: 'whole days until the midnight of the last one in UTC',
    events: (zone, day) => [
      `${uid}\r\nDTSTART;VALUE=DATE:${compact(day(-1))}\r\nRRULE:FREQ=DAILY;UNTIL=${utcOf(zone, `${day(1)}T00:00`)}`,
    ],
    starts: (day) => [-1, 0, 1].map((add) => `${day(add)}T00:00`),
  },
  {
    name: 'whole days until the last second of the last one in UTC',
    events: (zone, day) => [
      `${uid}\r\nDTSTART;VALUE=DATE:${compact(day(-1))}\r\nRRULE:FREQ=DAILY;UNTIL=${utcOf(zone, `${day(1)}T23:59:59`)}`,
    ],
    starts: (day) => [-1, 0, 1].map((add) => `${day(add)}T00:00`),
  },
  {
    name: 'an unreadable event among others',
    events: (zone, day) => [`UID:x\r\nSUMMARY:X\r\nDTSTART:nonsense`, `${uid}\r\n${at(zone, day(2))}`],
    starts: (day) => [`${day(2)}T10:00`],
  },
  {
    name: 'a zone in quotes with a prefix',
    events: (zone, day) => [`${uid}\r\nDTSTART;TZID="/example.com/${zone}":${compact(day(2))}T100000`],
    starts: (day) => [`${day(2)}T10:00`],
  },
  {
    name: 'every day, counted',
    events: (zone, day) => [`${uid}\r\n${at(zone, day(-5))}\r\nRRULE:FREQ=DAILY;COUNT=6`],
    starts: (day) => [-1, 0].map((add) => `${day(add)}T10:00`),
  },
];

describe.each(zones)('in %s', (zone) => {
  const change = springIn(zone);
  const day = (add: number): string => change.add({ days: add }).toString();
  const window = {
    from: Temporal.PlainDate.from(day(-1)).toZonedDateTime(zone).epochMilliseconds,
    until: Temporal.PlainDate.from(day(7)).toZonedDateTime(zone).epochMilliseconds,
  };
  const instant = (wall: string): string =>
    new Date(
      Temporal.PlainDateTime.from(wall).toZonedDateTime(zone, { disambiguation: 'compatible' }).epochMilliseconds,
    ).toISOString();

  test.each(cases.map((each) => [each.name, each] as const))('%s', (_, { events, starts }) => {
    const found = expandCalendar(readCalendar(calendarOf(...events(zone, day))), window, zone).events;
    expect(found.map(({ starts_at }) => starts_at)).toEqual(starts(day).map(instant));
  });
});

const vienna = (text: string, from = '2026-06-15'): CalendarEvent[] => {
  const date = Temporal.PlainDate.from(from).toZonedDateTime('Europe/Vienna');
  const window = { from: date.epochMilliseconds, until: date.add({ days: 8 }).epochMilliseconds };
  return expandCalendar(readCalendar(text), window, 'Europe/Vienna').events;
};

describe('zones and ends', () => {
  test.each([
    ['W. Europe Standard Time', '2026-06-15T08:00:00.000Z'],
    ['Eastern Standard Time', '2026-06-15T14:00:00.000Z'],
    ['Tokyo Standard Time', '2026-06-15T01:00:00.000Z'],
    ['Nowhere/At All', '2026-06-15T08:00:00.000Z'],
  ])('of Outlook are known: %s', (tzid, starts) => {
    const [event] = vienna(calendarOf(`${uid}\r\nDTSTART;TZID=${tzid}:20260615T100000`));
    expect(event?.starts_at).toBe(starts);
  });

  test('that only the file defines are those of the file', () => {
    const zone =
      'BEGIN:VTIMEZONE\r\nTZID:Own\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nTZOFFSETFROM:+0530\r\nTZOFFSETTO:+0530\r\nEND:STANDARD\r\nEND:VTIMEZONE';
    const text = calendarOf(`${uid}\r\nDTSTART;TZID=Own:20260615T100000`).replace(
      'VERSION:2.0',
      `VERSION:2.0\r\n${zone}`,
    );
    expect(vienna(text)[0]?.starts_at).toBe('2026-06-15T04:30:00.000Z');
  });

  test('UNTIL in UTC counts as an instant', () => {
    const rule = 'RRULE:FREQ=DAILY;UNTIL=20260616T080000Z';
    expect(vienna(calendarOf(`${uid}\r\nDTSTART;TZID=Europe/Vienna:20260615T100000\r\n${rule}`))).toHaveLength(2);
  });

  test('an event of several days is on until its end', () => {
    const [event] = vienna(
      calendarOf(`${uid}\r\nDTSTART;TZID=Europe/Vienna:20260614T220000\r\nDTEND;TZID=Europe/Vienna:20260616T020000`),
    );
    expect([event?.starts_at, event?.ends_at]).toEqual(['2026-06-14T20:00:00.000Z', '2026-06-16T00:00:00.000Z']);
  });

  test.each(['utf8', 'utf16le'] as const)('lines that are folded are read whole in %s', (encoding) => {
    const text = calendarOf('UID:a\r\nSUMMARY:ગુજરાતી ગ\r\n  ગીતો\r\nDTSTART:20260615T060000Z');
    const bytes = Buffer.from(`\ufeff${text}`, encoding);
    expect(vienna(decodeDocument(unfolded(bytes), null)).map(({ title }) => title)).toEqual(['ગુજરાતી ગ ગીતો']);
  });

  test('private and confidential events are marked, and titles are plain', () => {
    const events = vienna(
      calendarOf(
        'UID:1\r\nSUMMARY:Public\\, <b>bold</b>\r\nDTSTART:20260615T060000Z',
        'UID:2\r\nSUMMARY:Own <Smith>\r\nCLASS:PRIVATE\r\nDTSTART:20260615T070000Z',
        'UID:3\r\nSUMMARY:Sealed\r\nCLASS:CONFIDENTIAL\r\nDTSTART:20260615T080000Z\r\nLOCATION:Attic',
      ),
    );
    expect(events.map(({ title, location, private: isPrivate }) => [title, location, isPrivate])).toEqual([
      ['Public, bold', null, false],
      ['Own <Smith>', null, true],
      ['Sealed', 'Attic', true],
    ]);
  });

  test('events that take up no time are marked, and others have no such field', () => {
    const events = vienna(
      calendarOf(
        'UID:1\r\nTRANSP:TRANSPARENT\r\nDTSTART;VALUE=DATE:20260615',
        'UID:2\r\nTRANSP:OPAQUE\r\nDTSTART:20260615T070000Z',
        'UID:3\r\nDTSTART:20260615T080000Z',
      ),
    );
    expect(events.map((event) => ('free' in event ? event.free : null))).toEqual([true, null, null]);
  });
});

describe('a broken event', () => {
  const weekly = (rule: string): string => `UID:x\r\nSUMMARY:X\r\nDTSTART:20260616T080000Z\r\nRRULE:${rule}`;
  const good = `${uid}\r\nDTSTART:20260615T080000Z`;
  const june = { from: Date.parse('2026-06-14T22:00:00Z'), until: Date.parse('2026-06-22T22:00:00Z') };

  test.each<[string, string, titles: string[], unread: number]>([
    ['a rule in small letters', weekly('FREQ=weekly;byday=tu'), ['A', 'X'], 0],
    ['an empty BYDAY', weekly('FREQ=WEEKLY;BYDAY='), ['A'], 1],
    ['no such BYDAY', weekly('FREQ=WEEKLY;BYDAY=XX'), ['A'], 1],
    ['no such WKST', weekly('FREQ=WEEKLY;WKST=XX'), ['A'], 1],
    ['no such BYMONTHDAY', weekly('FREQ=MONTHLY;BYMONTHDAY=32'), ['A'], 1],
    ['no such BYSETPOS', weekly('FREQ=MONTHLY;BYDAY=TU;BYSETPOS=400'), ['A'], 1],
    ['no such FREQ', weekly('FREQ=FORTNIGHTLY'), ['A'], 1],
    ['a line that goes on without a space', `${weekly('FREQ=WEEKLY')}\r\nDESCRIPTION:See\r\nbelow`, ['A', 'X'], 0],
    ['a property without a colon', `${weekly('FREQ=WEEKLY')}\r\nLOCATION`, ['A', 'X'], 0],
    ['a quote that does not end', 'UID:x\r\nDTSTART;TZID="Europe/Vienna:20260616T080000', ['A'], 1],
    ['FREEBUSY that is none', `${weekly('FREQ=WEEKLY')}\r\nFREEBUSY:then`, ['A', 'X'], 0],
    ['no end', `${weekly('FREQ=WEEKLY')}\r\nBEGIN:VALARM\r\nACTION:AUDIO`, ['A'], 1],
    ['no start', 'UID:x\r\nSUMMARY:X', ['A'], 1],
    ['half a start', 'UID:x\r\nSUMMARY:X\r\nDTSTART:2024', ['A'], 1],
    ['a duration that is none', 'UID:x\r\nSUMMARY:X\r\nDTSTART:20260616T080000Z\r\nDURATION:1H', ['A'], 1],
    ['an empty EXDATE', `${weekly('FREQ=WEEKLY')}\r\nEXDATE:`, ['A'], 1],
    ['an RDATE that is none', `${weekly('FREQ=WEEKLY')}\r\nRDATE:then`, ['A'], 1],
    ['an empty rule', weekly(''), ['A'], 1],
    ['no such UNTIL', weekly('FREQ=WEEKLY;UNTIL=never'), ['A'], 1],
    ['an exception of no date', 'UID:x\r\nSUMMARY:X\r\nDTSTART:20260616T080000Z\r\nRECURRENCE-ID:then', ['A'], 1],
    [
      'an exception that is longer than there are years',
      'UID:x\r\nDTSTART:20260616T080000Z\r\nRECURRENCE-ID:20260616T080000Z\r\nDURATION:P99999999999999W',
      ['A'],
      1,
    ],
    ['one that is cancelled', 'UID:x\r\nDTSTART:20260616T080000Z\r\nSTATUS:CANCELLED', ['A'], 0],
  ])('does not hide the others: %s', (_, bad, titles, unread) => {
    for (const text of [calendarOf(good, bad), calendarOf(bad, good)]) {
      const found = expandCalendar(readCalendar(text), june, 'Europe/Vienna');
      expect([found.events.map(({ title }) => title), found.unread]).toEqual([titles, unread]);
    }
  });

  test('does not hide the others either where it is a zone, or busy time', () => {
    const parts = [
      'BEGIN:VTIMEZONE\r\nTZID:Own\r\nBEGIN:STANDARD\r\nRRULE:FREQ=YEARLY;BYDAY=XX\r\nEND:STANDARD\r\nEND:VTIMEZONE',
      'BEGIN:VFREEBUSY\r\nFREEBUSY:then\r\nEND:VFREEBUSY',
    ];
    for (const part of parts) {
      const text = calendarOf(good).replace('VERSION:2.0', `VERSION:2.0\r\n${part}`);
      expect(vienna(text)).toHaveLength(1);
    }
  });

  test.each([
    ['all are', calendarOf(weekly('FREQ=')), 'its lines are broken'],
    ['the text is cut off', calendarOf(good).replace(/END:VCALENDAR$/, ''), 'its lines are broken'],
  ])('is one of a broken calendar where %s', (_, text, message) => {
    expect(() => readCalendar(text)).toThrow(message);
  });
});

describe('what is too much', () => {
  test('a series that began decades ago goes on as one that is counted from its beginning', () => {
    const week = { from: Date.parse('2026-11-20T00:00:00Z'), until: Date.parse('2026-11-28T00:00:00Z') };
    const startsOf = (rule: string): string[] => {
      const text = calendarOf(`${uid}\r\n${at('Europe/Vienna', '2001-02-07')}\r\nRRULE:${rule}`);
      return expandCalendar(readCalendar(text), week, 'Europe/Vienna').events.map(({ starts_at }) => starts_at);
    };
    const parts = ['', ';BYDAY=MO,WE,FR', ';BYDAY=SU;WKST=SU', ';BYMONTH=11', ';BYHOUR=9,17'];
    for (const frequency of ['DAILY', 'WEEKLY']) {
      for (const part of parts) {
        for (const interval of isSoak ? [1, 2, 3, 5] : [1, 3]) {
          const rule = `FREQ=${frequency};INTERVAL=${interval}${part}`;
          expect([rule, startsOf(rule)]).toEqual([rule, startsOf(`${rule};COUNT=19999`)]);
        }
      }
    }
  });

  const longAgo = [
    ['DTSTART;VALUE=DATE:19800229', '2024-02-27'],
    ['DTSTART;VALUE=DATE:19800229', '2026-02-27'],
    ['DTSTART;VALUE=DATE:20040131', '2026-02-27'],
  ];

  test.each([['DTSTART;TZID=Europe/Vienna:20030329T023000', '2026-03-27'], ...walks(...longAgo)])(
    'as does one of months or years: %s from %s',
    (start, from) => {
      const days = { from: Date.parse(`${from}T00:00:00Z`), until: Date.parse(`${from}T00:00:00Z`) + 66 * 86_400_000 };
      const [month, day] = (/(\d\d)(\d\d)(?=T|$)/.exec(start) ?? []).slice(1).map(Number);
      const both = [';BYDAY=MO,FR;BYSETPOS=-1', ';BYMONTHDAY=-1,29', ';BYMONTH=2,3;BYMONTHDAY=29,31', ';BYMONTH=3'];
      const parts = {
        MONTHLY: ['', ...both, ';BYDAY=2TU', ';BYDAY=FR;BYMONTHDAY=13,27'],
        YEARLY: ['', ...both, `;BYMONTH=${month};BYMONTHDAY=${day}`, ';BYMONTH=3;BYDAY=-1SU', ';BYYEARDAY=60'],
      };
      for (const [frequency, all] of Object.entries(parts)) {
        for (const part of all) {
          for (const interval of [1, 2]) {
            const rule = `FREQ=${frequency};INTERVAL=${interval}${part}`;
            const found = (more: string) => {
              const text = calendarOf(`${uid}\r\n${start}\r\nRRULE:${rule}${more}`);
              return [rule, expandCalendar(readCalendar(text), days, 'Europe/Vienna')];
            };
            expect(found('')).toEqual(found(';COUNT=19999'));
          }
        }
      }
    },
  );

  test.each([
    [';VALUE=DATE:20240229', ''],
    [':19800229T100000Z', ''],
    [';VALUE=DATE:20240229', ';BYMONTH=2'],
    [';VALUE=DATE:20240229', ';COUNT=4'],
  ])('a yearly one of 29 February is in leap years alone: %s %s', (start, more) => {
    const years = { from: Date.parse('2024-01-01T00:00:00Z'), until: Date.parse('2040-01-01T00:00:00Z') };
    const { events } = expandCalendar(
      readCalendar(calendarOf(`${uid}\r\nDTSTART${start}\r\nRRULE:FREQ=YEARLY${more}`)),
      years,
      'UTC',
    );
    const days = events.map(({ starts_at }) => starts_at.slice(0, 10));
    expect(days).toEqual(['2024-02-29', '2028-02-29', '2032-02-29', '2036-02-29']);
  });

  test.each([
    ['birthdays', repeats(1_500, 10_000), '19800615', 'FREQ=YEARLY'],
    ['birthdays as Outlook writes them', repeats(1_000, 3_000), '19800615', 'FREQ=YEARLY;BYMONTH=6;BYMONTHDAY=15'],
    ['monthly meetings', repeats(1_000, 3_000), '20100113', 'FREQ=MONTHLY;BYDAY=2WE'],
  ])('thousands of %s are all there', (_, count, start, rule) => {
    const series = Array.from({ length: count }, (__, n) => `UID:${n}\r\nDTSTART;VALUE=DATE:${start}\r\nRRULE:${rule}`);
    const days = { from: Date.parse('2026-06-09T22:00:00Z'), until: Date.parse('2026-06-16T22:00:00Z') };
    const { events, unfinished } = expandCalendar(readCalendar(calendarOf(...series)), days, 'Europe/Vienna');
    expect([events.length, unfinished]).toEqual([count, []]);
  });

  test('thousands of series that began decades ago are all there', () => {
    const count = repeats(1_000, 2_000);
    const series = Array.from(
      { length: count },
      (_, n) => `UID:${n}\r\nSUMMARY:A\r\n${at('Europe/Vienna', '1999-01-04')}\r\nRRULE:FREQ=DAILY`,
    );
    const day = { from: Date.parse('2026-11-20T00:00:00Z'), until: Date.parse('2026-11-21T00:00:00Z') };
    expect(expandCalendar(readCalendar(calendarOf(...series)), day, 'Europe/Vienna').events).toHaveLength(count);
  });

  test('events that are over, or far off, take no reckoning by their zone', () => {
    const zoned = (date: string): string => `DTSTART;TZID=Europe/Vienna:${date}T100000`;
    const text = calendarOf(
      ...[`${zoned('20260601')}\r\nDTEND;TZID=Asia/Tokyo:20260601T200000`, `${zoned('20260601')}\r\nDURATION:P3DT1H`],
      ...[zoned('20270601'), 'DTSTART;VALUE=DATE:20260601', `${zoned('20260601')}\r\nRDATE:20260602T080000Z`],
    );
    const reckoned = vi.spyOn(Temporal.PlainDateTime.prototype, 'toZonedDateTime');
    onTestFinished(() => reckoned.mockRestore());
    expect(expandCalendar(readCalendar(text), june, 'Europe/Vienna').events).toEqual([]);
    expect(reckoned).not.toHaveBeenCalled();
  });

  test('an event is there while it is on by its exact time, wherever it starts and ends', () => {
    const [early, late] = ['Pacific/Kiritimati', 'Pacific/Midway'];
    for (const [starts, ends] of [
      [early, late],
      [late, early],
      [early, early],
    ] as const) {
      const event = `${at(starts, '2026-06-10')}\r\nDTEND;TZID=${ends}:20260615T100000`;
      const [from, until] = [
        Temporal.PlainDateTime.from('2026-06-10T10:00').toZonedDateTime(starts).epochMilliseconds,
        Temporal.PlainDateTime.from('2026-06-15T10:00').toZonedDateTime(ends).epochMilliseconds,
      ];
      for (const [window, count] of [
        [{ from: until - 1, until: until + 1 }, 1],
        [{ from: until, until: until + 1 }, 0],
        [{ from: from - 1, until: from + 1 }, 1],
        [{ from: from - 1, until: from }, 0],
      ] as const) {
        expect(expandCalendar(readCalendar(calendarOf(event)), window, 'UTC').events).toHaveLength(count);
      }
    }
  });

  const june = {
    from: Date.parse('2026-06-14T22:00:00Z'),
    until: Date.parse('2026-06-22T22:00:00Z'),
  };
  const normal = `UID:z\r\nSUMMARY:Choir\r\n${at('Europe/Vienna', '2026-06-01')}\r\nRRULE:FREQ=DAILY`;
  const long = `UID:y\r\nSUMMARY:Organ\r\n${at('Europe/Vienna', '1990-01-05')}\r\nRRULE:FREQ=MONTHLY;BYMONTHDAY=16`;

  test.each([
    ['FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30'],
    ['FREQ=HOURLY;BYMONTH=2;BYMONTHDAY=31'],
    ['FREQ=DAILY;INTERVAL=7;BYDAY=SA'],
    ['FREQ=HOURLY;INTERVAL=24;BYHOUR=5'],
    ['FREQ=DAILY;INTERVAL=999999999'],
    ['FREQ=YEARLY;BYMONTH=2;BYMONTHDAY=30'],
    ['FREQ=YEARLY;BYDAY=1MO;BYMONTH=4;BYMONTHDAY=20'],
    [`FREQ=DAILY;BYDAY=${'MO,'.repeat(2_000)}TU`],
  ])('rule %# that finds no date takes nothing from the other events', (rule) => {
    const before = performance.now();
    const bad = Array.from(
      { length: repeats(2, 5) },
      (_, n) => `UID:${n}\r\nSUMMARY:Never\r\nDTSTART:20260601T000000Z\r\nRRULE:${rule}`,
    );
    const { events } = expandCalendar(readCalendar(calendarOf(...bad, long, normal)), june, 'Europe/Vienna');
    expect(events.filter(({ title }) => title === 'Choir')).toHaveLength(8);
    expect(events.filter(({ title }) => title === 'Organ')).toHaveLength(1);
    expect(performance.now() - before).toBeLessThan(10_000);
  });

  test('what cannot be followed to its end is named, but for the title of a private event', () => {
    const never = 'DTSTART:20260601T000000Z\r\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30';
    const text = calendarOf(`UID:1\r\nSUMMARY:Never\r\n${never}`, `UID:2\r\nSUMMARY:Own\r\nCLASS:PRIVATE\r\n${never}`);
    expect(expandCalendar(readCalendar(text), june, 'Europe/Vienna').unfinished).toEqual(['Never', '2']);
  });

  test.each([
    ['MONTHLY;BYMONTHDAY=1,2,3;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=1', false],
    ['WEEKLY;BYDAY=MO,WE,FR;BYSETPOS=-1', false],
    ['YEARLY;BYWEEKNO=25;BYDAY=MO', false],
    ['MONTHLY;BYDAY=MO,TU,WE,TH,FR;BYSETPOS=11', true],
    ['WEEKLY;INTERVAL=2;BYDAY=MO;BYSETPOS=1', true],
  ])('of a rule that the library gets wrong the first date alone is shown, and it is named: %s', (rule, isKnown) => {
    const text = calendarOf(`UID:1\r\nSUMMARY:Choir\r\nDTSTART:20260615T080000Z\r\nRRULE:FREQ=${rule}`);
    const { events, unfinished } = expandCalendar(readCalendar(text), june, 'Europe/Vienna');
    expect(events.map(({ starts_at }) => starts_at)).toEqual(['2026-06-15T08:00:00.000Z']);
    expect(unfinished).toEqual(isKnown ? [] : ['Choir']);
  });

  test.each(['/example.com/America/New_York', '/x.org/2007_1/America/New_York', '/x.org/America/Indiana/Knox'])(
    'the prefix of a zone is left out: %s',
    (tzid) => {
      const text = calendarOf(`UID:1\r\nSUMMARY:Choir\r\nDTSTART;TZID=${tzid}:20260615T120000`);
      const [event] = expandCalendar(readCalendar(text), june, 'Europe/Vienna').events;
      expect(event?.starts_at).toBe(`2026-06-15T${tzid.endsWith('Knox') ? 17 : 16}:00:00.000Z`);
    },
  );

  test('a rule of a zone that never applies takes nothing either', () => {
    const zone = [
      'BEGIN:VTIMEZONE\r\nTZID:Own\r\nBEGIN:STANDARD\r\nDTSTART:19700101T000000\r\nRRULE:FREQ=DAILY;BYMONTH=2;BYMONTHDAY=30',
      'TZOFFSETFROM:+0530\r\nTZOFFSETTO:+0530\r\nEND:STANDARD\r\nEND:VTIMEZONE',
    ].join('\r\n');
    const events = Array.from({ length: 100 }, (_, n) => `UID:${n}\r\nDTSTART;TZID=Own:20260615T100000`);
    const text = calendarOf(...events).replace('VERSION:2.0', `VERSION:2.0\r\n${zone}`);
    expect(expandCalendar(readCalendar(text), june, 'Europe/Vienna').events).toHaveLength(100);
  });

  test('endless rules of seconds end, and those of hours go on for years', { timeout: 30_000 }, () => {
    const before = performance.now();
    const seconds = Array.from(
      { length: repeats(2, 10) },
      (_, index) => `UID:${index}\r\nDTSTART:20200101T000000Z\r\nRRULE:FREQ=SECONDLY`,
    );
    const hours = 'UID:h\r\nSUMMARY:Bell\r\nDTSTART:20100101T003000Z\r\nRRULE:FREQ=HOURLY;INTERVAL=2';
    const { events } = expandCalendar(readCalendar(calendarOf(...seconds, hours)), june, 'Europe/Vienna');
    expect(events.filter(({ title }) => title === 'Bell')).toHaveLength(96);
    expect(performance.now() - before).toBeLessThan(20_000);
  });

  test('more than 50,000 events are refused', () => {
    const text = calendarOf(...Array.from({ length: 50_001 }, () => 'DTSTART:20260615T060000Z'));
    expect(() => readCalendar(text)).toThrow('it has 50001 events, more than 50000');
  });

  test.each([['<html>'], [''], ['BEGIN:VCALENDAR\r\nBEGIN:VEVENT\r\nEND:VCALENDAR']])(
    'no calendar is refused: %j',
    (text) => {
      expect(() => readCalendar(text)).toThrow(/^it/);
    },
  );
});
