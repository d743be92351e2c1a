import { describe, expect, it } from 'vitest';
import { endOf, isOn, nextChange, type Schedule } from '../../service/domain/slide-schedule.ts';

const always: Schedule = {
  schedule_mode: 'always',
  schedule_start_datetime: null,
  schedule_end_datetime: null,
  schedule_start_time: null,
  schedule_end_time: null,
  schedule_days_json: null,
};
const between = (start: string | null, end: string | null): Schedule => ({
  ...always,
  schedule_mode: 'between',
  schedule_start_datetime: start,
  schedule_end_datetime: end,
});
const weekly = (start: string | null, end: string | null, days: string | null = null): Schedule => ({
  ...always,
  schedule_mode: 'weekly',
  schedule_start_time: start,
  schedule_end_time: end,
  schedule_days_json: days,
});

const vienna = 'Europe/Vienna';

describe('a slide is on', () => {
  it.each([
    ['always', always, '2026-07-01T00:00:00Z', true],
    ['from the start on', between('2026-07-01T10:00:00Z', null), '2026-07-01T10:00:00Z', true],
    ['not a moment before', between('2026-07-01T10:00:00Z', null), '2026-07-01T09:59:59.999Z', false],
    ['until before the end', between(null, '2026-07-01T10:00:00Z'), '2026-07-01T09:59:59.999Z', true],
    ['not at the end', between(null, '2026-07-01T10:00:00Z'), '2026-07-01T10:00:00Z', false],
    ['by an offset of its own', between('2026-07-01T10:00:00+05:30', null), '2026-07-01T04:30:00Z', true],
    ['by one without a colon', between('2026-07-01T10:00:00.25+0530', null), '2026-07-01T04:30:00.250Z', true],
    ['not before that', between('2026-07-01T10:00:00.25+0530', null), '2026-07-01T04:30:00.249Z', false],
    ['by the wall clock of the site', between('2026-07-01T10:00', null), '2026-07-01T08:00:00Z', true],
    ['not before the wall clock says so', between('2026-07-01T10:00', null), '2026-07-01T07:59:59Z', false],
    ['from midnight of a bare date', between('2026-07-01', null), '2026-06-30T22:00:00Z', true],
    ['in its hours', weekly('09:00', '17:00'), '2026-07-01T07:00:00Z', true],
    ['not after its hours', weekly('09:00', '17:00'), '2026-07-01T15:00:00Z', false],
    ['to the second', weekly('09:00:30', '17:00'), '2026-07-01T07:00:29Z', false],
    ['on its days (2026-07-01 is a Wednesday)', weekly('09:00', '17:00', '[3]'), '2026-07-01T08:00:00Z', true],
    ['not on others', weekly('09:00', '17:00', '[1,2,4,5,6,7]'), '2026-07-01T08:00:00Z', false],
    ['never on no days', weekly(null, null, '[]'), '2026-07-01T08:00:00Z', false],
    ['all day without times', weekly(null, null, '[3]'), '2026-07-01T21:59:59Z', true],
    ['past midnight, by the day it began', weekly('22:00', '02:00', '[2]'), '2026-06-30T23:30:00Z', true],
    ['not past midnight of another day', weekly('22:00', '02:00', '[3]'), '2026-06-30T23:30:00Z', false],
    ['around the clock where both times are one', weekly('08:00', '08:00', '[2]'), '2026-07-01T05:59:00Z', true],
    ['from the jump where spring skips its start', weekly('02:30', '04:00'), '2026-03-29T01:00:00Z', true],
    ['not before it', weekly('02:30', '04:00'), '2026-03-29T00:59:59Z', false],
    ['from the first of the hours that autumn doubles', weekly('02:30', '03:30'), '2026-10-25T00:30:00Z', true],
  ] as const)('%s', (_, schedule, moment, expected) => {
    expect(isOn(schedule, Date.parse(moment), vienna)).toBe(expected);
  });

  it('at a moment between two milliseconds', () => {
    const start = Date.parse('2026-07-01T07:00:00Z');
    expect(isOn(weekly('09:00', '17:00'), start - 0.5, vienna)).toBe(false);
    expect(isOn(weekly('09:00', '17:00'), start + 0.5, vienna)).toBe(true);
  });

  it('weekly only inside its two datetimes', () => {
    const schedule = { ...weekly('09:00', '17:00'), schedule_end_datetime: '2026-07-01T12:00' };
    expect(isOn(schedule, Date.parse('2026-07-01T09:59:00Z'), vienna)).toBe(true);
    expect(isOn(schedule, Date.parse('2026-07-01T10:00:00Z'), vienna)).toBe(false);
  });
});

describe('the end of what is on', () => {
  const now = Date.parse('2026-07-01T08:00:00Z');

  it.each([
    ['never comes for what is always on', always, null],
    ['never comes for what is open', between('2026-06-01', null), null],
    ['is that of the span', between('2026-06-01', '2026-07-03T10:00:00Z'), '2026-07-03T10:00:00Z'],
    ['is that of the hours', weekly('09:00', '17:00'), '2026-07-01T15:00:00Z'],
    ['is that of the day where hours run through the night', weekly('08:00', '06:00'), '2026-07-02T04:00:00Z'],
    ['is that of the last day where whole days touch', weekly(null, null, '[3,4,5,6,7]'), '2026-07-05T22:00:00Z'],
    ['never comes where every day touches the next', weekly('07:00', '07:00'), null],
    [
      'is the second datetime where every day touches the next',
      { ...weekly('07:00', '07:00'), schedule_end_datetime: '2026-09-01T00:00' },
      '2026-08-31T22:00:00Z',
    ],
    ['has come for what is not on', weekly('12:00', '13:00'), '2026-07-01T08:00:00Z'],
  ] as const)('%s', (_, schedule, expected) => {
    expect(endOf(schedule, now, vienna)).toBe(expected === null ? Number.POSITIVE_INFINITY : Date.parse(expected));
  });
});

describe('the next change', () => {
  it.each([
    ['never comes for what is always on', [always], null],
    ['never comes where there is nothing', [], null],
    ['never comes after the end', [between(null, '2026-06-01')], null],
    ['never comes on no days', [weekly('09:00', '17:00', '[]')], null],
    ['is a start to come', [between('2026-07-01T10:00:00Z', null)], '2026-07-01T10:00:00Z'],
    ['is the end of what is on', [between('2026-06-01T10:00:00Z', '2026-07-01T11:00:00Z')], '2026-07-01T11:00:00Z'],
    [
      'is the earliest of all',
      [weekly('09:00', '17:00'), between('2026-07-01T08:00:00Z', null)],
      '2026-07-01T07:00:00Z',
    ],
    ['is found on the day after', [weekly('01:00', '17:00', '[4]')], '2026-07-01T23:00:00Z'],
    ['is found a week ahead', [weekly('01:00', '01:00:01', '[3]')], '2026-07-07T23:00:00Z'],
    [
      'is found years ahead',
      [{ ...weekly('01:00', '17:00', '[7]'), schedule_start_datetime: '2029-12-31T12:00' }],
      '2030-01-06T00:00:00Z',
    ],
    [
      'is found past a window that spring skips',
      [{ ...weekly('02:10', '02:50', '[7]'), schedule_start_datetime: '2027-03-27T00:00' }],
      '2027-04-04T00:10:00Z',
    ],
  ] as const)('%s', (_, schedules, expected) => {
    expect(nextChange([...schedules], Date.parse('2026-07-01T00:00:00Z'), vienna)).toBe(
      expected === null ? Number.POSITIVE_INFINITY : Date.parse(expected),
    );
  });
});
