/** Schemas that all messages share: names, instants, digests, and the two variants of the interface. */
import { z } from 'zod';
import { canonicalDeviceId, cutBetween } from './readable.ts';

/** The interface has two variants; the baseline lacks everything marked by {@link extended}. */
export const variants = ['extended', 'baseline'] as const;
export type Variant = (typeof variants)[number];

/** Marks a field or a command that only the extended variant has, in the code and in the documents. */
export const extended = <Schema extends z.ZodType>(schema: Schema): Schema => schema.meta({ 'x-variant': 'extended' });

/** The names of the fields that only the extended variant has. */
export const extendedFields = ({ shape }: z.ZodObject): string[] =>
  Object.keys(shape).filter((name) => (shape[name] as z.ZodType).meta()?.['x-variant'] === 'extended');

/** ISO 8601 in UTC with milliseconds: `2026-01-31T08:00:00.000Z`. */
export const instant = z.iso
  .datetime({ precision: 3 })
  .meta({ id: 'Instant', description: 'ISO 8601, UTC, milliseconds' });

/** One end of a range in a query: a date, or ISO 8601. */
export const timeBound = z.string().min(1).max(64);

/** SHA-256 in lower-case hex. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256, lower-case hex');

/** {@link cutBetween} for texts that are kept: in V8 a slice keeps the whole string in memory, so the result is a copy. */
export const cutText = (text: string, limit: number): string =>
  text.length <= limit ? text : Buffer.from(cutBetween(text, limit), 'utf16le').toString('utf16le');

/** A text from a page. A longer one is cut, not refused: a long title must not close the connection. */
export const reportedText = (limit = 500) => z.string().overwrite((text) => cutText(text, limit));

/** A screen's name in URLs. */
export const slug = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('slug of a screen');

/** Name of a group of screens. Upper and lower case differ. */
export const tag = z
  .string()
  .regex(/^[\p{L}\p{M}\p{N}_-]{1,64}$/u, '1 to 64 letters and digits, _ and -')
  .describe('name of a group of screens');

const deviceIdRule = [/^[A-Za-z0-9._:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 . _ : -'] as const;

export const deviceId = z
  .string()
  .overwrite(canonicalDeviceId)
  .regex(...deviceIdRule)
  .describe('id of a device, as it is or as a person types it');

/** What a name that people give must be, so that every program can show and store it. */
export const nameRule = [
  /^[^\p{Cc}\uD800-\uDFFF]*$/u,
  'a name without control characters or unpaired surrogates',
] as const;

export const clientName = z
  .string()
  .trim()
  .min(1)
  .max(64)
  .regex(...nameRule)
  .describe('name of a player, for people');

/** The name in `x-signage-operator`. */
export const operator = z
  .string()
  .min(1)
  .max(64)
  .nullable()
  .describe('name that the person who made the change gave, unproven; null: none was given');

/** Who did something. */
export const author = z
  .object({
    id: z.string().nullable().describe('id of a person; null: the name is only given, in `x-signage-operator`'),
    name: z.string().max(64).describe('as others see it'),
  })
  .meta({ id: 'Author' });
export type Author = z.infer<typeof author>;

/** A reading of a clock, in ms. */
export const reading = z.number().min(0).max(Number.MAX_SAFE_INTEGER);

/** One column of a table of fields: the schemas by field, without the fields that have none there. */
export type Column<Table, Name extends string> = {
  -readonly [Key in keyof Table as Table[Key] extends Record<Name, z.ZodType> ? Key : never]: Table[Key] extends Record<
    Name,
    infer Schema
  >
    ? Schema
    : never;
};

export const column = <Table extends object, Name extends string>(table: Table, name: Name): Column<Table, Name> =>
  Object.fromEntries(
    Object.entries(table as Record<string, Record<Name, unknown>>).flatMap(([key, field]) =>
      field[name] === undefined ? [] : [[key, field[name]]],
    ),
  ) as Column<Table, Name>;
