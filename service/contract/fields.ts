import type { z } from 'zod';
import { CodedError } from './errors.ts';

/**
 * Parses the fields of a body or a query by the schema.
 * @throws CodedError `missing_field` or `invalid_field`, for the first invalid field
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
