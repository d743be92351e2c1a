/** The form of a slide, made from the schema of the operator's file. */
import type { ComponentChildren } from 'preact';
import { useEffect, useId } from 'preact/hooks';
import { contentSchema } from '../../../service/contract/content-schema.ts';
import { shownFields } from '../../../service/contract/slide-values.ts';
import { shownBy } from '../../../service/domain/media-types.ts';
import { schemaOf } from '../model/designs.ts';
import { type ContentDocument, type Fields, issuesAt, type NamedDraft, type SlideDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { createForms, type Field, typeFor } from '../model/schema.ts';
import type { ContentCheck, ContentIssue } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Fold } from '../ui/controls.tsx';
import { Icon } from '../ui/icon.tsx';
import { Chip, IssueNotes, Weekdays, weekdays } from '../ui/inputs.tsx';
import { kindIcon } from '../ui/miniature.tsx';
import { wordOf } from '../ui/words.ts';
import { DesignForm } from './design-form.tsx';
import { FormField, type Issues } from './field.tsx';

/** The player's own names; they are no values of a slide. */
const reserved = [
  'content',
  'slide',
  'screen',
  'sources',
  'feeds',
  'timetables',
  'calendars',
  'now',
  'forloop',
  'blank',
  'empty',
];

/** The variables of a template, in order of appearance. */
export const namesIn = (html: string): string[] => {
  const own = [...html.matchAll(/\b(?:assign|capture|for)\s+([a-z_]\w*)/gi)].map(([, name]) => name);
  const found = [...html.matchAll(/\{\{-?\s*(?:content\.)?([a-z_]\w*)/gi)].map(([, name = '']) => name);
  return [...new Set(found)].filter((name) => !reserved.includes(name) && !own.includes(name));
};

interface TemplateFieldsProps {
  template: NamedDraft | undefined;
  content: Fields;
  onChange(content: Fields, name: string): void;
}

const none = { errors: [], warnings: [] };

/** The values that a template is rendered with: one field per variable. */
export const TemplateFields = ({ template, content, onChange }: TemplateFieldsProps) => {
  const texts = Object.keys(content).filter((name) => typeof content[name] === 'string' && name !== 'when_old');
  const names = [...new Set([...namesIn(template?.html ?? ''), ...texts])].filter(
    // Other values than text are edited as JSON.
    (name) => content[name] === undefined || typeof content[name] === 'string',
  );
  return (
    <>
      {names.map((name) => (
        <FormField
          key={name}
          field={{ name, type: /text|body/.test(name) ? 'long' : 'text', isRequired: false, options: [] }}
          value={content[name]}
          issues={none}
          onChange={(value) => onChange(setField(content, name, value), name)}
        />
      ))}
    </>
  );
};

interface ScheduleProps {
  slide: SlideDraft;
  issues: Issues;
  path: string;
  /** @param group the field that was typed into; absent: it was chosen, which is a step of its own */
  onChange(slide: SlideDraft, group?: string): void;
}

const modes = ['always', 'between', 'weekly'] as const;

export const daysOf = (json: unknown): number[] | null => {
  if (typeof json !== 'string') return null;
  try {
    const days: unknown = JSON.parse(json);
    return Array.isArray(days) ? days.filter((day): day is number => typeof day === 'number') : null;
  } catch {
    return null;
  }
};

/** When a slide is on schedule. */
export const ScheduleFields = ({ slide, issues, path, onChange }: ScheduleProps) => {
  const { texts, format } = useConsole();
  const words = texts.schedule;
  const id = useId();
  const mode = slide['schedule_mode'] ?? 'always';
  const isTimed = mode === 'between' || mode === 'weekly';

  const field = (name: string, type: 'datetime-local' | 'time', label: string) => {
    const value = typeof slide[name] === 'string' ? slide[name] : '';
    const own = issuesAt(issues.errors, `${path}.${name}`);
    const cautions = issuesAt(issues.warnings, `${path}.${name}`);
    return (
      <div class="field" data-field={name}>
        <label for={`${id}${name}`}>{label}</label>
        <input
          id={`${id}${name}`}
          {...typeFor(type, value)}
          value={value}
          aria-invalid={own.length > 0}
          aria-describedby={`${id}${name}-note`}
          onInput={(event) => onChange(setField(slide, name, event.currentTarget.value), name)}
        />
        <div id={`${id}${name}-note`} class="field-note">
          <IssueNotes errors={own} warnings={cautions} />
        </div>
      </div>
    );
  };

  const days = daysOf(slide['schedule_days_json']) ?? weekdays;
  const concerning = (list: readonly ContentIssue[]): ContentIssue[] =>
    ['schedule_mode', 'schedule_days_json'].flatMap((name) => issuesAt(list, `${path}.${name}`));
  return (
    <fieldset class="field schedule">
      <legend>{words.title}</legend>
      <div class="chips">
        {modes.map((each) => (
          <Chip
            key={each}
            name={`${id}mode`}
            checked={mode === each}
            onChange={() => onChange(setField(slide, 'schedule_mode', each === 'always' ? undefined : each))}
          >
            {words.mode[each]}
          </Chip>
        ))}
      </div>
      {mode === 'weekly' && (
        <>
          <Weekdays
            chosen={days}
            onChange={(next) =>
              onChange(setField(slide, 'schedule_days_json', next.length === 7 ? undefined : JSON.stringify(next)))
            }
          />
          <div class="pair">
            {field('schedule_start_time', 'time', words.from)}
            {field('schedule_end_time', 'time', words.until)}
          </div>
        </>
      )}
      {isTimed && (
        <div class="pair">
          {field('schedule_start_datetime', 'datetime-local', words.firstDay)}
          {field('schedule_end_datetime', 'datetime-local', words.lastDay)}
        </div>
      )}
      {isTimed && <p class="hint">{texts.plan.zone({ timeZone: format.zone })}</p>}
      <IssueNotes errors={concerning(issues.errors)} warnings={concerning(issues.warnings)} />
    </fieldset>
  );
};

const forms = createForms(contentSchema);
export const slideKinds = forms.kinds;

/** Beginnings of the media types that a kind can show. */
const accepted: Partial<Record<string, readonly string[]>> = shownBy;

/** Kinds whose medium is an address, which is typed. */
const addressed = ['web', 'stream'];

/** Fields that few people need. */
const rare = ['id', 'media_type'];
const isSchedule = ({ name }: Field): boolean => name.startsWith('schedule_');

interface SlideFormProps {
  slide: SlideDraft;
  document: ContentDocument;
  /** Of the slide in the document: `playlists[0].slides[2]`. */
  path: string;
  check: ContentCheck | null;
  /** @param group the field that was typed into; absent: it was chosen, which is a step of its own */
  onChange(slide: SlideDraft, group?: string): void;
}

export const SlideForm = ({ slide, document, path, check, onChange }: SlideFormProps) => {
  const { texts, designs } = useConsole();
  const words = texts.editor;
  useEffect(() => void designs.load(), []);
  const schema = slide.kind === 'template' ? schemaOf(slide.template_id, document, designs.list.value) : undefined;
  const form = forms.slide(slide.kind);
  const { fields } = form;
  // Several calendars are edited as JSON.
  const contentFields = form.content.filter(({ name }) => name !== 'calendar_ids');
  const shown = shownFields[slide.kind as keyof typeof shownFields] ?? [];
  const issues: Issues = {
    errors: issuesAt(check?.errors ?? [], path),
    warnings: issuesAt(check?.warnings ?? [], path),
  };
  const at = (name: string): Issues => ({
    errors: issuesAt(issues.errors, `${path}.${name}`),
    warnings: issuesAt(issues.warnings, `${path}.${name}`),
  });
  const own: Issues = {
    errors: issues.errors.filter((issue) => issue.path === path || issue.path === `${path}.kind`),
    warnings: issues.warnings.filter((issue) => issue.path === path),
  };
  const content = slide.content ?? {};

  const choicesFor = (type: Field['type']) => {
    if (type === 'template') {
      const named = designs.list.value.map(({ id, name }) => ({ id, name: wordOf(texts.designs.word, name) }));
      return [...(document.templates ?? []), ...named];
    }
    if (type === 'feed') return document.rssFeeds;
    if (type === 'record') return document.calendars;
    return type === 'playlist' ? document.playlists : document.timetableGroups;
  };

  const isAddress = ({ name }: Field): boolean => name === 'media_url' && addressed.includes(slide.kind);
  const row = (field: Field) => (
    <FormField
      key={field.name}
      field={isAddress(field) ? { ...field, type: 'text' } : field}
      {...(isAddress(field) ? { label: texts.fields.label['url'] ?? field.name } : {})}
      value={slide[field.name]}
      issues={at(field.name)}
      accepts={accepted[slide.kind] ?? []}
      choices={choicesFor(field.type) ?? []}
      placeholder={
        field.name === 'duration_seconds'
          ? words.standardLength
          : isAddress(field)
            ? slide.kind === 'web'
              ? 'https://'
              : 'rtmp://'
            : ''
      }
      onChange={(value) => onChange(setField(slide, field.name, value), field.name)}
    />
  );
  const orNone = (fields: Fields): Fields | undefined => (Object.keys(fields).length === 0 ? undefined : fields);
  const contentRow = (field: Field): ComponentChildren => {
    const change = (value: unknown, group: string): void =>
      onChange(setField(slide, 'content', orNone(setField(content, field.name, value))), group);
    const one = (each: Field, value: unknown, place: string, set: (value: unknown) => void) => (
      <FormField
        key={place}
        field={each}
        value={value}
        issues={at(`content.${place}`)}
        choices={choicesFor(each.type) ?? []}
        onChange={set}
      />
    );
    if (field.fields === undefined) {
      return one(field, content[field.name], field.name, (value) => change(value, field.name));
    }
    const inner = (content[field.name] ?? {}) as Fields;
    return field.fields.map((each) =>
      one(each, inner[each.name], `${field.name}.${each.name}`, (value) =>
        change(orNone(setField(inner, each.name, value)), each.name),
      ),
    );
  };
  // A field that the kind ignores is still shown if it has a value: the box warns about it.
  const isShown = ({ name }: Field): boolean => shown.includes(name as (typeof shown)[number]) || slide[name] != null;
  const main = fields.filter(
    (field) => ['title', 'body', 'media_url', 'template_id'].includes(field.name) && isShown(field),
  );
  const others = fields.filter(
    (field) => !['title', 'body', 'media_url', 'template_id', ...rare].includes(field.name) && !isSchedule(field),
  );
  return (
    <div class="slide-form stack">
      <p class="slide-kind">
        <Icon name={kindIcon(slide.kind)} /> {wordOf(words.kind, slide.kind)}
      </p>
      {[...own.errors, ...own.warnings].map(({ message }) => (
        <p key={message} class="notice warning">
          {message}
        </p>
      ))}
      {main.map(row)}
      {schema !== undefined ? (
        <DesignForm
          schema={schema}
          document={document}
          content={content}
          issues={issues}
          path={`${path}.content`}
          onChange={(next, group) => onChange(setField(slide, 'content', next), `content ${group}`)}
        />
      ) : slide.kind === 'template' ? (
        <TemplateFields
          template={document.templates?.find(({ id }) => id === slide.template_id)}
          content={content}
          onChange={(next, name) => onChange(setField(slide, 'content', next), `content ${name}`)}
        />
      ) : (
        contentFields.filter(({ isRequired }) => isRequired).map(contentRow)
      )}
      {others.map(row)}
      <ScheduleFields slide={slide} issues={issues} path={path} onChange={onChange} />
      {contentFields.some(({ isRequired }) => !isRequired) && (
        <Fold class="more-fields" isWanted={at('content').warnings.length > 0}>
          <summary>{words.look}</summary>
          <div class="stack">{contentFields.filter(({ isRequired }) => !isRequired).map(contentRow)}</div>
        </Fold>
      )}
      <Fold class="more-fields" isWanted={rare.some((name) => at(name).errors.length > 0)}>
        <summary>{words.rare}</summary>
        <div class="stack">{fields.filter(({ name }) => rare.includes(name)).map(row)}</div>
      </Fold>
    </div>
  );
};
