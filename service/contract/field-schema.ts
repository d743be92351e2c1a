/** The form of a template: a subset of JSON Schema. There is no `pattern`, because it would run expressions of strangers. */
import { z } from 'zod';

export const mostEntries = 100;
const mostFields = 40;

const name = z.string().regex(/^[A-Za-z][A-Za-z0-9_]{0,63}$/, 'a name of 1 to 64 letters, digits and _');
const title = z.string().max(200).optional().describe('label of the field');

export const fieldFormats = ['color', 'date', 'date-time', 'media', 'markdown'] as const;

const textField = z.strictObject({
  type: z.literal('string'),
  title,
  enum: z.array(z.string().max(200)).min(1).max(mostEntries).optional(),
  default: z.string().max(10_000).optional(),
  maxLength: z.int().min(0).max(100_000).optional(),
  format: z.enum(fieldFormats).optional(),
});
const numberField = z.strictObject({
  type: z.literal('number'),
  title,
  enum: z.array(z.number()).min(1).max(mostEntries).optional(),
  default: z.number().optional(),
  minimum: z.number().optional(),
  maximum: z.number().optional(),
});
const booleanField = z.strictObject({ type: z.literal('boolean'), title, default: z.boolean().optional() });
const flatField = z.discriminatedUnion('type', [textField, numberField, booleanField]);
export type FlatField = z.infer<typeof flatField>;

const listField = z.strictObject({
  type: z.literal('array'),
  title,
  maxItems: z.int().min(0).max(mostEntries).optional(),
  items: z.strictObject({
    type: z.literal('object'),
    title,
    properties: z.record(name, flatField),
  }),
});
export type ListField = z.infer<typeof listField>;

/** One of the fields of a template. */
export type FormField = FlatField | ListField;

const few = (properties: object): boolean => Object.keys(properties).length <= mostFields;

export const fieldSchema = z
  .strictObject({
    type: z.literal('object').optional(),
    title,
    properties: z
      .record(name, z.discriminatedUnion('type', [...flatField.options, listField]))
      .refine(few, `at most ${mostFields} fields`),
  })
  .meta({ id: 'FieldSchema', description: 'a subset of JSON Schema' });
export type FieldSchema = z.infer<typeof fieldSchema>;
