/** The terms that all shapes share: names, moments, digests, and the two variants of the interface. */
import { z } from 'zod';
import { deviceKey } from './readable.ts';

/** The interface comes in two variants; the baseline lacks what is marked by {@link extended}. */
export const variants = ['extended', 'baseline'] as const;
export type Variant = (typeof variants)[number];

/** Marks a field or a command that only the extended variant has, in the code and in the documents. */
export const extended = <Schema extends z.ZodType>(schema: Schema): Schema => schema.meta({ 'x-variant': 'extended' });

/** The names of the fields that only the extended variant has. */
export const extendedFields = ({ shape }: z.ZodObject): string[] =>
  Object.keys(shape).filter((name) => (shape[name] as z.ZodType).meta()?.['x-variant'] === 'extended');

/** Instants travel as ISO 8601 in UTC with milliseconds: `2026-01-31T08:00:00.000Z`. */
export const instant = z.iso
  .datetime({ precision: 3 })
  .meta({ id: 'Instant', description: 'ISO 8601, UTC, milliseconds' });

/** SHA-256 in lower-case hex. */
export const sha256 = z
  .string()
  .regex(/^[0-9a-f]{64}$/)
  .describe('SHA-256, lower-case hex');

/** At most `limit` UTF-16 code units of a text, cut between two code points. */
export const cutText = (text: string, limit: number): string => {
  if (text.length <= limit) return text;
  const cut = text.slice(0, limit).replace(/[\uD800-\uDBFF]$/, '');
  // A copy, because V8 keeps the whole of a text for as long as a slice of it is in use.
  return Buffer.from(cut, 'utf16le').toString('utf16le');
};

/** A text that a page sends. A longer one is cut, not refused: a page must not be lost for a long title. */
export const reportedText = (limit = 500) => z.string().overwrite((text) => cutText(text, limit));

/** A screen's name in addresses. */
export const slug = z
  .string()
  .regex(/^[a-z0-9-]{1,64}$/, '1 to 64 of a-z, 0-9 and -')
  .describe('slug of a screen');

const deviceIdRule = [/^[A-Za-z0-9._:-]{1,128}$/, '1 to 128 of A-Z a-z 0-9 . _ : -'] as const;

/** A device's own, lasting id. */
export const deviceId = z
  .string()
  .regex(...deviceIdRule)
  .describe('id of a device, kept by its page');

/** A device id as a person types it: one that the product makes may have spaces in it. */
export const typedDeviceId = z
  .string()
  .overwrite((typed) => (/\s/.test(typed) ? deviceKey(typed) : typed))
  .regex(...deviceIdRule)
  .describe('id of a device, as it is or as a person types it');

/** What people call a player. */
export const clientName = z.string().trim().min(1).max(64).describe('name of a player, for people');

/** A reading of a clock, in ms. */
export const reading = z.number().min(0).max(Number.MAX_SAFE_INTEGER);
