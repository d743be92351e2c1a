/** Why something failed, in words. */
import { isCode, Refusal, Unreachable } from '../api/errors.ts';
import type { Texts } from './texts.ts';

/** The box's own sentence where there is no better one. */
export const reasonOf = (error: unknown, { errors }: Pick<Texts, 'errors'>): string => {
  if (error instanceof Unreachable) return errors.unreachable;
  if (isCode(error, 'too_many_requests')) return errors.tooMany(error.retryAfter);
  if (isCode(error, 'insufficient_storage')) return errors.full;
  if (isCode(error, 'storage_unavailable')) return errors.storage;
  if (error instanceof Refusal && error.code !== 'internal_error') return error.message;
  return errors.fault;
};
