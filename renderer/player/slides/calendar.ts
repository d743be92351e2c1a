/** Calendars: a day, a week, or what is on in a room, by the clock of the site. */
import { languages, type Texts } from 'virtual:texts/player';
import type { CalendarEvent } from '../../../service/contract/calendars.ts';
import type { Calendar, PlaylistPayload, Slide } from '../../../service/contract/playlist.ts';
import { calendarIdsOf, type Day, daysOf, isNow, roomAt } from '../../../service/domain/calendar-view.ts';
import { make } from '../../shared/elements.ts';
import { localeOf } from '../../shared/language.ts';
import { textsFor } from '../../texts/messages.ts';
import { fontsLoaded, largestFit, overflows, watchFit } from './fit.ts';
import { lookOf, paint } from './palette.ts';
import { visibleEvents } from './private-events.ts';
import { createView, type SlideFactory } from './slide.ts';

const text = (tag: 'h1' | 'p' | 'span' | 'h2' | 'div' | 'b', name: string, content: string): HTMLElement => {
  const made = make(tag, name, content);
  made.dir = 'auto';
  return made;
};

/** @throws Error if no calendar of the slide has been fetched yet, or of a room, which may be taken by it, not each of them */
const calendarsOf = ({ content }: Slide, { calendars = [] }: PlaylistPayload): Calendar[] => {
  const ids = calendarIdsOf(content);
  const found = calendars.filter(({ id }) => ids.includes(id));
  const fetched = found.filter(({ fetched_at }) => fetched_at !== null);
  if (fetched.length > 0 && (content?.view !== 'room' || fetched.length === found.length)) return found;
  throw new Error(`the calendar ${ids.join(', ')} has not been fetched yet`);
};

const bottomOf = (element: Element): number => element.getBoundingClientRect().bottom;

const DAYS = { day: 1, week: 7 } as const;
const MOST_NEXT = 4;

