/** The ends of a range in a query. */
import { CodedError } from '../contract/errors.ts';
import { instantAt } from '../domain/wall-time.ts';

/** Milliseconds since the epoch; null: the range is open. @throws CodedError `invalid_field` */
export const timeOf = (field: 'from' | 'to', text: string | undefined, timeZone: string): number | null => {
  if (text === undefined) return null;
  const time = instantAt(text, timeZone);
  if (time !== null) return time;
  throw new CodedError('invalid_field', `${field} must be a date such as 2026-01-31, or ISO 8601.`, { field });
};
