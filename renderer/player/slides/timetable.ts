/** Timetables: the upcoming entries by the wall clock of the site, on pages of rows as large as they fit. */
import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { addDays, instantOf, wallTimeOf, weekdayOf } from '../../../service/domain/wall-time.ts';
import { make } from '../../shared/elements.ts';
import { localeOf } from '../../shared/language.ts';
import { fontsLoaded, largestFit, watchFit } from './fit.ts';
import { createPages, spread, withPages } from './pages.ts';
import { lookOf, paint } from './palette.ts';
import { visibleEntries } from './private-events.ts';
import { createView, type SlideFactory } from './slide.ts';

type Group = PlaylistPayload['timetableGroups'][number];
export type Entry = Group['entries'][number];

interface Agenda {
  /** Midnight of the day of the entries, and how many days ahead it is; 0: today. */
  day: number;
  daysAhead: number;
  /** Ordered by time, ms since the epoch. */
  entries: { entry: Entry; at: number }[];
}

/** An entry is upcoming until the minute that it names is over. */
const STAYS_MS = 60_000;
/** Every weekday recurs within a week; what a calendar has today does not. */
const daysAheadOf = ({ fetched_at }: Pick<Group, 'fetched_at'>): number => (fetched_at === undefined ? 7 : 6);

const isOf = ({ days_json }: Entry, weekday: number): boolean =>
  days_json === null || (JSON.parse(days_json) as number[]).includes(weekday);

