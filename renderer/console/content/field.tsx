/** One field of a form, by its type, with the box's messages about it. */
import { useId } from 'preact/hooks';
import { shortMessage } from '../model/document.ts';
import { type Field, typeFor } from '../model/schema.ts';
import type { ContentIssue } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { MediaField } from '../ui/media-field.tsx';
import { wordOf } from '../ui/words.ts';

export interface Issues {
  errors: readonly ContentIssue[];
  warnings: readonly ContentIssue[];
}

interface FieldProps {
  field: Field;
  value: unknown;
  issues: Issues;
  /** Beginnings of the media types to choose from. */
  accepts?: readonly string[];
  /** Records to choose from, for fields that name one. */
  choices?: readonly { id: string; name?: string }[];
  placeholder?: string;
  /** Absent: by the name of the field. */
  label?: string;
  /** Whether the hint of its name is shown; default: true. */
  hasHint?: boolean;
  /** Undefined: the field is left out. */
  onChange(value: unknown): void;
}

/** Check boxes that are on by default. */
const checkedUnlessSaid: ReadonlySet<string> = new Set(['muted']);

const text = (value: unknown): string => (typeof value === 'string' || typeof value === 'number' ? String(value) : '');

const isHex = (value: string): boolean => /^#[\da-f]{6}$/i.test(value);

const Control = ({
  id,
  noteId,
  isFaulty,
  field: { name, type, options, min, max, maxLength, isRequired },
  value,
  choices = [],
  placeholder = '',
  onChange,
}: FieldProps & { id: string; noteId: string; isFaulty: boolean }) => {
  const { texts } = useConsole();
  const words = texts.fields;
  const common = { id, 'aria-invalid': isFaulty, 'aria-describedby': noteId };
  const select = (list: readonly { value: string; label: string }[], none: string | null) => (
    <select {...common} value={text(value)} onChange={(event) => onChange(event.currentTarget.value || undefined)}>
      {(none !== null || !list.some((each) => each.value === text(value))) && <option value="">{none ?? ''}</option>}
      {list.map((each) => (
        <option key={each.value} value={each.value}>
          {each.label}
        </option>
      ))}
    </select>
  );
  switch (type) {
    case 'long':
      return (
        <textarea
          {...common}
          rows={5}
          dir="auto"
          value={text(value)}
          placeholder={placeholder}
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
    case 'number':
      return (
        <input
          {...common}
          type="number"
          min={min}
          max={max}
          step="any"
          placeholder={placeholder}
          value={text(value)}
          onInput={(event) => {
            const given = event.currentTarget.value;
            onChange(given === '' ? undefined : Number(given));
          }}
        />
      );
    case 'enum':
      return select(
        options.map((each) => ({ value: each, label: wordOf(words.options, each) })),
        words.standard,
      );
    case 'align':
      return select([{ value: 'center', label: words.options['center'] ?? 'center' }], words.standard);
    case 'template':
    case 'feed':
    case 'group':
    case 'playlist':
    case 'record':
      return select(
        choices.map((each) => ({ value: each.id, label: each.name || each.id })),
        isRequired ? null : words.none,
      );
    case 'date':
    case 'date-time':
      return (
        <input
          {...common}
          {...typeFor(type === 'date' ? 'date' : 'datetime-local', text(value))}
          value={text(value)}
          onInput={(event) => onChange(event.currentTarget.value || undefined)}
        />
      );
    case 'colour':
      return (
        <div class="colour">
          <input
            type="color"
            aria-label={words.pick}
            value={isHex(text(value)) ? text(value) : '#17343a'}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
          <input
            {...common}
            value={text(value)}
            placeholder={words.standard}
            autocapitalize="none"
            spellcheck={false}
            onInput={(event) => onChange(event.currentTarget.value)}
          />
        </div>
      );
    case 'focus': {
      const [x = 0.5, y = 0.5] = Array.isArray(value) ? (value as number[]) : [];
      const slider = (label: string, at: number, change: (next: number) => void) => (
        <label class="slider">
          <span>{label}</span>
          <input
            type="range"
            min={0}
            max={1}
            step={0.05}
            value={at}
            onInput={(event) => change(Number(event.currentTarget.value))}
          />
        </label>
      );
      return (
        <fieldset id={id} aria-describedby={noteId} class="focus">
          <legend class="unseen">{wordOf(words.label, name)}</legend>
          {slider(words.across, x, (next) => onChange([next, y]))}
          {slider(words.down, y, (next) => onChange([x, next]))}
        </fieldset>
      );
    }
    // Media and check boxes have a form of their own.
    case 'media':
    case 'boolean':
    case 'fields':
    case 'other':
    case 'text':
      return (
        <input
          {...common}
          value={text(value)}
          maxLength={maxLength}
          placeholder={placeholder}
          dir="auto"
          autocomplete="off"
          onInput={(event) => onChange(event.currentTarget.value)}
        />
      );
  }
};

export const FormField = (props: FieldProps) => {
  const { texts } = useConsole();
  const id = useId();
  const noteId = `${id}-note`;
  const { field, value, issues, accepts = [], onChange } = props;
  const label = props.label ?? wordOf(texts.fields.label, field.name);
  const errors = issues.errors.map(shortMessage).join(' ');
  const warnings = issues.warnings.map(shortMessage).join(' ');
  if (field.type === 'media') {
    return (
      <MediaField
        name={field.name}
        label={label}
        value={text(value)}
        accepts={accepts}
        fault={errors || null}
        caution={warnings || null}
        isRequired={field.isRequired}
        onChange={(next) => onChange(next || undefined)}
      />
    );
  }
  const hints: Readonly<Record<string, string>> = texts.fields.hint;
  const hint = props.hasHint === false ? undefined : hints[field.name];
  const note = (
    <div id={noteId} class="field-note">
      {hint !== undefined && <p class="hint">{hint}</p>}
      {errors !== '' && <p class="fault">{errors}</p>}
      {warnings !== '' && <p class="caution">{warnings}</p>}
    </div>
  );
  if (field.type === 'boolean') {
    const standard = checkedUnlessSaid.has(field.name);
    return (
      <div class="field" data-field={field.name}>
        <label class="check">
          <input
            type="checkbox"
            checked={typeof value === 'boolean' ? value : standard}
            aria-describedby={noteId}
            onChange={(event) => onChange(event.currentTarget.checked)}
          />
          <span>{label}</span>
        </label>
        {note}
      </div>
    );
  }
  return (
    <div class="field" data-field={field.name}>
      <label for={id}>{label}</label>
      <Control {...props} id={id} noteId={noteId} isFaulty={errors !== ''} />
      {note}
    </div>
  );
};
