/** Values of a design, or of a template with a form, that have no effect: fields that it lacks, and records that there are not. */
import type { ContentFile } from '../contract/content.ts';
import type { FieldSchema } from '../contract/field-schema.ts';
import { contentKeys, type SlideFile } from '../contract/slides.ts';
import type { NamedTemplate } from '../domain/slides.ts';
import { fieldsNaming } from '../domain/template.ts';
import { didYouMean } from '../domain/wording.ts';
import type { Path } from './labels.ts';

/** Of one list: the report is limited, and words are slow to compare. */
const MOST = 10;

const unknownIn = (values: object, known: readonly string[], path: Path): { path: Path; message: string }[] =>
  Object.keys(values)
    .filter((key) => !known.includes(key))
    .slice(0, MOST)
    .map((key) => ({
      path: [...path, key],
      message: `${JSON.stringify(key)} is not known here${didYouMean(key, known)}`,
    }));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const fieldsOf = (
  { properties }: FieldSchema,
  content: object,
  isUsed: (key: string) => boolean,
): { path: Path; message: string }[] => {
  const known = [...Object.keys(properties), ...contentKeys('template')];
  return [
    ...unknownIn(content, known, ['content']).filter(({ path }) => !isUsed(String(path.at(-1)))),
    ...Object.entries(properties).flatMap(([name, field]) => {
      const list = (content as Record<string, unknown>)[name];
      if (field.type !== 'array' || !Array.isArray(list)) return [];
      const inner = Object.keys(field.items.properties);
      return list
        .flatMap((entry: unknown, index) => (isObject(entry) ? unknownIn(entry, inner, ['content', name, index]) : []))
        .slice(0, MOST);
    }),
  ];
};

const records = {
  feeds: ['rssFeeds', 'RSS feed'],
  sources: ['apiSources', 'API source'],
  timetables: ['timetableGroups', 'timetable group'],
  calendars: ['calendars', 'calendar'],
} as const;

/** @param template of the slide; `isOwn`: the house wrote it, and may use fields that its form lacks */
export const formIssues = (
  { content }: Pick<SlideFile, 'content'>,
  { html, schema }: Pick<NamedTemplate, 'html' | 'schema'>,
  file: ContentFile,
  isOwn: boolean,
): { path: Path; message: string }[] => {
  if (schema === undefined || !isObject(content)) return [];
  const missing = fieldsNaming(html).flatMap(({ field, name }) => {
    const id = (content as Record<string, unknown>)[field];
    if (typeof id !== 'string' || id === '' || !Object.hasOwn(schema.properties, field)) return [];
    const [list, what] = records[name];
    const ids = file[list].map((record) => record.id);
    if (ids.includes(id)) return [];
    const message = `it names the ${what} with the id ${JSON.stringify(id)}, which does not exist${didYouMean(id, ids)}`;
    return [{ path: ['content', field], message }];
  });
  return [...missing, ...fieldsOf(schema, content, (key) => isOwn && html.includes(key))];
};
