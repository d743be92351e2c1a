/** How a run ends. */

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
