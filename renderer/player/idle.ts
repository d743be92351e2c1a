import { createSky } from '../shared/sky.ts';
import type { SlideView } from './slides/slide.ts';

export interface Note {
  title: string;
  task: string;
  /** BCP 47, of both. */
  language: string;
}

interface IdleOptions {
  /** IANA name of the zone whose time is shown. */
  timeZone: string;
  /** Milliseconds since the epoch; null while nobody knows, and then no time is shown. */
  now(): number | null;
  /** What is said in place of the time; null: nothing. */
  note(): Note | null;
}

const part = (tag: 'p' | 'span' | 'div' | 'h1', name: string): HTMLElement => {
  const element = document.createElement(tag);
  element.className = name;
  return element;
};

/** What is on while no slide is: a quiet landscape and the time. */
export const createIdle = ({ timeZone, now, note }: IdleOptions): SlideView => {
  const clock = new Intl.DateTimeFormat(navigator.language, { timeStyle: 'short', timeZone });
  const calendar = new Intl.DateTimeFormat(navigator.language, {
    weekday: 'long',
    day: 'numeric',
    month: 'long',
    timeZone,
  });

  const element = document.createElement('section');
  element.className = 'idle';
  const time = part('p', 'idle-time');
  const half = part('span', 'idle-half');
  const hour = part('span', 'idle-hour');
  const date = part('p', 'idle-date');
  time.append(hour, half);
  const words = part('div', 'idle-note');
  const [title, task] = [part('h1', 'idle-title'), part('p', 'idle-task')];
  words.append(title, task);
  element.append(createSky(), time, date, words);

  const tell = (): void => {
    const at = now();
    const parts = at === null ? [] : clock.formatToParts(at);
    hour.textContent = parts
      .map(({ type, value }) => (type === 'dayPeriod' ? '' : value))
      .join('')
      .trim();
    half.textContent = parts.find(({ type }) => type === 'dayPeriod')?.value ?? '';
    date.textContent = at === null ? '' : calendar.format(at);
    const said = note();
    element.classList.toggle('noted', said !== null);
    words.lang = said?.language ?? '';
    title.textContent = said?.title ?? '';
    task.textContent = said?.task ?? '';
  };
  tell();
  // The clock is read, not counted: it may be set at any moment.
  const timer = setInterval(tell, 1000);

  return {
    element,
    length: null,
    prepare: async () => {},
    start() {},
    pause() {},
    resume() {},
    turn: () => false,
    destroy() {
      clearInterval(timer);
      element.remove();
    },
  };
};
