/** The hours of a day at which an update may go in. */

/** `HH:MM` as minutes since midnight. */
export const minutesOf = (time: string): number => Number(time.slice(0, 2)) * 60 + Number(time.slice(3, 5));

/** Whether a time of day lies between two; where the end is not after the start, they reach past midnight. */
export const isBetween = (minutes: number, from: number, until: number): boolean =>
  from < until ? minutes >= from && minutes < until : minutes >= from || minutes < until;
