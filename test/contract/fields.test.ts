/** What a client is told of a field that is not valid. */
import { expect, test } from 'vitest';
import { z } from 'zod';
import { readFields } from '../../service/contract/fields.ts';

const schema = z.object({
  name: z.string().min(1).max(3),
  slug: z
    .string()
    .regex(/^[a-z]$/, 'one of a-z')
    .optional(),
  on: z.boolean().optional(),
  count: z.int().min(2).max(9).optional(),
  mode: z.enum(['day', 'night']).optional(),
  at: z.iso.datetime().optional(),
  list: z.array(z.string()).max(1).optional(),
  either: z.union([z.string(), z.number()]).optional(),
});

test.each<[object, string]>([
  [{}, 'name is missing.'],
  [{ name: null }, 'name is missing.'],
  [{ name: 5 }, 'name is not valid: it must be a text.'],
  [{ name: '' }, 'name is not valid: it must have at least 1 characters.'],
  [{ name: 'long' }, 'name is not valid: it must have at most 3 characters.'],
  [{ name: 'a', slug: '1' }, 'slug is not valid: one of a-z.'],
  [{ name: 'a', on: 'yes' }, 'on is not valid: it must be true or false.'],
  [{ name: 'a', count: 1 }, 'count is not valid: it must be at least 2.'],
  [{ name: 'a', count: 10 }, 'count is not valid: it must be at most 9.'],
  [{ name: 'a', count: 2.5 }, 'count is not valid: it must be a whole number.'],
  [{ name: 'a', mode: 'dusk' }, 'mode is not valid: it must be "day" or "night".'],
  [{ name: 'a', at: 'noon' }, 'at is not valid: it must be a time such as 2026-01-31T08:00:00.000Z.'],
  [{ name: 'a', list: ['a', 'b'] }, 'list is not valid: it must have at most 1 entries.'],
  [{ name: 'a', either: true }, 'either is not valid: it has another form.'],
])('%j: %s', (given, message) => {
  expect(() => readFields(schema, given as Record<string, unknown>)).toThrow(message);
});
