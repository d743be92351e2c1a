/** Values of a design, or of a template with a form, that have no effect: fields that it lacks, and records that there are not. */
import type { ContentFile } from '../contract/content.ts';
import { designPrefix } from '../contract/design-prefix.ts';
import type { FieldSchema } from '../contract/field-schema.ts';
import { contentKeys, type SlideFile } from '../contract/slides.ts';
import type { NamedTemplate } from '../domain/slides.ts';
import { fieldsNaming } from '../domain/template.ts';
import { didYouMean } from '../domain/wording.ts';
import type { Path } from './labels.ts';

interface Issue {
  path: Path;
  message: string;
}

/** Of one list: the report is limited, and words are slow to compare. */
const MOST = 10;

const unknownIn = (values: object, isKnown: (key: string) => boolean, known: readonly string[], path: Path): Issue[] =>
  Object.keys(values)
    .filter((key) => !isKnown(key))
    .slice(0, MOST)
    .map((key) => ({
      path: [...path, key],
      message: `${JSON.stringify(key)} is not known here${didYouMean(key, known)}`,
    }));

const isObject = (value: unknown): value is object => typeof value === 'object' && value !== null;

const fieldIssues = ({ schema: { properties }, names }: Form, content: object): Issue[] => {
  const known = [...Object.keys(properties), ...contentKeys('template')];
  return [
    ...unknownIn(content, (key) => known.includes(key) || names.has(key), known, ['content']),
    ...Object.entries(properties).flatMap(([name, field]) => {
      const list = (content as Record<string, unknown>)[name];
      if (field.type !== 'array' || !Array.isArray(list)) return [];
      const inner = Object.keys(field.items.properties);
      const isKnown = (key: string): boolean => inner.includes(key) || names.has(key);
      return list
        .flatMap((entry: unknown, index) =>
          isObject(entry) ? unknownIn(entry, isKnown, inner, ['content', name, index]) : [],
        )
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

/** What a form says of the slides that use it. */
interface Form {
  schema: FieldSchema;
  /** The fields whose values are ids of records. */
  naming: ReturnType<typeof fieldsNaming>;
  /** Of a template of the house: all that its HTML names, because it may use fields that its form lacks. */
  names: ReadonlySet<string>;
}

/** Null: the template has no form. */
export const formOf = ({ id, html, schema }: Pick<NamedTemplate, 'id' | 'html' | 'schema'>): Form | null =>
  schema === undefined
    ? null
    : {
        schema,
        naming: fieldsNaming(html),
        names: new Set(id.startsWith(designPrefix) ? [] : html.match(/[\w-]+/g)),
      };

export const formIssues = ({ content }: Pick<SlideFile, 'content'>, form: Form, file: ContentFile): Issue[] => {
  if (!isObject(content)) return [];
  const missing = form.naming.flatMap(({ field, name }) => {
    const id = (content as Record<string, unknown>)[field];
    if (typeof id !== 'string' || id === '' || !Object.hasOwn(form.schema.properties, field)) return [];
    const [list, what] = records[name];
    const ids = file[list].map((record) => record.id);
    if (ids.includes(id)) return [];
    const message = `it names the ${what} with the id ${JSON.stringify(id)}, which does not exist${didYouMean(id, ids)}`;
    return [{ path: ['content', field], message }];
  });
  return [...missing, ...fieldIssues(form, content)];
};
