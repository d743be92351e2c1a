import { localeOf } from '../../shared/language.ts';

/** A moment of the past: the time today, the weekday within a week, else the date. */
export const since = (date: number, now: number, timeZone: string): string => {
  const tell = (moment: number, options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(localeOf(navigator), { ...options, timeZone }).format(moment);
  const day = (moment: number): string => tell(moment, { dateStyle: 'short' });
  if (day(date) === day(now)) return tell(date, { timeStyle: 'short' });
  const isRecent = Math.abs(now - date) < 6 * 86_400_000;
  return tell(date, isRecent ? { weekday: 'long', hour: 'numeric', minute: '2-digit' } : { dateStyle: 'long' });
};
