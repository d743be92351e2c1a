/** The hours in which updates are installed. */

/** Converts `HH:MM` to minutes since midnight. */
export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Whether a time of day is in an interval; an interval that ends at or before its start runs past midnight. */
export const isBetween = (minutes: number, from: number, until: number): boolean =>
  from < until ? minutes >= from && minutes < until : minutes >= from || minutes < until;
