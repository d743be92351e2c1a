import type { PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { localeOf } from '../../shared/language.ts';
import { type Agenda, agendaOf } from './agenda.ts';
import { rowsOf } from './board.ts';
import { fontsLoaded, largestFit, watchSize } from './fit.ts';
import { createPages, spread, withPages } from './pages.ts';
import { lookOf, paint } from './palette.ts';
import type { SlideFactory } from './slide.ts';
import { createView } from './view.ts';

type Group = PlaylistPayload['timetableGroups'][number];

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

const element = (tag: string, name: string, text: string | null = ''): HTMLElement => {
  const made = document.createElement(tag);
  made.className = name;
  made.textContent = text;
  return made;
};

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
      const time = element('time', 'time');
      time.dir = 'auto';
      for (const { type, value } of clock.formatToParts(moment)) {
        time.append(type === 'dayPeriod' ? element('small', 'half', value) : value.trim());
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
  paint(frame, lookOf(slide, payload.slides).palette);
  const formats = createFormats(timeZone);

  const sheet = element('main', 'sheet');
  sheet.dir = 'auto';
  const title = element('h1', 'title');
  const day = element('p', 'day');
  const clock = element('p', 'clock');
  const count = element('p', 'count');
  const rows = element('ol', 'rows');
  const head = element('header', 'head');
  head.append(title, clock, day, count);
  sheet.append(head, rows);
  frame.append(sheet);

  let current = 0;
  let length: number | null = null;
  let renderedKey = '';
  let tick: ReturnType<typeof setTimeout> | undefined;

  const createRow = ({ entry, at }: Agenda['entries'][number], isNext: boolean): HTMLElement => {
    const row = element('li', isNext ? 'row next' : 'row');
    const what = element('div', 'what');
    what.append(element('b', 'name', entry.title));
    const wait = isNext ? formats.wait(at, now()) : '';
    const parts = Object.entries({ place: entry.location, wait, more: entry.detail }).filter(([, text]) => text);
    if (parts.length > 0) what.append(element('span', 'detail'));
    what.querySelector('.detail')?.append(...parts.map(([name, text]) => element('span', name, text)));
    row.append(formats.time(at), what, element('span', 'location', entry.location));
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
    return rowsOf(rows.clientHeight / unit, entries, clientWidth < clientHeight);
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
    const { perPage, height, type, lines, details, isStacked } = measure(agenda.entries.length);
    const share = spread(slide, Math.ceil(agenda.entries.length / perPage), PAGE_TIME);
    const list = chunk(agenda.entries, perPage);
    length = share.length;
    current = Math.min(current, share.count - 1);
    pages.open(share.count, share.pageMs);
    rows.style.setProperty('--row', String(height));
    rows.style.setProperty('--lines', String(lines));
    rows.style.setProperty('--details', String(details));
    rows.classList.toggle('stacked', isStacked);
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
    const agenda = agendaOf(groupOf(slide, payload).entries, now(), timeZone);
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
  const resized = watchSize(frame, () => void look(true));

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
      resized.start();
    },
    start() {
      paged.start();
      keepTime();
    },
    destroy() {
      clearTimeout(tick);
      resized.stop();
      paged.destroy();
    },
  };
};
