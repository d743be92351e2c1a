/** What is still to come of a timetable: pure, by the wall clocks of the site. */
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { addDays, instantOf, wallTimeOf, weekdayOf } from '../../../service/domain/wall-time.ts';

export type Entry = PlaylistPayload['timetableGroups'][number]['entries'][number];

export interface Agenda {
  /** Midnight of the day that the entries are of, and how many days ahead it is; 0 is today. */
  day: number;
  daysAhead: number;
  /** In the order of their moments, which are ms since the epoch. */
  entries: { entry: Entry; at: number }[];
}

/** An entry stays for the minute that it names. */
const STAYS_MS = 60_000;
/** Whatever happens on weekdays happens again within a week. */
const DAYS_AHEAD = 7;

const isOf = ({ days_json }: Entry, weekday: number): boolean =>
  days_json === null || (JSON.parse(days_json) as number[]).includes(weekday);

/** The entries of the rest of today or, where there are none, of the next day that has any; null: there is no such day. */
export const agendaOf = (entries: readonly Entry[], now: number, timeZone: string): Agenda | null => {
  const today = wallTimeOf(now, timeZone).date;
  for (let daysAhead = 0; daysAhead <= DAYS_AHEAD; daysAhead++) {
    const date = addDays(today, daysAhead);
    const left = entries
      .filter((entry) => isOf(entry, weekdayOf(date)))
      .map((entry) => ({ entry, at: instantOf(date, entry.time, timeZone) }))
      .filter(({ at }) => now < at + STAYS_MS)
      .sort((one, other) => one.at - other.at);
    if (left.length > 0) return { day: instantOf(date, '00:00', timeZone), daysAhead, entries: left };
  }
  return null;
};
