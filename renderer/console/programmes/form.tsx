/** One programme: what it plays, when, where, and how it ranks. */
import { useSignal } from '@preact/signals';
import type { ContentDocument, ProgrammeDraft } from '../model/document.ts';
import { issuesAt } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { Button, Field } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { IssueNotes, TextField, typedInto, Weekdays, weekdays } from '../ui/inputs.tsx';
import { lengthOn, windowOf } from './geometry.ts';
import { Targets } from './targets.tsx';

interface FormProps {
  document: ContentDocument;
  programme: ProgrammeDraft;
  index: number;
  /** Of the block that is selected. */
  date: string;
  weekday: number;
  onChange(programme: ProgrammeDraft, group: string): void;
  /** Makes the selected day a programme of its own. */
  onSplit(): void;
  /** Makes it due on the selected date alone. */
  onDate(): void;
  onRemove(): void;
}

const PRIORITY = 10;
const FIRST_DATE = '1970-01-01';

export const ProgrammeForm = (props: FormProps) => {
  const { document, programme, index, weekday, date } = props;
  const { draft: openDraft, texts, format, timeZone } = useConsole();
  const words = texts.programmes;
  const check = openDraft().check.value;
  const path = `programmes[${index}]`;
  const errors = issuesAt(check?.errors ?? [], path);
  const warnings = issuesAt(check?.warnings ?? [], path);
  const set = (name: string, value: unknown): void => props.onChange(setField(programme, name, value), name);
  const days = programme.days ?? (programme.dates == null ? [...weekdays] : []);
  const dates = programme.dates ?? [];
  const further = useSignal('');
  // The first digits of a year are a date, too.
  const addDate = (): void => {
    if (further.value >= FIRST_DATE) set('dates', [...new Set([...dates, further.value])].sort());
    further.value = '';
  };
  const time = (name: 'start_time' | 'end_time', label: string) => (
    <TextField
      field={name}
      label={label}
      type="time"
      value={(programme[name] ?? '00:00').slice(0, 5)}
      onInput={({ currentTarget: { value } }) => set(name, value === '00:00' ? undefined : value)}
    />
  );
  const day = (name: 'start_date' | 'end_date', label: string) => (
    <TextField
      field={name}
      label={label}
      type="date"
      value={programme[name] ?? ''}
      onInput={(event) => set(name, event.currentTarget.value)}
    />
  );
  const window = windowOf(programme);
  const length = Number.isFinite(window.from + window.until) ? lengthOn(date, window, timeZone) : null;
  const isChanged = length !== null && length !== window.until - window.from;
  return (
    <section class="panel programme-form" aria-label={words.form} data-record={programme.id}>
      <div class="programme-fields">
        <Field name="playlist_id" label={words.playlist}>
          {(control) => (
            <select
              {...control}
              value={programme.playlist_id}
              onChange={(event) => set('playlist_id', event.currentTarget.value)}
            >
              {(document.playlists ?? []).every(({ id }) => id !== programme.playlist_id) && (
                <option value={programme.playlist_id}>{programme.playlist_id}</option>
              )}
              {(document.playlists ?? []).map(({ id, name }) => (
                <option key={id} value={id}>
                  {name || id}
                </option>
              ))}
            </select>
          )}
        </Field>
        <div data-field="targets">
          <Targets document={document} targets={programme.targets} onChange={(targets) => set('targets', targets)} />
        </div>
        <TextField
          field="priority"
          label={words.priority}
          type="number"
          min={-PRIORITY}
          max={PRIORITY}
          step={1}
          value={programme.priority ?? 0}
          onInput={({ currentTarget: { value } }) =>
            value !== '' && set('priority', Number(value) === 0 ? undefined : Number(value))
          }
        />
        {time('start_time', texts.schedule.from)}
        {time('end_time', texts.schedule.until)}
      </div>
      <div class="row programme-when" data-field="days dates">
        <Weekdays
          chosen={days}
          onChange={(next) => {
            // Without any day and date it would be due every day.
            if (next.length > 0 || dates.length > 0) set('days', next.length === 0 ? undefined : next);
          }}
        />
        {dates.map((each) => (
          <Button
            key={each}
            class="small"
            aria-label={words.removeDate({ date: format.date(each) })}
            disabled={dates.length === 1 && days.length === 0}
            onClick={() => {
              const next = dates.filter((other) => other !== each);
              set('dates', next.length === 0 ? undefined : next);
            }}
          >
            {format.date(each)} <Icon name="close" />
          </Button>
        ))}
        <div class="buttons">
          {days.length > 1 && days.includes(weekday) && (
            <Button class="small" onClick={props.onSplit}>
              {words.split({ day: format.weekday(weekday) })}
            </Button>
          )}
          {!(days.length === 0 && dates.length === 1) && (
            <Button class="small" onClick={props.onDate}>
              {words.once({ date: format.date(date) })}
            </Button>
          )}
          <Button class="small danger" onClick={props.onRemove}>
            <Icon name="forget" /> {texts.editor.remove}
          </Button>
        </div>
      </div>
      {isChanged && (
        <p class="hint">{words.lasts({ date: format.date(date), length: format.duration(length * 60_000) })}</p>
      )}
      <IssueNotes errors={errors} warnings={warnings} />
      <details class="more-fields">
        <summary>{words.more}</summary>
        <div class="programme-fields stack">
          <TextField
            field="name"
            label={texts.fields.label.name}
            value={programme.name ?? ''}
            maxLength={200}
            onInput={(event) => set('name', event.currentTarget.value)}
          />
          {day('start_date', texts.schedule.firstDay)}
          {day('end_date', texts.schedule.lastDay)}
          <TextField
            label={words.addDate}
            type="date"
            {...typedInto(further)}
            onBlur={addDate}
            onKeyDown={({ key }) => key === 'Enter' && addDate()}
          />
        </div>
      </details>
    </section>
  );
};
