/** Data of slides that has become too old: it is shown with its age, or not at all. */
import { languages, type Texts } from 'virtual:texts/player';
import { type Age, ageOf } from '../../../service/domain/age.ts';
import { make } from '../../shared/elements.ts';
import { localeOf } from '../../shared/language.ts';
import { textsFor } from '../../texts/messages.ts';
import type { SlideFactory } from './slide.ts';

/** How often the age is looked at at least, in ms: clocks can be set. */
const LOOK_MS = 30_000;
/** How often while it is too old, in ms: it can be fetched again at any moment. */
const OLD_MS = 1_000;

/** A moment of the past: the time today, the weekday within a week, else the date. */
export const since = (date: number, now: number, timeZone: string): string => {
  const tell = (moment: number, options: Intl.DateTimeFormatOptions): string =>
    new Intl.DateTimeFormat(localeOf(navigator), { ...options, timeZone }).format(moment);
  const day = (moment: number): string => tell(moment, { dateStyle: 'short' });
  if (day(date) === day(now)) return tell(date, { timeStyle: 'short' });
  const isRecent = Math.abs(now - date) < 6 * 86_400_000;
  return tell(date, isRecent ? { weekday: 'long', hour: 'numeric', minute: '2-digit' } : { dateStyle: 'long' });
};

/** From when data is that is too old. */
export const asOf = ({ fetchedAt }: Age, now: number, timeZone: string): string =>
  textsFor<Texts>(languages, navigator.languages).age.asOf({ time: since(fetchedAt, now, timeZone) });

/** A view whose data is never shown older than its slide allows. */
export const withAge =
  (create: SlideFactory): SlideFactory =>
  (context) => {
    const { slide, now, timeZone, current, fail } = context;
    const view = create(context);
    const { prepare, start, destroy } = view;
    const isSkipped = slide.content?.['when_old'] === 'skip';
    const label = make('p', 'as-of');
    label.dir = 'auto';
    let timer: ReturnType<typeof setTimeout> | undefined;

    const age = (): Age | null => (view.age === undefined ? ageOf(slide, current()) : view.age());
    /** @throws Error if the data must not be shown */
    const look = (): Age | null => {
      const found = age();
      if (found === null || now() < found.oldAt) {
        label.remove();
        return found;
      }
      if (isSkipped)
        throw new Error(`what it shows is from ${new Date(found.fetchedAt).toISOString()}, which is too old`);
      label.textContent = asOf(found, now(), timeZone);
      if (label.parentNode === null) view.element.append(label);
      return found;
    };
    const follow = (): void => {
      try {
        const left = (look()?.oldAt ?? Number.POSITIVE_INFINITY) - now();
        timer = setTimeout(follow, left > 0 ? Math.min(left, LOOK_MS) : OLD_MS);
      } catch (error) {
        fail((error as Error).message);
      }
    };
    // In place: some views have getters.
    return Object.assign(view, {
      prepare: async (signal: AbortSignal) => {
        // What is too old need not be drawn.
        look();
        label.remove();
        await prepare(signal);
        look();
      },
      start: () => {
        start();
        follow();
      },
      destroy: () => {
        clearTimeout(timer);
        destroy();
      },
    });
  };
