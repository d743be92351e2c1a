/** The upcoming entries of a timetable, by the wall clock of the site; pure. */
import type { PlaylistPayload } from '../../../service/contract/playlist.ts';
import { addDays, instantOf, wallTimeOf, weekdayOf } from '../../../service/domain/wall-time.ts';

export type Entry = PlaylistPayload['timetableGroups'][number]['entries'][number];

export interface Agenda {
  /** Midnight of the day of the entries, and how many days ahead it is; 0: today. */
  day: number;
  daysAhead: number;
  /** Ordered by time, ms since the epoch. */
  entries: { entry: Entry; at: number }[];
}

/** An entry is upcoming until the minute that it names is over. */
const STAYS_MS = 60_000;
/** Every weekday recurs within a week. */
const DAYS_AHEAD = 7;

const isOf = ({ days_json }: Entry, weekday: number): boolean =>
  days_json === null || (JSON.parse(days_json) as number[]).includes(weekday);

/** The remaining entries of today, else the entries of the next day that has any; null: no day has entries. */
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
