/** How a run ends, and what an error of a box means for the operator. */
import { parseJson } from './answers.ts';
import { fitted, visible } from './text.ts';

/** The exit codes; from 64 up those of sysexits(3). */
export const exitCodes = {
  done: 0,
  /** The box refused, or the operator declined. */
  refused: 1,
  /** The arguments are wrong; nothing was sent. */
  usage: 2,
  notFound: 3,
  notAuthorised: 4,
  /** Done, but some box did not answer; or the box is degraded. */
  degraded: 5,
  /** No box was reached (EX_UNAVAILABLE). */
  unreachable: 69,
  /** A fault of this program (EX_SOFTWARE). */
  internal: 70,
  /** The secret or an environment variable is unusable (EX_CONFIG). */
  configuration: 78,
} as const;

export type ExitName = keyof typeof exitCodes;

/** Ends the run: a sentence for a person, and the exit code. */
export class CliError extends Error {
  override readonly name = 'CliError';
  readonly exit: ExitName;
  /** The body of the box's answer; undefined: the error is not from a box. */
  readonly answer: unknown;

  constructor(exit: ExitName, message: string, answer?: unknown) {
    super(message);
    this.exit = exit;
    this.answer = answer;
  }
}

interface Refusal {
  base: URL;
  /** Path and query of the request. */
  path: string;
  status: number;
  /** The body of the answer. */
  bytes: Buffer;
  /** Whether the request was signed. */
  hasSecret: boolean;
}

/** The error envelope of a response. */
interface Envelope {
  error: { code: string; message: string; errors?: { path: string; message: string }[] | null; fields?: string[] };
}

const isIssue = (value: unknown): boolean => {
  const { path, message } = (value ?? {}) as Record<string, unknown>;
  return typeof path === 'string' && typeof message === 'string';
};

const isEnvelope = (value: unknown): value is Envelope => {
  const { error } = (value ?? {}) as { error?: unknown };
  const { code, message, errors = [], fields = [] } = (error ?? {}) as Record<string, unknown>;
  const isList = Array.isArray(errors) && errors.every(isIssue);
  const hasNames = Array.isArray(fields) && fields.every((each) => typeof each === 'string');
  return typeof code === 'string' && /^[a-z_]{1,64}$/.test(code) && typeof message === 'string' && isList && hasNames;
};

/** The code of an error envelope; empty: it is none. */
export const codeOf = (answer: unknown): string => (isEnvelope(answer) ? answer.error.code : '');

/** For a secret that is not that of the box: it was changed there, or this is a box of others. */
export const secretAdvice =
  'The secret here is not that of the box: see SIGNAGE_SHARED_SECRET and ~/.config/signage/secret.';

/** What to do about an error, by its code. */
const advice = new Map([
  ['credentials_required', 'Set SIGNAGE_SHARED_SECRET, or keep the secret in ~/.config/signage/secret (mode 0600).'],
  ['signature_invalid', secretAdvice],
  ['key_unknown', 'Ask an admin for a new invitation, and join again: signage join URL'],
  ['secure_required', 'Use the https address of the box, or run it on the box itself.'],
  ['signature_stale', 'The clock of this machine and that of the box differ.'],
  ['signature_replayed', 'A copy of this request reached the box before it: see whether it was carried out.'],
  ['host_refused', 'Use the IP address of the box.'],
  [
    'local_required',
    'The token of the box is in its data directory, which root and its own user may read. It is sent to 127.0.0.1 alone, where a box does not listen that has another address as SIGNAGE_HOST: leave that out.',
  ],
  ['content_changed', 'Somebody else changed the content in the meantime. See: signage content diff FILE'],
  ['draft_changed', 'Somebody has changed the draft in the meantime. See: signage drafts show ID'],
  ['invalid_content', 'See: signage content check FILE'],
]);

/** Rows of a list of errors that are shown. */
const MAX_ROWS = 20;
/** Columns of a sentence of a box that are shown. */
const MAX_SENTENCE = 1_000;

const exitOf = (status: number, code: string): ExitName => {
  if (code === 'box_away') return 'unreachable';
  if (status === 401 || status === 403) return 'notAuthorised';
  // A path that the box does not know is no name that the operator gave.
  return status === 404 && code !== 'not_found' ? 'notFound' : 'refused';
};

export const refusalOf = ({ base, path, status, bytes, hasSecret }: Refusal): CliError => {
  const envelope = parseJson(bytes);
  if (!isEnvelope(envelope)) {
    return new CliError('unreachable', `What answers at ${base.origin} is not a signage box (HTTP status ${status}).`);
  }
  const { code, message, errors, fields } = envelope.error;
  if (code === 'not_found' && path.startsWith('/console/')) {
    const why = 'it may have SIGNAGE_CONSOLE=off, or the baseline variant';
    const message = `The box at ${base.origin} has no console for this command: ${why}.`;
    return new CliError('refused', `${message}\nName another box with --box.`, envelope);
  }
  const hint = advice.get(code === 'signature_required' && !hasSecret ? 'credentials_required' : code);
  const all = [...(errors ?? []).map((issue) => `${issue.path}: ${issue.message}`), ...(fields ?? [])];
  const more = all.length > MAX_ROWS ? [`... and ${all.length - MAX_ROWS} more.`] : [];
  const lines = [message, ...all.slice(0, MAX_ROWS), ...more, ...(hint === undefined ? [] : [hint])];
  const text = lines.map((line) => fitted(visible(line), MAX_SENTENCE)).join('\n');
  return new CliError(exitOf(status, code), text, envelope);
};
