/** When a slide is on schedule. */
import { useId } from 'preact/hooks';
import { issuesAt, shortMessage } from '../model/checks.ts';
import type { SlideDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import type { Issues } from './field.tsx';

interface ScheduleProps {
  slide: SlideDraft;
  issues: Issues;
  path: string;
  onChange(slide: SlideDraft): void;
}

const modes = ['always', 'between', 'weekly'] as const;
const weekdays = [1, 2, 3, 4, 5, 6, 7] as const;

export const daysOf = (json: unknown): number[] | null => {
  if (typeof json !== 'string') return null;
  try {
    const days: unknown = JSON.parse(json);
    return Array.isArray(days) ? days.filter((day): day is number => typeof day === 'number') : null;
  } catch {
    return null;
  }
};

/** A `datetime-local` has no offset: what was written with one is edited as text. */
const hasOffset = (value: string): boolean => /(?:Z|[+-]\d\d:?\d\d)$/.test(value);

export const ScheduleFields = ({ slide, issues, path, onChange }: ScheduleProps) => {
  const { texts, format } = useConsole();
  const words = texts.schedule;
  const id = useId();
  const mode = slide['schedule_mode'] ?? 'always';

  const field = (name: string, type: 'datetime-local' | 'time', label: string) => {
    const value = typeof slide[name] === 'string' ? slide[name] : '';
    const own = issuesAt(issues.errors, `${path}.${name}`);
    const cautions = issuesAt(issues.warnings, `${path}.${name}`);
    return (
      <div class="field">
        <label for={`${id}${name}`}>{label}</label>
        <input
          id={`${id}${name}`}
          {...(type === 'datetime-local' && hasOffset(value) ? {} : { type })}
          value={value}
          aria-invalid={own.length > 0}
          aria-describedby={`${id}${name}-note`}
          onInput={(event) => onChange(setField(slide, name, event.currentTarget.value))}
        />
        <div id={`${id}${name}-note`} class="field-note">
          {own.map((issue) => (
            <p key={issue.message} class="fault">
              {shortMessage(issue)}
            </p>
          ))}
          {cautions.map((issue) => (
            <p key={issue.message} class="caution">
              {shortMessage(issue)}
            </p>
          ))}
        </div>
      </div>
    );
  };

  const days = daysOf(slide['schedule_days_json']);
  const toggle = (day: number): void => {
    const chosen = days ?? [...weekdays];
    const next = weekdays.filter((each) => (each === day ? !chosen.includes(day) : chosen.includes(each)));
    onChange(setField(slide, 'schedule_days_json', next.length === 7 ? undefined : JSON.stringify(next)));
  };

  return (
    <fieldset class="field schedule">
      <legend>{words.title}</legend>
      <div class="chips">
        {modes.map((each) => (
          <label key={each} class="chip">
            <input
              type="radio"
              name={`${id}mode`}
              checked={mode === each}
              onChange={() => onChange(setField(slide, 'schedule_mode', each === 'always' ? undefined : each))}
            />
            <span>{words.mode[each]}</span>
          </label>
        ))}
      </div>
      {mode === 'weekly' && (
        <>
          <fieldset class="chips">
            <legend class="unseen">{words.days}</legend>
            {weekdays.map((day) => (
              <label key={day} class="chip day">
                <input type="checkbox" checked={days === null || days.includes(day)} onChange={() => toggle(day)} />
                <span>{format.weekday(day)}</span>
              </label>
            ))}
          </fieldset>
          <div class="pair">
            {field('schedule_start_time', 'time', words.from)}
            {field('schedule_end_time', 'time', words.until)}
          </div>
        </>
      )}
      {mode !== 'always' && (
        <div class="pair">
          {field('schedule_start_datetime', 'datetime-local', words.firstDay)}
          {field('schedule_end_datetime', 'datetime-local', words.lastDay)}
        </div>
      )}
      {mode !== 'always' && <p class="hint">{texts.plan.zone({ timeZone: format.zone })}</p>}
      {[
        ...issuesAt(issues.errors, `${path}.schedule_mode`),
        ...issuesAt(issues.errors, `${path}.schedule_days_json`),
      ].map((issue) => (
        <p key={issue.message} class="fault">
          {shortMessage(issue)}
        </p>
      ))}
      {[
        ...issuesAt(issues.warnings, `${path}.schedule_mode`),
        ...issuesAt(issues.warnings, `${path}.schedule_days_json`),
      ].map((issue) => (
        <p key={issue.message} class="caution">
          {shortMessage(issue)}
        </p>
      ))}
    </fieldset>
  );
};