export const createCalendar: SlideFactory = ({ slide, payload, timeZone, now, fail }) => {
  const view = createView('calendar');
  const { element: frame } = view;
  paint(frame, lookOf(slide, payload.slides, payload.style).palette);
  const texts = textsFor<Texts>(languages, navigator.languages).calendar;
  const { view: shown = 'day', days: wanted } = slide.content ?? {};
  const kind = shown === 'week' || shown === 'room' ? shown : 'day';
  const format = (options: Intl.DateTimeFormatOptions): Intl.DateTimeFormat =>
    new Intl.DateTimeFormat(localeOf(navigator), { ...options, timeZone });
  const clock = format({ timeStyle: 'short' });
  const fullDay = format({ weekday: 'long', day: 'numeric', month: 'long' });
  const shortDay = format({ weekday: 'short', day: 'numeric' });
  const later = format({ weekday: 'short', hour: 'numeric', minute: '2-digit' });
  const sheet = make('main', 'sheet');
  sheet.dir = 'auto';
  frame.append(sheet);

  const timesOf = (
    { starts_at, ends_at, all_day }: CalendarEvent,
    { start, end }: Pick<Day, 'start' | 'end'>,
  ): string => {
    const [from, until] = [Date.parse(starts_at), Date.parse(ends_at)];
    if (all_day || (from < start && until > end)) return texts.allDay;
    if (from < start) return texts.until({ time: clock.format(until) });
    if (from === until) return clock.format(from);
    // A range over midnight would have both dates.
    return until < end ? clock.formatRange(from, until) : `${clock.format(from)} – ${clock.format(until)}`;
  };

  const row = (event: CalendarEvent, day: Day, at: number): HTMLElement => {
    const isOn = isNow(event, at) && day.start <= at && !event.all_day;
    const made = make('li', isOn ? 'event now' : 'event');
    made.append(make('span', 'time', timesOf(event, day)), text('b', 'name', event.title));
    if (event.location !== null) made.append(text('span', 'place', event.location));
    return made;
  };

  const drawDays = (events: readonly CalendarEvent[], at: number, count: number): Node[] =>
    daysOf(events, at, count, timeZone).map((day, index) => {
      // What is over today makes room for what is to come.
      const left = day.events.filter((event) => index > 0 || Date.parse(event.ends_at) > at || event.all_day);
      const list = make('ol', 'events', ...left.map((event) => row(event, day, at)));
      const heading = count === 1 ? [] : [make('h2', index === 0 ? 'date today' : 'date', shortDay.format(day.start))];
      const none = left.length === 0 ? [make('p', 'none', texts.nothing)] : [];
      return make('section', 'day', ...heading, list, ...none);
    });

  const drawRoom = (events: readonly CalendarEvent[], at: number): Node[] => {
    const { current, next } = roomAt(events, at, timeZone);
    const [first] = next;
    const [day] = daysOf(events, at, 1, timeZone);
    const state = make('section', current === null ? 'state free' : 'state taken');
    state.append(make('p', 'word', current === null ? texts.free : texts.taken));
    if (current !== null) {
      state.append(text('p', 'current', current.title));
      const until = Date.parse(current.ends_at);
      const isToday = day !== undefined && until <= day.end;
      if (!current.all_day)
        state.append(make('p', 'till', texts.until({ time: (isToday ? clock : later).format(until) })));
    } else if (first !== undefined) {
      state.append(make('p', 'till', texts.until({ time: clock.format(Date.parse(first.starts_at)) })));
    }
    if (day === undefined || first === undefined) return [state];
    const list = make('ol', 'events', ...next.slice(0, MOST_NEXT).map((event) => row(event, day, at)));
    return [state, make('section', 'next', make('h2', 'date', texts.next), list)];
  };

  let key = '';
  const fits = (t: number): boolean => {
    frame.style.setProperty('--fit', String(0.3 + 0.7 * t));
    return !overflows(sheet);
  };
  const refit = (): void => {
    if (fits(largestFit(fits))) return;
    // What does not fit in the smallest letters is left out from the end; of days beside each other, from that of the longest.
    while (overflows(sheet)) {
      const lasts = [...sheet.querySelectorAll('.event:last-child')].reverse();
      const [lowest] = lasts.sort((one, other) => bottomOf(other) - bottomOf(one));
      if (lowest === undefined) break;
      lowest.remove();
    }
  };

  const draw = (isForced = false): void => {
    const at = now();
    const minute = String(Math.floor(at / 60_000));
    if (!isForced && minute === key) return;
    key = minute;
    const calendars = calendarsOf(slide, payload);
    const events = visibleEvents(
      calendars.flatMap((calendar) => calendar.events),
      slide,
    );
    const count =
      typeof wanted === 'number' ? Math.min(8, Math.max(1, wanted)) : DAYS[kind === 'week' ? 'week' : 'day'];
    const title = slide.title ?? calendars.map(({ name }) => name).join(', ');
    const head = make('header', 'head', text('h1', 'title', title), make('p', 'clock', clock.format(at)));
    head.append(make('p', 'today-date', fullDay.format(at)));
    const body = make('div', 'body', ...(kind === 'room' ? drawRoom(events, at) : drawDays(events, at, count)));
    sheet.className = `sheet ${kind}`;
    sheet.style.setProperty('--days', String(count));
    sheet.replaceChildren(head, body);
    refit();
  };
  const fitWatch = watchFit(frame, () => draw(true));
  let tick: ReturnType<typeof setTimeout> | undefined;
  const keepTime = (): void => {
    try {
      draw();
    } catch (error) {
      return fail((error as Error).message);
    }
    // Reads the clock every time, because it can be set at any moment.
    tick = setTimeout(keepTime, 1000 - (now() % 1000));
  };

  return {
    ...view,
    async prepare(signal) {
      draw(true);
      await fontsLoaded(frame);
      signal.throwIfAborted();
      draw(true);
      fitWatch.start();
    },
    start() {
      view.start();
      keepTime();
    },
    destroy() {
      clearTimeout(tick);
      fitWatch.stop();
      view.destroy();
    },
  };
};
