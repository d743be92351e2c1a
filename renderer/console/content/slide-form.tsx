/** The form of a slide, made from the schema of the operator's file. */
import { contentSchema } from '../../../service/contract/content-schema.ts';
import { shownFields } from '../../../service/contract/slide-values.ts';
import { issuesAt } from '../model/checks.ts';
import type { ContentDocument, SlideDraft } from '../model/document.ts';
import { setField } from '../model/edit.ts';
import { createForms, type Field } from '../model/schema.ts';
import type { ContentCheck } from '../model/wire.ts';
import { useConsole } from '../ui/context.tsx';
import { Icon } from '../ui/icon.tsx';
import { kindIcon } from '../ui/miniature.tsx';
import { wordOf } from '../ui/words.ts';
import { FormField, type Issues } from './field.tsx';
import { ScheduleFields } from './schedule-fields.tsx';
import { TemplateFields } from './template-fields.tsx';

const forms = createForms(contentSchema);
export const slideKinds = forms.kinds;

/** Beginnings of the media types that a kind can show. */
const accepted: Partial<Record<string, readonly string[]>> = {
  image: ['image/'],
  video: ['video/'],
  pdf: ['application/pdf'],
};

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
  /** @param group the field that was typed into */
  onChange(slide: SlideDraft, group: string): void;
}

export const SlideForm = ({ slide, document, path, check, onChange }: SlideFormProps) => {
  const { texts } = useConsole();
  const words = texts.editor;
  const { fields, content: contentFields } = forms.slide(slide.kind);
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

  const choicesFor = (type: Field['type']) =>
    type === 'template' ? document.templates : type === 'feed' ? document.rssFeeds : document.timetableGroups;

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
  const contentRow = (field: Field) => (
    <FormField
      key={field.name}
      field={field}
      value={content[field.name]}
      issues={at(`content.${field.name}`)}
      choices={choicesFor(field.type) ?? []}
      onChange={(value) => {
        const next = setField(content, field.name, value);
        onChange(setField(slide, 'content', Object.keys(next).length === 0 ? undefined : next), field.name);
      }}
    />
  );
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
      {slide.kind === 'template' ? (
        <TemplateFields
          template={document.templates?.find(({ id }) => id === slide.template_id)}
          content={content}
          onChange={(next) => onChange(setField(slide, 'content', next), 'content')}
        />
      ) : (
        contentFields.filter(({ isRequired }) => isRequired).map(contentRow)
      )}
      {others.map(row)}
      <ScheduleFields slide={slide} issues={issues} path={path} onChange={(next) => onChange(next, 'schedule')} />
      {slide.kind !== 'template' && contentFields.some(({ isRequired }) => !isRequired) && (
        <details class="more-fields" open={at('content').warnings.length > 0}>
          <summary>{words.look}</summary>
          <div class="stack">{contentFields.filter(({ isRequired }) => !isRequired).map(contentRow)}</div>
        </details>
      )}
      <details class="more-fields" open={rare.some((name) => at(name).errors.length > 0)}>
        <summary>{words.rare}</summary>
        <div class="stack">{fields.filter(({ name }) => rare.includes(name)).map(row)}</div>
      </details>
    </div>
  );
};
