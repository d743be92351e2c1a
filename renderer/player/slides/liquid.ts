/** Templates in Liquid, with filters for numbers, dates and times in the language of the browser. */
import { type FilterImplOptions, Liquid, filters as liquidFilters } from 'liquidjs';
import { type TemplateFilter, templateLimits } from '../../../service/domain/template.ts';
import { instantAt } from '../../../service/domain/wall-time.ts';

/** ISO 8601: a date, with optional time, without an offset. */
const LOCAL = /^\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d(?:\.\d+)?)?)?$/;

interface Place {
  /** BCP 47 tag of the language. */
  locale: string;
  /** IANA name of the time zone. */
  timeZone: string;
}

const numeric = (value: unknown): number | null => {
  const number = typeof value === 'string' && value.trim() !== '' ? Number(value) : value;
  return typeof number === 'number' && Number.isFinite(number) ? number : null;
};

/** A date as Liquid accepts it: a Date, an argument of `new Date`, or seconds since the epoch. */
const moment = (value: unknown): number | null => {
  const seconds = numeric(value);
  const time = new Date(seconds === null ? (value as string | Date) : seconds * 1000).getTime();
  return Number.isFinite(time) && value !== null && value !== undefined ? time : null;
};

const UNITS = [
  ['day', 86_400],
  ['hour', 3600],
  ['minute', 60],
  ['second', 1],
] as const;

const liquidDate = liquidFilters['date'] as Exclude<FilterImplOptions, { handler: unknown }>;

type DateStyle = Intl.DateTimeFormatOptions['dateStyle'];

/** Styles of days beyond those of ECMA-402. */
const dayStyles: Readonly<Record<string, Intl.DateTimeFormatOptions>> = {
  weekday: { weekday: 'short' },
  'month-day': { day: 'numeric', month: 'long' },
};

/** Values that are no number, or no date, are printed unchanged. */
const createFilters = (
  { locale, timeZone }: Place,
  extras: Extras,
): Record<TemplateFilter | 'date', FilterImplOptions> => {
  /** Formatters by their options: creating one is slow, and templates are rendered every second. */
  const clocks = new Map<string, Intl.DateTimeFormat>();
  const clockFor = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat => {
    const key = JSON.stringify(options);
    const clock = clocks.get(key) ?? new Intl.DateTimeFormat(locale, options);
    clocks.set(key, clock);
    return clock;
  };
  const wall = new Intl.DateTimeFormat('sv', { timeZone, dateStyle: 'short', timeStyle: 'medium' });
  /** Minutes from the site's time to UTC, as in `Date.getTimezoneOffset`; undefined in years of more than four digits. */
  const offsetAt = (time: number): number | undefined => {
    const local = Date.parse(`${wall.format(time).replace(' ', 'T')}Z`);
    return Number.isNaN(local) ? undefined : (Math.floor(time / 1000) - local / 1000) / 60;
  };
  /** A text without an offset is a date and time of the site; all other values are unchanged. */
  const atSite = (value: unknown): unknown => {
    const time = typeof value === 'string' && LOCAL.test(value) ? instantAt(value, timeZone) : null;
    return time === null ? value : new Date(time);
  };
  const number =
    (options: (argument: string) => Intl.NumberFormatOptions) =>
    (value: unknown, argument?: unknown, digits?: unknown): unknown => {
      const amount = numeric(value);
      if (amount === null) return value;
      const places = numeric(digits);
      const fraction = places === null ? {} : { minimumFractionDigits: places, maximumFractionDigits: places };
      return new Intl.NumberFormat(locale, { ...options(String(argument ?? '')), ...fraction }).format(amount);
    };
  const date =
    (options: (style: DateStyle) => Intl.DateTimeFormatOptions, usual: DateStyle) =>
    (value: unknown, style: unknown = usual, zone: unknown = timeZone): unknown => {
      const time = moment(atSite(value));
      if (time === null) return value;
      return clockFor({ ...options(style as DateStyle), timeZone: String(zone) }).format(time);
    };
  const timeOf = date((timeStyle) => ({ timeStyle }), 'short');
  const timeOfDay = (value: unknown, style: unknown = 'short'): string | null => {
    const [, hours, minutes, seconds = 0] = /^(\d\d?):(\d\d)(?::(\d\d))?$/.exec(String(value)) ?? [];
    if (minutes === undefined) return null;
    const clock = clockFor({ timeStyle: style as DateStyle, timeZone: 'UTC' });
    return clock.format(Date.UTC(2024, 0, 1, Number(hours), Number(minutes), Number(seconds)));
  };
  const plain = number(() => ({}));
  const percent = number(() => ({ style: 'percent' }));

  return {
    /** Liquid's own filter, given the offset: with only the name of the zone it creates two formatters for each date. */
    date(value: unknown, format?: unknown, zone?: unknown): unknown {
      const then = atSite(value);
      // `%Z` prints the name.
      const time = zone === undefined && !String(format).includes('%Z') ? moment(then) : null;
      return liquidDate.call(this, then, format, time === null ? zone : offsetAt(time));
    },
    /** `| number`, `| number: 1` (decimal places) */
    number: (value: unknown, digits?: unknown) => plain(value, '', digits),
    /** Of a share: `0.42 | percent`, `| percent: 1` (decimal places) */
    percent: (value: unknown, digits?: unknown) => percent(value, '', digits),
    /** `| currency: "EUR"` (ISO 4217), `| currency: "EUR", 0` (decimal places) */
    currency: number((currency) => ({ style: 'currency', currency })),
    /** `| unit: "celsius"` (ECMA-402), `| unit: "kilometer-per-hour", 1` (decimal places) */
    unit: number((unit) => ({ style: 'unit', unit, unitDisplay: unit === 'day' ? 'long' : 'short' })),
    /** `| day`, `| day: "full"` (or `medium`, `short`, `weekday`, `month-day`) */
    day: date((dateStyle) => dayStyles[dateStyle ?? ''] ?? { dateStyle }, 'long'),
    /**
     * `| time`, `| time: "medium"` (with seconds), `| time: "short", "Asia/Tokyo"`; of a moment, or of a time of day such as
     * `"19:30"`
     */
    time: (value: unknown, style?: unknown, zone?: unknown) => timeOfDay(value, style) ?? timeOf(value, style, zone),
    /** How long ago it was, or how long it is until then: `| ago` */
    ago(value: unknown): unknown {
      const time = moment(atSite(value));
      const now = moment(this.context.getSync(['now']));
      if (time === null || now === null) return value;
      const seconds = (time - now) / 1000;
      const [unit, length] = UNITS.find((each) => Math.abs(seconds) >= each[1]) ?? UNITS[3];
      return new Intl.RelativeTimeFormat(locale, { numeric: 'auto' }).format(Math.trunc(seconds / length), unit);
    },
    /** Seconds until a date and time, which without an offset is one of the site: `| until`; negative: it is over */
    until(value: unknown): unknown {
      const time = moment(atSite(value));
      const now = moment(this.context.getSync(['now']));
      return time === null || now === null ? null : Math.ceil((time - now) / 1000);
    },
    /** Text with emphasis, lists and paragraphs: `| markdown` */
    markdown: { raw: true, handler: (value: unknown) => extras.markdown?.(String(value ?? '')) ?? '' },
    /** The address of a picture of a QR code: `<img src="{{ link | qr }}">` */
    qr: (value: unknown) => extras.qr?.(String(value ?? '')) ?? '',
  };
};

