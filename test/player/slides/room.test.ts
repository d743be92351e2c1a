/** The design of a room and the view of a room in a calendar slide say the same of what is on. */
import { readFileSync } from 'node:fs';
import fc from 'fast-check';
import { expect, it } from 'vitest';
import { compile } from '../../../renderer/player/slides/liquid.ts';
import type { CalendarEvent } from '../../../service/contract/calendars.ts';
import { roomAt } from '../../../service/domain/calendar-view.ts';

const timeZone = 'Europe/Vienna';
const file = new URL('../../../resources/designs/room/template.liquid', import.meta.url);
const render = compile(readFileSync(file, 'utf8'), { timeZone, locale: 'en-GB' });
const midnight = Date.parse('2026-06-15T00:00:00+02:00');
const HOUR = 3_600_000;

const event = (title: string, from: number, until: number, all_day = false): CalendarEvent => ({
  id: title,
  title,
  location: null,
  starts_at: new Date(midnight + from * HOUR).toISOString(),
  ends_at: new Date(midnight + until * HOUR).toISOString(),
  all_day,
  private: false,
});
const htmlOf = (events: CalendarEvent[], now: number): string => {
  const calendars = { oak: { status: 'ok', events } };
  return render({ calendars, calendar: 'oak', room: 'Oak', free: 'Free', taken: 'In use', now: new Date(now) });
};
const signOf = (events: CalendarEvent[], now: number): { isTaken: boolean; what: string | undefined } => {
  const html = htmlOf(events, now);
  return { isTaken: html.includes('In use'), what: /class="what" dir="auto">(.*?)</.exec(html)?.[1] };
};

it('is in use on a day that is booked whole, until a meeting says more', () => {
  const events = [event('Open house', 0, 24, true), event('Choir', 9, 10)];
  expect(signOf(events, midnight + 8 * HOUR)).toEqual({ isTaken: true, what: 'Open house' });
  expect(signOf(events, midnight + 9 * HOUR)).toEqual({ isTaken: true, what: 'Choir' });
  expect(signOf(events.slice(1), midnight + 8 * HOUR)).toEqual({ isTaken: false, what: undefined });
});

it('is free while what is on takes up no room, which is not announced either', () => {
  const events = [
    { ...event('Birthday', 0, 24, true), free: true },
    { ...event('Focus', 9, 10), free: true },
  ];
  expect(signOf(events, midnight + 9 * HOUR)).toEqual({ isTaken: false, what: undefined });
  expect(roomAt(events, midnight + 8 * HOUR, timeZone)).toEqual({ current: null, next: [] });
  expect(htmlOf(events, midnight + 8 * HOUR)).not.toContain('Focus');
});

it('is what the view of a room says, at whatever hour', () => {
  const hours = fc.tuple(
    fc.integer({ min: -30, max: 30 }),
    fc.integer({ min: 0, max: 40 }),
    fc.boolean(),
    fc.boolean(),
  );
  fc.assert(
    fc.property(fc.array(hours, { maxLength: 8 }), fc.integer({ min: 0, max: 23 }), (list, hour) => {
      const events = list
        .map(([from, length, isWhole, free], n) => ({
          ...(isWhole
            ? event(`e${n}`, Math.floor(from / 24) * 24, Math.floor(from / 24) * 24 + 24, true)
            : event(`e${n}`, from, from + length)),
          free,
        }))
        .sort((a, b) => Date.parse(a.starts_at) - Date.parse(b.starts_at));
      const now = midnight + hour * HOUR;
      const { current } = roomAt(events, now, timeZone);
      expect(signOf(events, now)).toEqual({ isTaken: current !== null, what: current?.title });
    }),
  );
});
