/** How a run ends, and what an error of a box means for the operator. */
import { visible } from './text.ts';

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
  text: string;
  /** Whether the request was signed. */
  hasSecret: boolean;
}

/** The error envelope of a response, if it is one. */
interface Envelope {
  error: { code: string; message: string; errors?: { path: string; message: string }[] };
}

const parseEnvelope = (text: string): Envelope | null => {
  try {
    const { error } = JSON.parse(text) as Partial<Envelope>;
    return typeof error?.code === 'string' && typeof error.message === 'string' ? { error } : null;
  } catch {
    return null;
  }
};

/** For a secret that is not that of the box: it was changed there, or this is a box of others. */
export const secretAdvice =
  'The secret here is not that of the box: see SIGNAGE_SHARED_SECRET and ~/.config/signage/secret.';

/** What to do about an error, by its code. */
const advice: Readonly<Record<string, string>> = {
  credentials_required: 'Set SIGNAGE_SHARED_SECRET, or keep the secret in ~/.config/signage/secret (mode 0600).',
  signature_invalid: secretAdvice,
  signature_stale: 'The clock of this machine and that of the box differ by more than 300 s.',
  host_refused: 'Use the IP address of the box.',
  content_changed: 'Somebody else changed the content in the meantime. See: signage content diff FILE',
  invalid_content: 'See: signage content check FILE',
};

const exitOf = (status: number, code: string): ExitName => {
  if (code === 'box_away') return 'unreachable';
  if (status === 401 || status === 403) return 'notAuthorised';
  // A path that the box does not know is no name that the operator gave.
  return status === 404 && code !== 'not_found' ? 'notFound' : 'refused';
};

/** The error for an answer with an error status. */
export const refusalOf = ({ base, path, status, text, hasSecret }: Refusal): CliError => {
  const envelope = parseEnvelope(text);
  // Answers to HEAD have no body.
  if (text === '')
    return new CliError(exitOf(status, ''), `The box at ${base.origin} answers with HTTP status ${status}.`);
  if (envelope === null) {
    return new CliError('unreachable', `What answers at ${base.origin} is not a signage box (HTTP status ${status}).`);
  }
  const { code, message, errors = [] } = envelope.error;
  if (code === 'not_found' && path.startsWith('/console/')) {
    const why = 'it may have SIGNAGE_CONSOLE=off, or the baseline variant';
    const message = `The box at ${base.origin} has no console for this command: ${why}.`;
    return new CliError('refused', `${message}\nName another box with --box.`, envelope);
  }
  const hint = code === 'signature_required' && !hasSecret ? advice['credentials_required'] : advice[code];
  const details = errors.map((issue) => `${issue.path}: ${issue.message}`);
  const lines = [message, ...details, ...(hint === undefined ? [] : [hint])].map(visible);
  return new CliError(exitOf(status, code), lines.join('\n'), envelope);
};
