/** Forms of designs and of templates with a schema; pure. */
import type { Design } from '../../../service/contract/console/designs.ts';
import type { FieldSchema, FlatField, FormField } from '../../../service/contract/field-schema.ts';
import type { ContentDocument, Fields } from './document.ts';
import type { Field, FieldType } from './schema.ts';

/** Fields that name a record of the content, by name. */
export const referenceLists = {
  source: 'apiSources',
  feed: 'rssFeeds',
  timetable: 'timetableGroups',
  calendar: 'calendars',
} as const satisfies Record<string, keyof ContentDocument>;

const isReference = (name: string): name is keyof typeof referenceLists => Object.hasOwn(referenceLists, name);

/** The records that a field can name; null: it names none. */
export const recordsFor = (name: string, document: ContentDocument): readonly { id: string; name?: string }[] | null =>
  isReference(name) ? (document[referenceLists[name]] ?? []) : null;

const LONG = 150;

const typeOf = (name: string, field: FlatField): FieldType => {
  if (field.type !== 'string')
    return field.type === 'boolean' ? 'boolean' : field.enum === undefined ? 'number' : 'enum';
  if (field.enum !== undefined) return 'enum';
  if (isReference(name)) return 'record';
  switch (field.format) {
    case 'color':
      return 'colour';
    case 'date':
    case 'date-time':
    case 'media':
      return field.format;
    case 'markdown':
      return 'long';
    case undefined:
      return (field.maxLength ?? 0) > LONG ? 'long' : 'text';
  }
};

/** A field as forms show it. */
export const formField = (name: string, field: FlatField): Field => ({
  name,
  type: typeOf(name, field),
  isRequired: false,
  options: field.type === 'boolean' ? [] : (field.enum ?? []).map(String),
  ...(field.type === 'string' && field.maxLength !== undefined ? { maxLength: field.maxLength } : {}),
  ...(field.type === 'number' && field.minimum !== undefined ? { min: field.minimum } : {}),
  ...(field.type === 'number' && field.maximum !== undefined ? { max: field.maximum } : {}),
});

/** What a form has chosen, as the field holds it. */
export const chosenValue = (field: FlatField, value: unknown): unknown =>
  field.type === 'number' && typeof value === 'string' ? Number(value) : value;

const isMedia = (field: FormField): boolean => field.type === 'string' && field.format === 'media';

/** The values of a new slide: those of the example, without media and records that the house does not have. */
export const startValues = (
  { schema, example }: Pick<Design, 'schema' | 'example'>,
  document: ContentDocument,
): Fields =>
  Object.fromEntries(
    Object.entries(schema.properties).flatMap(([name, field]): [string, unknown][] => {
      const records = recordsFor(name, document);
      if (records !== null) return records[0] === undefined ? [] : [[name, records[0].id]];
      const value = example[name];
      if (value === undefined || isMedia(field)) return [];
      if (field.type !== 'array' || !Array.isArray(value)) return [[name, value]];
      if (Object.values(field.items.properties).some(isMedia)) {
        const kept = (value as Fields[]).map((entry) =>
          Object.fromEntries(
            Object.entries(entry).filter(([key]) => !isMedia(field.items.properties[key] ?? { type: 'boolean' })),
          ),
        );
        return [[name, kept]];
      }
      return [[name, value]];
    }),
  );

/** The form of a slide's template; undefined: it has none. */
export const schemaOf = (
  templateId: unknown,
  document: ContentDocument,
  designs: readonly Design[],
): FieldSchema | undefined => {
  const own = document.templates?.find(({ id }) => id === templateId)?.['schema'] as FieldSchema | undefined;
  return own ?? designs.find(({ id }) => id === templateId)?.schema;
};