/** Filters whose libraries most templates do not need. */
export interface Extras {
  /** HTML of Markdown. */
  markdown?: (text: string) => string;
  /** The address of a picture of a QR code. */
  qr?: (text: string) => string;
}

/** Loads what the filters of a template need. */
export const loadExtras = async (source: string): Promise<Extras> => ({
  ...(/\|\s*markdown\b/.test(source) && { markdown: (await import('./markdown.ts')).markdown }),
  ...(/\|\s*qr\b/.test(source) && { qr: (await import('./qr-code.ts')).qrPicture }),
});

/** The values for a template. */
export type Scope = Readonly<Record<string, unknown>>;

interface TemplateOptions {
  /** IANA name of the time zone of dates. */
  timeZone: string;
  /** BCP 47 tag of the language of numbers and dates. */
  locale: string;
}

/** The first line of a Liquid error has the cause and the position; the rest quotes the template. */
const attempt = <T>(what: string, act: () => T): T => {
  try {
    return act();
  } catch (error) {
    throw new Error(`${what}: ${(error as Error).message.split('\n')[0]}`, { cause: error });
  }
};

/**
 * Compiles a Liquid template. Printed values are escaped; the template reads nothing but its scope, and can
 * include no files. Throws on a syntax error; the returned function throws if rendering fails or
 * exceeds the limits.
 */
export const compile = (
  source: string,
  { timeZone, locale }: TemplateOptions,
  extras: Extras = {},
): ((scope: Scope) => string) => {
  const engine = new Liquid({
    ...templateLimits,
    templates: {},
    outputEscape: 'escape',
    ownPropertyOnly: true,
    timezoneOffset: timeZone,
    locale,
  });
  const filters = createFilters({ locale, timeZone }, extras);
  for (const [name, filter] of Object.entries(filters)) engine.registerFilter(name, filter);
  const parsed = attempt('the template cannot be read', () => engine.parse(source));
  const print = (scope: Scope): string => String(engine.renderSync(parsed, scope));
  return (scope) =>
    attempt('the template failed', () => {
      try {
        return print(scope);
      } catch {
        // The time limit goes on while a busy machine does something else.
        return print(scope);
      }
    });
};
