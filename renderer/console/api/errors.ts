/** Why a request had no answer that could be used. */
import type { Texts } from 'virtual:texts/console';
import type { ErrorCode } from '../../../service/contract/errors.ts';
import type { ConsoleTexts } from '../texts/box.ts';

/** Refusals that have a sentence in the language of the console. */
const sentences: Partial<Record<ErrorCode, keyof PlainErrors>> = {
  insufficient_storage: 'full',
  storage_unavailable: 'storage',
  internal_error: 'fault',
  signature_stale: 'stale',
  takeover_not_found: 'gone',
  connection_not_found: 'gone',
  file_not_found: 'gone',
  version_not_found: 'gone',
  content_changed: 'gone',
  screen_not_found: 'screenGone',
  box_not_found: 'gone',
  box_away: 'boxAway',
  screenshot_timeout: 'boxAway',
  busy: 'busy',
  too_many_takeovers: 'tooManyTakeovers',
  not_supported: 'notSupported',
  local_required: 'localOnly',
  backup_damaged: 'backupDamaged',
  payload_too_large: 'tooLarge',
};

/** How the box says that a secret, code or token was guessed too often; other sentences of this refusal tell what is too much. */
const guesses = 'Too many failed attempts';

/** Whether a change may still be carried out: it was sent, and no answer that counts has come. */
interface Uncertain {
  mayHappen?: boolean;
}

type PlainErrors = { [Key in keyof Texts['errors'] as Texts['errors'][Key] extends string ? Key : never]: string };

/** Whether a change whose request failed may still be carried out. */
export const mayHappen = (error: unknown): boolean => ((error ?? {}) as Uncertain).mayHappen === true;

/**
 * In the language of the console; what only the box can say, such as the field at fault, is said to be its answer. Of a change
 * that may still be carried out this is said, too.
 */
export const reasonOf = (error: unknown, texts: Pick<ConsoleTexts, 'errors' | 'ofBox'>): string => {
  const sentences = [sentenceOf(error, texts)];
  if (error instanceof Refusal && !error.isProven) sentences.push(texts.errors.unprovenRefusal);
  if (mayHappen(error)) sentences.push(texts.errors.mayHappen);
  return sentences.join(' ');
};

const sentenceOf = (error: unknown, { errors, ofBox }: Pick<ConsoleTexts, 'errors' | 'ofBox'>): string => {
  if (error instanceof Unloaded) return errors.unloaded;
  if (error instanceof Unreachable) return errors.unreachable;
  if (error instanceof Unproven) return errors.unproven;
  if (error instanceof Refusal && error.clockOff !== 0) {
    return errors.staleBy({ seconds: Math.round(Math.abs(error.clockOff) / 1_000) });
  }
  if (error instanceof Unreadable) return errors.unreadable;
  if (isCode(error, 'too_many_requests') && error.message.startsWith(guesses)) {
    return errors.tooMany({ seconds: error.retryAfter ?? 60 });
  }
  if (!(error instanceof Refusal)) return errors.fault;
  const sentence = sentences[error.code];
  return sentence === undefined ? errors.refused({ reason: ofBox(error.message) }) : errors[sentence];
};

/** The box refused the request. */
export class Refusal extends Error implements Uncertain {
  override readonly name = 'Refusal';
  /** False: a host on the way may have refused it. */
  isProven = true;
  mayHappen = false;
  /** By how much the box is ahead of this machine, ms, where it refused a key over http for that; else 0. */
  clockOff = 0;
  readonly status: number;
  readonly code: ErrorCode;
  /** The field at fault. */
  readonly field: string | undefined;
  /** The whole `error` of the answer; some codes have more than a message. */
  readonly details: Readonly<Record<string, unknown>>;
  /** When the request may be repeated, in seconds; null: unknown. */
  readonly retryAfter: number | null;

  constructor(status: number, details: Record<string, unknown>, retryAfter: number | null) {
    super(String(details['message'] ?? `HTTP ${status}`));
    this.status = status;
    this.code = String(details['code'] ?? 'internal_error') as ErrorCode;
    this.field = typeof details['field'] === 'string' ? details['field'] : undefined;
    this.details = details;
    this.retryAfter = retryAfter;
  }
}

/** No answer came: the box or the network is away. */
export class Unreachable extends Error implements Uncertain {
  override readonly name = 'Unreachable';
  mayHappen = false;
}

/** A part of this page was not loaded: the box is away, or was updated and has other files. */
export class Unloaded extends Unreachable {}

/** The box did not prove that it knows the secret, so the answer may be that of another host. */
export class Unproven extends Error implements Uncertain {
  override readonly name = 'Unproven';
  mayHappen = false;
}

/** A chosen file cannot be read, or no longer. */
export class Unreadable extends Error {
  override readonly name = 'Unreadable';
}

export const isCode = (error: unknown, ...codes: string[]): error is Refusal =>
  error instanceof Refusal && codes.includes(error.code);

/** @throws Unreachable, Refusal for an answer that is no success */
export const answerOf = async (asked: Promise<Response>): Promise<Response> =>
  checkStatus(
    await asked.catch(() => {
      throw new Unreachable('No answer came.');
    }),
  );

/** @throws Refusal for an answer that is no success */
export const checkStatus = async (response: Response): Promise<Response> => {
  if (response.ok || response.status === 304) return response;
  const body = (await response.json().catch(() => null)) as { error?: Record<string, unknown> } | null;
  const after = Number(response.headers.get('Retry-After') ?? Number.NaN);
  throw new Refusal(response.status, body?.error ?? {}, Number.isFinite(after) ? after : null);
};
