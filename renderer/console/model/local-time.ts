/** Converts wall-clock times of the site, both ways. */
import { instantOf, wallTimeOf } from '../../../service/domain/wall-time.ts';

/** ms since the epoch; null: it is no date and time. */
export const instantOfInput = (value: string, timeZone: string): number | null => {
  const [, date = '', time = ''] = /^(\d{4}-\d\d-\d\d)T(\d\d:\d\d)/.exec(value) ?? [];
  return date === '' ? null : instantOf(date, time, timeZone);
};

/** As an `<input type="datetime-local">` has it. */
export const inputOf = (instant: number, timeZone: string): string => {
  const { date, minutes } = wallTimeOf(instant, timeZone);
  const pad = (value: number): string => String(value).padStart(2, '0');
  return `${date}T${pad(Math.floor(minutes / 60))}:${pad(minutes % 60)}`;
};