/** The remaining entries of today, else the entries of the next day that has any; null: no day has entries. */
export const agendaOf = (
  group: Pick<Group, 'entries' | 'fetched_at'>,
  now: number,
  timeZone: string,
): Agenda | null => {
  const entries = visibleEntries(group);
  const today = wallTimeOf(now, timeZone).date;
  for (let daysAhead = 0; daysAhead <= daysAheadOf(group); daysAhead++) {
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

/** The letters of a row of this height are legible at ten metres. */
const LOWEST_ROW = 11;
/** Few rows get more height than their letters need: the letters grow with the height, at a decreasing rate. */
const FULL_ROW = 21;
/** From this height a row has room for a second line with details. */
const AMPLE_ROW = 24;
/** From this height a row has room for a name of three lines, and on a portrait screen for the time above the name. */
const ROOMY_ROW = 28;

interface Rows {
  perPage: number;
  /** Height of a row. The rows of a full page fill it. */
  height: number;
  /** Sizes of the letters: the largest for short names, the usual one, and the smallest that is legible. */
  type: { largest: number; usual: number; smallest: number };
  /** Lines of a name or a place. */
  lines: number;
  /** Lines of the details below the name. */
  details: number;
  /** Whether the time is above the name instead of next to it. */
  isStacked: boolean;
}

/** @param available height for all rows */
export const rowsOf = (available: number, entries: number, isPortrait: boolean): Rows => {
  const perPage = Math.max(1, Math.floor(available / LOWEST_ROW));
  const height = available / Math.min(perPage, Math.max(entries, 1));
  const isStacked = isPortrait && height >= ROOMY_ROW;
  const share = isPortrait ? 0.43 : 0.46;
  const usual = share * Math.min(height, FULL_ROW);
  const grown = isPortrait ? usual : Math.min(usual + 0.2 * Math.max(0, height - FULL_ROW), 15);
  const largest = isStacked ? Math.min(0.28 * height, 13) : grown;
  const type = { largest, usual: Math.min(usual, largest), smallest: share * LOWEST_ROW };
  return { perPage, height, type, lines: height >= ROOMY_ROW ? 3 : 2, details: height >= AMPLE_ROW ? 2 : 1, isStacked };
};

/** How many columns of rows stand beside each other: on a very wide band two or three. @param aspect width to height */
export const columnsOf = (aspect: number, entries: number): number =>
  Math.max(1, Math.min(Math.floor(aspect / 2), 3, entries));

/** How long a page of entries is on if the slide has no duration, and how long it takes to read one. */
const PAGE_TIME = { usualMs: 10_000, leastMs: 4_000 };
/** If names don't fit on a line, all are set smaller, down to this share; likewise places. Longer ones wrap. */
const SMALLEST_LINE = 0.72;
/** The same for the title: its share on one line, then on two. */
const TITLE = { one: [1, 0.7], two: [0.7, 0.44] } as const;
/** Minutes ahead up to which the remaining time is shown beside the time of an entry. */
const LONGEST_WAIT = 60;

/** Glyphs may exceed their line slightly; only a further line counts as overflow. */
const isClamped = ({ scrollHeight, clientHeight }: Element): boolean => scrollHeight > clientHeight * 1.2;

const groupOf = ({ content }: Slide, { timetableGroups = [] }: PlaylistPayload): Group => {
  const group = timetableGroups.find(({ id }) => id === content?.['group_id']);
  if (group === undefined) throw new Error(`there is no timetable group ${String(content?.['group_id'])}`);
  return group;
};

/** Formats of times and days in the language of the box. */
const createFormats = (timeZone: string) => {
  const locale = localeOf(navigator);
  const clock = new Intl.DateTimeFormat(locale, { timeStyle: 'short', timeZone });
  const date = new Intl.DateTimeFormat(locale, { weekday: 'long', day: 'numeric', month: 'long', timeZone });
  const ahead = new Intl.RelativeTimeFormat(locale, { numeric: 'auto', style: 'short' });
  return {
    /** AM and PM are set in small letters. */
    time: (moment: number): HTMLElement => {
      const time = make('time', 'time');
      time.dir = 'auto';
      for (const { type, value } of clock.formatToParts(moment)) {
        time.append(type === 'dayPeriod' ? make('small', 'half', value) : value.trim());
      }
      return time;
    },
    day: ({ day, daysAhead }: Agenda): string =>
      daysAhead === 1 ? `${ahead.format(1, 'day')}, ${date.format(day)}` : date.format(day),
    wait: (at: number, now: number): string => {
      const minutes = Math.max(0, Math.ceil((at - now) / 60_000));
      if (minutes > LONGEST_WAIT) return '';
      return minutes === 0 ? ahead.format(0, 'second') : ahead.format(minutes, 'minute');
    },
  };
};

const chunk = <T>(list: readonly T[], size: number): T[][] =>
  Array.from({ length: Math.ceil(list.length / size) }, (_, page) => list.slice(page * size, (page + 1) * size));

/** The upcoming entries of today, the next first; after the last one, those of the next day that has entries. */
export const createTimetable: SlideFactory = ({ slide, payload, timeZone, now, fail }) => {
  const view = createView('timetable');
  const frame = view.element;
  paint(frame, lookOf(slide, payload.slides, payload.style).palette);
  const formats = createFormats(timeZone);

  const sheet = make('main', 'sheet');
  sheet.dir = 'auto';
  const title = make('h1', 'title');
  const day = make('p', 'day');
  const clock = make('p', 'clock');
  const count = make('p', 'count');
  const rows = make('ol', 'rows');
  const head = make('header', 'head');
  head.append(title, clock, day, count);
  sheet.append(head, rows);
  frame.append(sheet);

  let current = 0;
  let length: number | null = null;
  let renderedKey = '';
  let tick: ReturnType<typeof setTimeout> | undefined;

  const createRow = ({ entry, at }: Agenda['entries'][number], isNext: boolean): HTMLElement => {
    const row = make('li', isNext ? 'row next' : 'row');
    const what = make('div', 'what');
    what.append(make('b', 'name', entry.title));
    const wait = isNext ? formats.wait(at, now()) : '';
    const parts = Object.entries({ place: entry.location, wait, more: entry.detail }).filter(([, text]) => text);
    if (parts.length > 0) what.append(make('span', 'detail'));
    what.querySelector('.detail')?.append(...parts.map(([name, text]) => make('span', name, text)));
    row.append(formats.time(at), what, make('span', 'location', entry.location));
    return row;
  };

  const fitTitle = (): void => {
    const holds = ([largest, smallest]: readonly [number, number], isLong: boolean): boolean => {
      title.classList.toggle('long', isLong);
      const fits = (t: number): boolean => {
        title.style.setProperty('--share', String(smallest + (largest - smallest) * t));
        return title.scrollWidth <= title.clientWidth && !isClamped(title);
      };
      return fits(largestFit(fits));
    };
    if (!holds(TITLE.one, false)) holds(TITLE.two, true);
  };

  const measure = (entries: number) => {
    const { clientWidth, clientHeight } = frame;
    const unit = Math.min(clientWidth, clientHeight) / 100;
    const columns = columnsOf(clientWidth / clientHeight, entries);
    return { columns, ...rowsOf(rows.clientHeight / unit, Math.ceil(entries / columns), clientWidth < clientHeight) };
  };

  const squeeze = (kind: 'name' | 'location'): void => {
    rows.style.setProperty(`--${kind}`, '1');
    const lines = [...rows.querySelectorAll<HTMLElement>(`.${kind}`)];
    for (const line of lines) line.classList.remove('long');
    const shares = lines.map((line) => line.clientWidth / Math.max(1, line.scrollWidth));
    // Slightly less, because glyphs do not scale linearly.
    const fitting = shares.filter((share) => share >= SMALLEST_LINE && share < 1).map((share) => share * 0.98);
    rows.style.setProperty(`--${kind}`, String(Math.min(1, ...fitting)));
    lines.forEach((line, at) => {
      line.classList.toggle('long', (shares[at] ?? 1) < SMALLEST_LINE);
    });
  };

  /** Sets the rows as large as they fit without clipping a name or place; larger than usual if each has one line. */
  const fitRows = ({ largest, usual, smallest }: ReturnType<typeof rowsOf>['type']): void => {
    const set = (type: number): void => {
      rows.style.setProperty('--type', String(type));
      squeeze('location');
      squeeze('name');
    };
    const fits = (t: number): boolean => {
      const type = smallest + (largest - smallest) * t;
      set(type);
      const isCut = [...rows.querySelectorAll('.long')].some(
        (line) => line.clientHeight > 0 && (type > usual || isClamped(line)),
      );
      return !isCut && [...rows.children].every((row) => row.scrollHeight <= row.clientHeight + 1);
    };
    if (!fits(largestFit(fits))) set(usual);
  };

  /** Renders the current page. */
  const write = (agenda: Agenda): void => {
    day.textContent = formats.day(agenda);
    clock.replaceChildren(formats.time(now()));
    fitTitle();
    const { columns, perPage, height, type, lines, details, isStacked } = measure(agenda.entries.length);
    const list = chunk(agenda.entries, perPage * columns);
    const share = spread(slide, list.length, PAGE_TIME);
    length = share.length;
    current = Math.min(current, share.count - 1);
    pages.open(share.count, share.pageMs);
    rows.style.setProperty('--row', String(height));
    rows.style.setProperty('--lines', String(lines));
    rows.style.setProperty('--details', String(details));
    rows.style.setProperty('--columns', String(columns));
    rows.style.setProperty('--per-column', String(Math.min(perPage, Math.ceil(agenda.entries.length / columns))));
    rows.classList.toggle('stacked', isStacked);
    rows.classList.toggle('columns', columns > 1);
    rows.replaceChildren(
      ...(list[current] ?? []).map((each) => createRow(each, agenda.daysAhead === 0 && each === agenda.entries[0])),
    );
    rows.classList.toggle(
      'placed',
      agenda.entries.some(({ entry }) => entry.location !== null),
    );
    count.textContent = share.count > 1 ? `${current + 1} / ${share.count}` : '';
    fitRows(type);
  };

  /** Updates the upcoming entries; renders them if they or the minute have changed. */
  const look = (isForced: boolean): boolean => {
    const agenda = agendaOf(groupOf(slide, payload), now(), timeZone);
    if (agenda === null) return false;
    const key = JSON.stringify([Math.floor(now() / 60_000), agenda.entries.length, agenda.day]);
    if (isForced || key !== renderedKey) write(agenda);
    renderedKey = key;
    return true;
  };
  const keepTime = (): void => {
    if (!look(false)) return fail('nothing more is in the timetable');
    // Reads the clock every time, because it can be set at any moment.
    tick = setTimeout(keepTime, 1000 - (now() % 1000));
  };

  const pages = createPages((index) => {
    current = index;
    look(true);
  });
  const paged = withPages(view, pages);
  const fitWatch = watchFit(frame, () => void look(true));

  return {
    ...paged,
    get length() {
      return length;
    },
    async prepare(signal) {
      title.textContent = slide.title ?? groupOf(slide, payload).name;
      await fontsLoaded(frame);
      signal.throwIfAborted();
      if (!look(true)) throw new Error('there is nothing in the timetable');
      await fontsLoaded(frame);
      signal.throwIfAborted();
      look(true);
      fitWatch.start();
    },
    start() {
      paged.start();
      keepTime();
    },
    destroy() {
      clearTimeout(tick);
      fitWatch.stop();
      paged.destroy();
    },
  };
};
