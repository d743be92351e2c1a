import type { z } from 'zod';
import { CodedError } from './errors.ts';

/**
 * Reads what a client gave, a body's object or a query, by its schema.
 * @throws CodedError `missing_field` or `invalid_field`, for the first field at fault
 */
export const readFields = <Schema extends z.ZodType>(
  schema: Schema,
  given: Readonly<Record<string, unknown>>,
): z.output<Schema> => {
  const result = schema.safeParse(given);
  if (result.success) return result.data;
  const [issue] = result.error.issues;
  const field = String(issue?.path[0] ?? '');
  if (given[field] == null) throw new CodedError('missing_field', `${field} is missing.`, { field });
  throw new CodedError('invalid_field', `${field} is not valid: ${issue?.message}.`, { field });
};
