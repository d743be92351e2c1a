/** The filters that both parts of the history share. */
import type { Signal } from '@preact/signals';
import { useId } from 'preact/hooks';
import { useConsole } from '../ui/context.tsx';
import { Select, typedInto } from '../ui/inputs.tsx';

interface FilterProps {
  label: string;
  /** Empty: all of them. */
  chosen: Signal<string>;
  options: readonly (readonly [value: string, name: string])[];
}

/** What is listed, by one of its properties. */
export const Filter = ({ label, chosen, options }: FilterProps) => {
  const id = useId();
  return (
    <label class="filter" for={id}>
      <span>{label}</span>
      <Select
        id={id}
        aria-label={label}
        value={chosen.value}
        options={options}
        onValue={(value) => (chosen.value = value)}
      />
    </label>
  );
};

/** Which day of the site. @param date empty: any */
export const DayFilter = ({ date }: { date: Signal<string> }) => (
  <label class="filter">
    <span>{useConsole().texts.history.day}</span>
    <input type="date" {...typedInto(date)} />
  </label>
);
