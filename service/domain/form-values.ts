/** Checks the values of a template by its form; pure. */
import { isDay } from '../contract/day.ts';
import type { FieldSchema, FlatField, FormField } from '../contract/field-schema.ts';
import { isColour } from './colours.ts';

type Values = Readonly<Record<string, unknown>>;

interface ValueIssue {
  /** Below the values. */
  path: (string | number)[];
  message: string;
}

const MEDIA = /^(?:https?:\/\/[^/\s]\S*|\/media\/[^/\s]+)$/i;
const DATE_TIME = /^(\d{4}-\d\d-\d\d)T([01]\d|2[0-3]):[0-5]\d(?::[0-5]\d(?:\.\d{1,9})?)?(?:Z|[+-]\d\d:?\d\d)?$/;

const formats: Record<NonNullable<Extract<FlatField, { type: 'string' }>['format']>, [RegExp | null, string]> = {
  color: [null, 'it must be a CSS colour'],
  date: [/^\d{4}-\d\d-\d\d$/, 'it must be a date such as 2026-01-31'],
  'date-time': [DATE_TIME, 'it must be a date and time such as 2026-01-31T18:00'],
  media: [MEDIA, 'it must be an http(s) URL or /media/NAME'],
  markdown: [/^/, ''],
};

const hasFormat = (value: string, format: keyof typeof formats): boolean => {
  if (format === 'color') return isColour(value);
  const [rule] = formats[format];
  const isDated = format === 'date' || format === 'date-time';
  return rule?.test(value) === true && (!isDated || isDay(value.slice(0, 10)));
};

const oneOf = (values: readonly unknown[]): string =>
  `it must be ${values.map((value) => JSON.stringify(value)).join(' or ')}`;

/** What is wrong with one value, as a clause; null: nothing. */
const flatIssue = (field: FlatField, value: unknown): string | null => {
  if (field.type === 'boolean') return typeof value === 'boolean' ? null : 'it must be true or false';
  if (field.type === 'number') {
    if (typeof value !== 'number') return 'it must be a number';
    if (field.enum !== undefined && !field.enum.includes(value)) return oneOf(field.enum);
    if (field.minimum !== undefined && value < field.minimum) return `it must be at least ${field.minimum}`;
    if (field.maximum !== undefined && value > field.maximum) return `it must be at most ${field.maximum}`;
    return null;
  }
  if (typeof value !== 'string') return 'it must be a text';
  if (field.enum !== undefined && !field.enum.includes(value)) return oneOf(field.enum);
  if (field.maxLength !== undefined && Array.from(value).length > field.maxLength) {
    return `it must have at most ${field.maxLength} characters`;
  }
  // A field that is emptied is as good as absent.
  if (field.format === undefined || value === '' || hasFormat(value, field.format)) return null;
  return formats[field.format][1];
};

/** A field can have the name of what every object inherits. */
const ownValue = (values: Values | null | undefined, name: string): unknown =>
  values != null && Object.hasOwn(values, name) ? values[name] : undefined;

const isAbsent = (value: unknown): boolean => value === undefined || value === null;

const MAX_ENTRIES = 100;

const fieldIssues = (field: FormField, value: unknown): ValueIssue[] => {
  if (isAbsent(value)) return [];
  if (field.type !== 'array') {
    const message = flatIssue(field, value);
    return message === null ? [] : [{ path: [], message }];
  }
  if (!Array.isArray(value)) return [{ path: [], message: 'it must be a list' }];
  const most = Math.min(field.maxItems ?? MAX_ENTRIES, MAX_ENTRIES);
  if (value.length > most) return [{ path: [], message: `it must have at most ${most} entries` }];
  return value.flatMap((entry: unknown, index): ValueIssue[] => {
    if (typeof entry !== 'object' || entry === null || Array.isArray(entry)) {
      return [{ path: [index], message: 'it must be an object' }];
    }
    return Object.entries(field.items.properties).flatMap(([name, each]) => {
      const found = ownValue(entry as Values, name);
      const message = isAbsent(found) ? null : flatIssue(each, found);
      return message === null ? [] : [{ path: [index, name], message }];
    });
  });
};

/** What is wrong with the values of a template. */
export const valueIssues = ({ properties }: FieldSchema, values: Values | null | undefined): ValueIssue[] =>
  Object.entries(properties).flatMap(([name, field]) =>
    fieldIssues(field, ownValue(values, name)).map(({ path, message }) => ({ path: [name, ...path], message })),
  );

const defaultsOf = (properties: Readonly<Record<string, FormField>>, values: Values): Values => {
  const absent = Object.entries(properties).flatMap(([name, field]) =>
    field.type !== 'array' && field.default !== undefined && isAbsent(ownValue(values, name))
      ? [[name, field.default]]
      : [],
  );
  return absent.length === 0 ? values : { ...values, ...(Object.fromEntries(absent) as Values) };
};

/** The values with the defaults of those that are absent; the same object if none is. */
export const withDefaults = ({ properties }: FieldSchema, values: Values | null): Values | null => {
  const filled = defaultsOf(properties, values ?? {});
  const lists = Object.entries(properties).flatMap(([name, field]) => {
    const list = ownValue(filled, name);
    if (field.type !== 'array' || !Array.isArray(list)) return [];
    return [[name, list.map((entry: Values) => defaultsOf(field.items.properties, entry))]];
  });
  if (filled === values && lists.every(([name, list]) => isSameList(list as Values[], filled[name as string]))) {
    return values;
  }
  const all = { ...filled, ...(Object.fromEntries(lists) as Values) };
  return Object.keys(all).length === 0 ? values : all;
};

const isSameList = (list: readonly unknown[], other: unknown): boolean =>
  Array.isArray(other) && list.every((each, index) => each === other[index]);

/** Of a schema that a house writes: defaults that do not keep its own rules. */
export const defaultIssues = ({ properties }: FieldSchema): ValueIssue[] => {
  const check = (path: string[], field: FormField): ValueIssue[] => {
    if (field.type === 'array') {
      return Object.entries(field.items.properties).flatMap(([name, each]) =>
        check([...path, 'items', 'properties', name], each),
      );
    }
    const message = field.default === undefined ? null : flatIssue(field, field.default);
    return message === null ? [] : [{ path: [...path, 'default'], message }];
  };
  return Object.entries(properties).flatMap(([name, field]) => check(['properties', name], field));
};
