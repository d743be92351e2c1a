/** Why something failed, in words. */

import type { Texts } from 'virtual:texts/console';
import { isCode, Refusal, Unreachable } from '../api/errors.ts';

/** The box's own sentence where there is no better one. */
export const reasonOf = (error: unknown, { errors }: Pick<Texts, 'errors'>): string => {
  if (error instanceof Unreachable) return errors.unreachable;
  if (isCode(error, 'too_many_requests')) return errors.tooMany({ seconds: error.retryAfter ?? 60 });
  if (isCode(error, 'insufficient_storage')) return errors.full;
  if (isCode(error, 'storage_unavailable')) return errors.storage;
  if (error instanceof Refusal && error.code !== 'internal_error') return error.message;
  return errors.fault;
};
