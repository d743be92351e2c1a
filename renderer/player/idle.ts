import { createSky, make } from '../shared/elements.ts';
import { localeOf } from '../shared/language.ts';
import type { SlideView } from './slides/slide.ts';

export interface Note {
  title: string;
  task: string;
  /** Language of both, BCP 47. */
  language: string;
}

interface IdleOptions {
  /** IANA time zone of the clock. */
  timeZone: string;
  /** Milliseconds since the epoch; null: the time is unknown, and no clock is shown. */
  now(): number | null;
  /** The note to show in place of the time; null: no note. */
  note(): Note | null;
}

export const createNothing = (): SlideView => ({
  element: document.createElement('div'),
  length: null,
  prepare: async () => {},
  start() {},
  pause() {},
  resume() {},
  flipPage: () => false,
  destroy() {},
});

/** The view that is shown while no slide is: a quiet landscape and the time. */
export const createIdle = ({ timeZone, now, note }: IdleOptions): SlideView => {
  const clock = new Intl.DateTimeFormat(localeOf(navigator), { timeStyle: 'short', timeZone });
  const calendar = new Intl.DateTimeFormat(localeOf(navigator), {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    timeZone,
  });

  const time = make('p', 'idle-time');
  const half = make('span', 'idle-half');
  const hour = make('span', 'idle-hour');
  const date = make('p', 'idle-date');
  time.append(hour, half);
  const words = make('div', 'idle-note');
  const [title, task] = [make('h1', 'idle-title'), make('p', 'idle-task')];
  words.append(title, task);
  const element = make('section', 'idle', createSky(), time, date, words);

  const update = (): void => {
    const at = now();
    const parts = at === null ? [] : clock.formatToParts(at);
    hour.textContent = parts
      .map(({ type, value }) => (type === 'dayPeriod' ? '' : value))
      .join('')
      .trim();
    half.textContent = parts.find(({ type }) => type === 'dayPeriod')?.value ?? '';
    date.textContent = at === null ? '' : calendar.format(at);
    const shown = note();
    element.classList.toggle('noted', shown !== null);
    words.lang = shown?.language ?? '';
    title.textContent = shown?.title ?? '';
    task.textContent = shown?.task ?? '';
  };
  update();
  // Reads the clock every second, because it can be set at any moment.
  const timer = setInterval(update, 1000);

  return {
    ...createNothing(),
    element,
    destroy() {
      clearInterval(timer);
      element.remove();
    },
  };
};
