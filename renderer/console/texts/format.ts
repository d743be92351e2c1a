/** Times, sizes and counts in the language of the console, in the time zone of the site. */

export type Format = ReturnType<typeof createFormat>;

/** The last time that a `Date` can hold, ms since the epoch. */
const MAX_TIME = 8.64e15;

export const createFormat = (tag: string, timeZone: string) => {
  /** What is no time, in an answer that is wrong, is a dash. */
  const date = (options: Intl.DateTimeFormatOptions) => {
    const made = new Intl.DateTimeFormat(tag, { timeZone, ...options });
    return { format: (instant: number): string => (Math.abs(instant) <= MAX_TIME ? made.format(instant) : '–') };
  };
  const clock = { hour: '2-digit', minute: '2-digit', hourCycle: 'h23' } as const;
  const time = date(clock);
  const exact = date({ ...clock, second: '2-digit' });
  const dayTime = date({ day: 'numeric', month: 'short', ...clock });
  const day = date({ day: 'numeric', month: 'short' });
  const calendarDay = date({ day: 'numeric', month: 'short', year: 'numeric', timeZone: 'UTC' });
  const weekTime = date({ weekday: 'short', ...clock });
  const full = date({ weekday: 'long', day: 'numeric', month: 'long', ...clock });
  const longDay = date({ weekday: 'long', day: 'numeric', month: 'long', year: 'numeric' });
  const sameDay = date({ dateStyle: 'short' });
  // The first of January 2024 was a Monday.
  const weekday = new Intl.DateTimeFormat(tag, { weekday: 'short', timeZone: 'UTC' });
  const number = new Intl.NumberFormat(tag);
  const inPercent = new Intl.NumberFormat(tag, { style: 'percent' });
  const list = new Intl.ListFormat(tag, { type: 'conjunction' });
  // Creating one takes longer than a thousand uses.
  const units = new Map<string, Intl.NumberFormat>();
  const inUnits = (unit: string, value: number, maximumFractionDigits: number): string => {
    const key = `${unit} ${maximumFractionDigits}`;
    const options = { style: 'unit', unit, unitDisplay: 'short', maximumFractionDigits } as const;
    const made = units.get(key) ?? new Intl.NumberFormat(tag, options);
    units.set(key, made);
    return made.format(value);
  };
  const unit = (name: string, value: number): string => inUnits(name, value, 0);
  const size = (name: string, value: number): string => inUnits(name, value, value < 10 ? 1 : 0);
  const pad = (value: number): string => String(value).padStart(2, '0');

  return {
    /** `14:05`, with the day where it is not today. */
    when: (iso: string, now: number): string => {
      const instant = Date.parse(iso);
      return sameDay.format(instant) === sameDay.format(now) ? time.format(instant) : dayTime.format(instant);
    },
    /** `14:05` */
    time: (instant: number): string => time.format(instant),
    /** `14:05:09` */
    exactTime: (instant: number): string => exact.format(instant),
    /** `Tuesday, 24 November, 14:05` */
    moment: (instant: number): string => full.format(instant),
    /** `3 min`, `2 h`, `5 days` */
    duration: (ms: number): string => {
      const seconds = Math.round(Math.abs(ms) / 1000);
      if (seconds < 60) return unit('second', seconds);
      if (seconds < 5400) return unit('minute', Math.round(seconds / 60));
      return seconds < 172_800 ? unit('hour', Math.round(seconds / 3600)) : unit('day', Math.round(seconds / 86_400));
    },
    /** `0:42`, `1:02:03` */
    length: (seconds: number): string => {
      const whole = Math.round(seconds);
      const [h, m, s] = [Math.floor(whole / 3600), Math.floor(whole / 60) % 60, whole % 60];
      return h > 0 ? `${h}:${pad(m)}:${pad(s)}` : `${m}:${pad(s)}`;
    },
    /** `Tuesday, 24 November 2026` */
    longDay: (instant: number): string => longDay.format(instant),
    /** `23 Nov` */
    day: (instant: number): string => day.format(instant),
    /** `23 Nov 2026`, of a date such as `2026-11-23`, which is the same in every time zone. */
    date: (date: string): string => calendarDay.format(Date.parse(date)),
    /** `Mon 06:00` */
    dayAndTime: (instant: number): string => weekTime.format(instant),
    /** `1.5 h`, `30 min` */
    hours: (value: number): string => (value < 1 ? unit('minute', value * 60) : inUnits('hour', value, 2)),
    /** `Mon`; 1 is Monday, 7 is Sunday. */
    weekday: (day: number): string => weekday.format(Date.UTC(2024, 0, day)),
    bytes: (count: number): string => {
      if (count < 1000) return size('byte', count);
      if (count < 1e6) return size('kilobyte', count / 1e3);
      return count < 1e9 ? size('megabyte', count / 1e6) : size('gigabyte', count / 1e9);
    },
    number: (value: number): string => number.format(value),
    /** `40 %`, of a share from 0 to 1. */
    percent: (share: number): string => inPercent.format(share),
    list: (items: readonly string[]): string => list.format(items),
    /** The first `most` as a list, and how many more there are. */
    few: (items: readonly string[], most: number, more: (values: { count: number }) => string): string =>
      list.format(items.length > most + 1 ? [...items.slice(0, most), more({ count: items.length - most })] : items),
    /** With a full stop, unless it ends with one, as `3 Min.` does. */
    sentence: (text: string): string => (text.endsWith('.') ? text : `${text}.`),
    /** The time zone: `America/New York`. */
    zone: timeZone.replaceAll('_', ' '),
  };
};
