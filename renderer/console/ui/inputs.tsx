/** What is chosen from, and how it is chosen. */
import type { Signal } from '@preact/signals';
import type { ComponentChildren, InputHTMLAttributes } from 'preact';
import { useId } from 'preact/hooks';
import { type PlaylistDraft, shortMessage } from '../model/document.ts';
import type { ContentIssue } from '../model/wire.ts';
import { useConsole } from './context.tsx';
import { Field, type FieldControl } from './controls.tsx';

interface SelectProps<Value extends string> extends Partial<FieldControl> {
  name?: string;
  'aria-label'?: string;
  /** Absent: the first one is chosen at first. */
  value?: Value;
  options: readonly (readonly [value: Value, name: string])[];
  onValue?(value: Value): void;
}

export const Select = <Value extends string>({ options, onValue, ...props }: SelectProps<Value>) => (
  <select {...props} onChange={(event) => onValue?.(event.currentTarget.value as Value)}>
    {options.map(([value, name]) => (
      <option key={value} value={value}>
        {name}
      </option>
    ))}
  </select>
);

interface Labelled {
  label: string;
  hint?: string;
  /** Its name in the document, by which an address finds it. */
  field?: string;
}

/** The same, with its label. */
export const SelectField = <Value extends string>({ label, hint, field, ...props }: SelectProps<Value> & Labelled) => (
  <Field label={label} {...(field !== undefined && { name: field })} {...(hint !== undefined && { hint })}>
    {(control) => <Select {...control} {...props} />}
  </Field>
);

/** A field of one line, with its label. */
export const TextField = ({
  label,
  hint,
  fault,
  field,
  ...input
}: InputHTMLAttributes & Labelled & { fault?: string | null }) => (
  <Field
    label={label}
    {...(field !== undefined && { name: field })}
    {...(hint !== undefined && { hint })}
    {...(fault !== undefined && { fault })}
  >
    {(control) => <input {...input} {...control} />}
  </Field>
);

interface ChipProps {
  /** Of the group of which one is chosen; absent: it is chosen by itself. */
  name?: string;
  class?: string;
  checked: boolean;
  onChange(): void;
  children: ComponentChildren;
}

export const Chip = ({ name, class: kind = '', checked, onChange, children }: ChipProps) => (
  <label class={`chip ${kind}`.trim()}>
    <input type={name === undefined ? 'checkbox' : 'radio'} name={name} checked={checked} onChange={onChange} />
    <span>{children}</span>
  </label>
);

/** 1 is Monday. */
export const weekdays = [1, 2, 3, 4, 5, 6, 7] as const;

interface WeekdaysProps {
  chosen: readonly number[];
  days?: readonly number[];
  /** @param chosen in the order of the week */
  onChange(chosen: number[]): void;
}

export const Weekdays = ({ chosen, days = weekdays, onChange }: WeekdaysProps) => {
  const { texts, format } = useConsole();
  const toggle = (day: number): void =>
    onChange(weekdays.filter((each) => (each === day ? !chosen.includes(day) : chosen.includes(each))));
  return (
    <fieldset class="chips">
      <legend class="unseen">{texts.schedule.days}</legend>
      {days.map((day) => (
        <Chip key={day} class="day" checked={chosen.includes(day)} onChange={() => toggle(day)}>
          {format.weekday(day)}
        </Chip>
      ))}
    </fieldset>
  );
};

interface CheckProps {
  checked: boolean;
  onChange(checked: boolean): void;
  children: ComponentChildren;
}

export const Check = ({ checked, onChange, children }: CheckProps) => (
  <label class="check">
    <input type="checkbox" checked={checked} onChange={(event) => onChange(event.currentTarget.checked)} />
    <span>{children}</span>
  </label>
);

/** The attributes of a field that a text is typed into. */
export const typedInto = (text: Signal<string>) => ({
  value: text.value,
  onInput: (event: { currentTarget: { value: string } }): void => {
    text.value = event.currentTarget.value;
  },
});

/** What the box says about a field. */
export const IssueNotes = (props: { errors: readonly ContentIssue[]; warnings: readonly ContentIssue[] }) => (
  <>
    {props.errors.map((issue) => (
      <p key={`${issue.path} ${issue.message}`} class="fault">
        {shortMessage(issue)}
      </p>
    ))}
    {props.warnings.map((issue) => (
      <p key={`${issue.path} ${issue.message}`} class="caution">
        {shortMessage(issue)}
      </p>
    ))}
  </>
);

export const useScreenOptions = () => {
  const { site, texts } = useConsole();
  return [
    ['', texts.plays.allScreens],
    ...site.screens().map(({ screen }) => [screen.slug, screen.name] as const),
  ] as const;
};

/** The options of a select that names a playlist, or none. */
export const usePlaylistOptions = (playlists: readonly PlaylistDraft[]): [id: string, name: string][] => [
  ['', useConsole().texts.screens.noPlaylist],
  ...playlists.map(({ id, name }): [string, string] => [id, name || id]),
];

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
