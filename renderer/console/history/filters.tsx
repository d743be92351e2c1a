/** The filters that both parts of the history share. */
import type { Signal } from '@preact/signals';
import { useConsole } from '../ui/context.tsx';

/** Which screen. @param slug empty: all of them */
export const ScreenFilter = ({ slug }: { slug: Signal<string> }) => {
  const { site, texts } = useConsole();
  return (
    <label class="filter">
      <span>{texts.plays.screen}</span>
      <select
        aria-label={texts.plays.screen}
        value={slug.value}
        onChange={(event) => (slug.value = event.currentTarget.value)}
      >
        <option value="">{texts.plays.allScreens}</option>
        {site.screens().map(({ screen }) => (
          <option key={screen.slug} value={screen.slug}>
            {screen.name}
          </option>
        ))}
      </select>
    </label>
  );
};

/** Which day of the site. @param date empty: any */
export const DayFilter = ({ date }: { date: Signal<string> }) => {
  const { texts } = useConsole();
  return (
    <label class="filter">
      <span>{texts.history.day}</span>
      <input type="date" value={date.value} onInput={(event) => (date.value = event.currentTarget.value)} />
    </label>
  );
};
