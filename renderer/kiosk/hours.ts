import type { Hours } from '../../service/contract/kiosk.ts';

interface Words {
  alwaysOn: string;
  daily: string;
  closed: string;
}

/** @param tag the BCP 47 tag of the language of the words */
export const hoursIn = (hours: Hours, tag: string, { alwaysOn, daily, closed }: Words): string => {
  if (hours === null || hours.length === 0) return alwaysOn;
  const weekday = new Intl.DateTimeFormat(tag, { weekday: 'short', timeZone: 'UTC' });
  // January 2024 began on a Monday.
  const namesOf = (days: readonly number[]): string =>
    days.map((each) => weekday.format(Date.UTC(2024, 0, each))).join(', ');
  const day = new Intl.DateTimeFormat(tag, { dateStyle: 'medium', timeZone: 'UTC' });
  return hours
    .map(({ days, date, open, close }) => {
      const weekly = days === undefined ? daily : namesOf(days);
      const when = date === undefined ? weekly : day.format(Date.parse(date));
      return open === undefined || close === undefined ? `${when} ${closed}` : `${when} ${open}–${close}`;
    })
    .join('; ');
};
