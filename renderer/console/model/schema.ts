/** The fields of a form, from the JSON Schema of the operator's file; pure. */

export type FieldType =
  | 'text'
  | 'long'
  | 'number'
  | 'boolean'
  | 'enum'
  | 'colour'
  | 'focus'
  | 'media'
  | 'template'
  | 'feed'
  | 'group'
  | 'playlist'
  | 'align'
  | 'date'
  | 'date-time'
  | 'record'
  | 'fields'
  | 'other';

export interface Field {
  name: string;
  type: FieldType;
  isRequired: boolean;
  /** Of an enum. */
  options: string[];
  min?: number;
  max?: number;
  maxLength?: number;
  /** Of an object. */
  fields?: Field[];
}

interface Schema {
  type?: string | string[];
  const?: string;
  enum?: string[];
  anyOf?: Schema[];
  oneOf?: Schema[];
  properties?: Record<string, Schema>;
  required?: string[];
  items?: Schema;
  prefixItems?: Schema[];
  minimum?: number;
  exclusiveMinimum?: number;
  maximum?: number;
  maxLength?: number;
  pattern?: string;
  description?: string;
}

/** Fields that need a more specific form than their type. */
const known: Record<string, FieldType> = {
  body: 'long',
  media_url: 'media',
  fallback_media_url: 'media',
  template_id: 'template',
  feed_id: 'feed',
  group_id: 'group',
  playlist_id: 'playlist',
  calendar_id: 'record',
  background: 'colour',
  color: 'colour',
  align: 'align',
  css: 'long',
};

/** Fields that a form shows first, though one may stand in their place. */
const leading: ReadonlySet<string> = new Set(['calendar_id']);

/** Without the alternative null. */
const plain = (schema: Schema): Schema => {
  const alternatives = schema.anyOf?.filter(({ type }) => type !== 'null');
  return alternatives?.length === 1 ? { ...schema, ...alternatives[0] } : schema;
};

const typeOf = (name: string, schema: Schema): FieldType => {
  const found = known[name];
  if (found !== undefined) return found;
  if (schema.enum !== undefined) return 'enum';
  if (schema.prefixItems !== undefined) return 'focus';
  if (schema.properties !== undefined) return 'fields';
  const type = Array.isArray(schema.type) ? schema.type.find((each) => each !== 'null') : schema.type;
  if (type === 'boolean') return 'boolean';
  if (type === 'number' || type === 'integer') return 'number';
  return type === 'string' ? 'text' : 'other';
};

const fieldOf = (name: string, given: Schema, required: readonly string[]): Field => {
  const schema = plain(given);
  const min = schema.minimum ?? schema.exclusiveMinimum;
  return {
    name,
    type: typeOf(name, schema),
    isRequired: required.includes(name) || leading.has(name),
    options: schema.enum ?? [],
    ...(min === undefined ? {} : { min }),
    ...(schema.maximum === undefined ? {} : { max: schema.maximum }),
    ...(schema.maxLength === undefined ? {} : { maxLength: schema.maxLength }),
    ...(schema.properties === undefined ? {} : { fields: fieldsOf(schema) }),
  };
};

const fieldsOf = ({ properties = {}, required = [] }: Schema): Field[] =>
  Object.entries(properties).map(([name, schema]) => fieldOf(name, schema, required));

export const createForms = (contentSchema: object) => {
  const root = contentSchema as Schema;
  const slides = root.properties?.['playlists']?.items?.properties?.['slides']?.items;
  const byKind = new Map(
    (slides?.oneOf ?? slides?.anyOf ?? []).flatMap((schema) => {
      const kind = schema.properties?.['kind'];
      return (kind?.enum ?? [kind?.const ?? '']).map((name) => [name, schema] as const);
    }),
  );
  return {
    /** In the order of the schema. */
    kinds: [...byKind.keys()],
    /** The fields of a slide of a kind, and those of its `content`. */
    slide: (kind: string): { fields: Field[]; content: Field[] } => {
      const schema = byKind.get(kind) ?? {};
      return {
        fields: fieldsOf(schema).filter(({ name }) => name !== 'kind' && name !== 'content'),
        content: fieldsOf(plain(schema.properties?.['content'] ?? {})),
      };
    },
    /** The fields of a record of a list at the root, such as `rssFeeds`. */
    record: (list: string): Field[] => fieldsOf(root.properties?.[list]?.items ?? {}),
  };
};

const entered = {
  date: /^\d{4,6}-\d\d-\d\d$/,
  'datetime-local': /^\d{4,6}-\d\d-\d\dT\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/,
  time: /^\d\d:\d\d(?::\d\d(?:\.\d{1,3})?)?$/,
} as const;

/** The type of the field in which a date or time is changed; none, a text, where a browser would show nothing of the value. */
export const typeFor = <Type extends keyof typeof entered>(type: Type, value: string): { type: Type } | object =>
  value === '' || entered[type].test(value) ? { type } : {};
