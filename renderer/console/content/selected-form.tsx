/** What is set for several slides at once: how long each stands, and when they play. */
import { useId } from 'preact/hooks';
import { isEqual, type SlideDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { useConsole } from '../ui/context.tsx';
import { ScheduleFields } from './slide-form.tsx';

const scheduleFields = [
  'schedule_mode',
  'schedule_days_json',
  'schedule_start_time',
  'schedule_end_time',
  'schedule_start_datetime',
  'schedule_end_datetime',
] as const;

const none = { errors: [], warnings: [] };

/** The value that all have; undefined: they differ, or none has one. Pure. */
export const commonOf = (slides: readonly SlideDraft[], name: string): unknown =>
  slides.every((slide) => isEqual(slide[name], slides[0]?.[name])) ? slides[0]?.[name] : undefined;

/** A mode that no slide has: none of the choices holds for all. */
const MIXED = 'mixed';

interface SelectedFormProps {
  slides: readonly SlideDraft[];
  /** @param group the field that was typed into; absent: it was chosen, which is a step of its own */
  onChange(edit: (slide: SlideDraft) => SlideDraft, group?: string): void;
}

export const SelectedForm = ({ slides, onChange }: SelectedFormProps) => {
  const { texts } = useConsole();
  const words = texts.editor;
  const id = useId();
  const length = commonOf(slides, 'duration_seconds');
  const lengths = slides.some((slide) => slide.duration_seconds !== slides[0]?.duration_seconds);
  const modes = new Set(slides.map((slide) => slide['schedule_mode'] ?? 'always'));
  const common: SlideDraft = {
    kind: '',
    ...Object.fromEntries(scheduleFields.map((name) => [name, commonOf(slides, name)])),
    ...(modes.size > 1 ? { schedule_mode: MIXED } : {}),
  };
  const differs = scheduleFields.some((name) => slides.some((slide) => !isEqual(slide[name], slides[0]?.[name])));
  return (
    <div class="slide-form stack">
      <h2>{words.selected({ count: slides.length })}</h2>
      <div class="field">
        <label for={id}>{texts.fields.label.duration_seconds}</label>
        <input
          id={id}
          type="number"
          min={1}
          step="any"
          placeholder={lengths ? words.differ : words.standardLength}
          value={typeof length === 'number' ? String(length) : ''}
          onInput={(event) => {
            const given = event.currentTarget.value;
            const seconds = given === '' ? undefined : Number(given);
            onChange((slide) => setField(slide, 'duration_seconds', seconds), 'duration_seconds');
          }}
        />
      </div>
      <ScheduleFields
        slide={common}
        issues={none}
        path=""
        onChange={(next, group) => {
          const changed = scheduleFields.filter((name) => !isEqual(next[name], common[name]));
          onChange((slide) => changed.reduce((each, name) => setField(each, name, next[name]), slide), group);
        }}
      />
      {differs && <p class="hint">{words.scheduleDiffers}</p>}
    </div>
  );
};
