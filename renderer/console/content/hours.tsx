/** The opening hours of a screen: times of weekdays, and dates that differ. */
import { useId } from 'preact/hooks';
import type { ScreenDraft } from '../model/document.ts';
import { removeAt, replaceAt } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon } from '../ui/icon.tsx';

type Hours = NonNullable<ScreenDraft['hours']>;
type Entry = Hours[number];

const weekdays = [1, 2, 3, 4, 5, 6, 7] as const;

interface HoursProps {
  screen: ScreenDraft;
  /** Undefined: always open. */
  onChange(hours: Hours | undefined): void;
}

export const Hours = ({ screen, onChange }: HoursProps) => {
  const { texts, format, clock, timeZone } = useConsole();
  /** The date of the site, as the file has it. */
  const today = (): string => new Intl.DateTimeFormat('sv', { timeZone }).format(clock.now());
  const words = texts.hours;
  const id = useId();
  const hours = screen.hours ?? [];
  const set = (index: number, entry: Entry): void => onChange(replaceAt(hours, index, entry));
  const toggle = (entry: Entry, index: number, day: number): void => {
    const days = entry.days ?? [...weekdays];
    const next = weekdays.filter((each) => (each === day ? !days.includes(day) : days.includes(each)));
    // A list without days is no opening time.
    if (next.length > 0) set(index, { ...entry, days: next });
  };
  const time = (entry: Entry, index: number, name: 'open' | 'close', label: string) => (
    <label class="field">
      <span class="label">{label}</span>
      <input
        type="time"
        value={entry[name] ?? ''}
        onInput={(event) => set(index, { ...entry, [name]: event.currentTarget.value })}
      />
    </label>
  );
  return (
    <details class="more-fields">
      <summary>{hours.length === 0 ? words.always : words.title({ count: hours.length })}</summary>
      <div class="stack">
        {hours.map((entry, index) => (
          <div key={`${id}${index}`} class="hours-row">
            {entry.date === undefined ? (
              <fieldset class="chips">
                <legend class="unseen">{texts.schedule.days}</legend>
                {weekdays.map((day) => (
                  <label key={day} class="chip day">
                    <input
                      type="checkbox"
                      checked={entry.days?.includes(day) ?? true}
                      onChange={() => toggle(entry, index, day)}
                    />
                    <span>{format.weekday(day)}</span>
                  </label>
                ))}
              </fieldset>
            ) : (
              <label class="field">
                <span class="label">{words.date}</span>
                <input
                  type="date"
                  value={entry.date}
                  onInput={(event) => set(index, { ...entry, date: event.currentTarget.value })}
                />
              </label>
            )}
            {entry.date !== undefined && (
              <label class="check">
                <input
                  type="checkbox"
                  checked={entry.open === undefined}
                  onChange={(event) =>
                    set(
                      index,
                      event.currentTarget.checked
                        ? { date: entry.date ?? '' }
                        : { date: entry.date ?? '', open: '08:00', close: '18:00' },
                    )
                  }
                />
                <span>{words.closed}</span>
              </label>
            )}
            {entry.open !== undefined && (
              <>
                {time(entry, index, 'open', words.opens)}
                {time(entry, index, 'close', words.closes)}
              </>
            )}
            <button
              type="button"
              class="icon-button"
              aria-label={words.remove}
              onClick={() => {
                const next = removeAt(hours, index);
                onChange(next.length === 0 ? undefined : next);
              }}
            >
              <Icon name="close" />
            </button>
          </div>
        ))}
        <div class="buttons">
          <button
            type="button"
            class="button small"
            onClick={() => onChange([...hours, { days: [1, 2, 3, 4, 5], open: '08:00', close: '18:00' }])}
          >
            <Icon name="plus" /> {words.add}
          </button>
          <button type="button" class="button small" onClick={() => onChange([...hours, { date: today() }])}>
            <Icon name="plus" /> {words.addDate}
          </button>
        </div>
      </div>
    </details>
  );
};
