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
  enum: z.array(z.string().max(200)).min(1).max(mostEntries).optional().describe('the values to choose from'),
  default: z.string().max(10_000).optional().describe('value of a field that is left empty'),
  maxLength: z.int().min(0).max(100_000).optional().describe('in characters'),
  format: z.enum(fieldFormats).optional().describe('how the field is edited and checked'),
});
const numberField = z.strictObject({
  type: z.literal('number'),
  title,
  enum: z.array(z.number()).min(1).max(mostEntries).optional().describe('the values to choose from'),
  default: z.number().optional().describe('value of a field that is left empty'),
  minimum: z.number().optional().describe('least value'),
  maximum: z.number().optional().describe('greatest value'),
});
const booleanField = z.strictObject({
  type: z.literal('boolean'),
  title,
  default: z.boolean().optional().describe('value of a field that is left empty'),
});
const flatField = z.discriminatedUnion('type', [textField, numberField, booleanField]);
export type FlatField = z.infer<typeof flatField>;

const listField = z.strictObject({
  type: z.literal('array'),
  title,
  maxItems: z.int().min(0).max(mostEntries).optional().describe('most entries of the list'),
  items: z
    .strictObject({
      type: z.literal('object'),
      title,
      properties: z.record(name, flatField).describe('the fields of an entry, by name'),
    })
    .describe('an entry of the list'),
});
export type ListField = z.infer<typeof listField>;

export type FormField = FlatField | ListField;

const few = (properties: object): boolean => Object.keys(properties).length <= mostFields;

export const fieldSchema = z
  .strictObject({
    type: z.literal('object').optional(),
    title,
    properties: z
      .record(name, z.discriminatedUnion('type', [...flatField.options, listField]))
      .refine(few, `at most ${mostFields} fields`)
      .describe('the fields, by name'),
  })
  .meta({ id: 'FieldSchema', description: 'a subset of JSON Schema' });
export type FieldSchema = z.infer<typeof fieldSchema>;
