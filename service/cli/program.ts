/** The commands, and how a run ends. */
import { Command, CommanderError } from 'commander';
import { boxUrl, fleetUrl, operatorName } from './arguments.ts';
import { limits as defaultLimits, type Limits } from './client.ts';
import { registerBackup } from './commands/backup.ts';
import { registerBox, registerBoxes, registerDiscover, registerHealth } from './commands/boxes.ts';
import { registerAuthority } from './commands/ca.ts';
import { completionLines, registerCompletion } from './commands/completion.ts';
import { registerContent } from './commands/content.ts';
import { registerDrafts } from './commands/drafts.ts';
import { registerFleet } from './commands/fleet.ts';
import { registerMcp } from './commands/mcp.ts';
import { registerMedia } from './commands/media.ts';
import { registerMessage } from './commands/message.ts';
import { registerPeople } from './commands/people.ts';
import { registerProtect } from './commands/protect.ts';
import { registerRecords } from './commands/records.ts';
import { registerScreenshot } from './commands/screenshot.ts';
import { registerSecrets } from './commands/secrets.ts';
import { registerSend } from './commands/send.ts';
import { registerOnboard, registerSite } from './commands/site.ts';
import { registerTakeover } from './commands/takeover.ts';
import { registerTrigger } from './commands/trigger.ts';
import { addExamples } from './examples.ts';
import { CliError, exitCodes } from './exit.ts';
import type { Output } from './output.ts';
import { createSession, type GlobalOptions } from './session.ts';
import type { Surroundings } from './settings.ts';

/** The command groups, in the order of the help. */
const groups = [
  registerDiscover,
  registerSite,
  registerSend,
  registerOnboard,
  registerContent,
  registerDrafts,
  registerMedia,
  registerScreenshot,
  registerTakeover,
  registerMessage,
  registerTrigger,
  registerSecrets,
  registerBoxes,
  registerBox,
  registerBackup,
  registerAuthority,
  registerProtect,
  registerPeople,
  registerHealth,
  registerRecords,
  registerMcp,
  registerFleet,
  registerCompletion,
];

interface Dependencies {
  version: string;
  out: Output;
  stdin: Parameters<typeof createSession>[0]['stdin'];
  surroundings: Surroundings;
  /** Default: {@link defaultLimits}. */
  limits?: Limits;
}

/** The code of an error that is not of a box, with `--json`. */
const jsonCodeOf = (exit: CliError['exit']): string =>
  exit === 'internal' ? 'internal_error' : exit.replace(/[A-Z]/g, (letter) => `_${letter.toLowerCase()}`);

const asCliError = (error: unknown): CliError => {
  if (error instanceof CliError) return error;
  // The parser has said what is wrong.
  if (error instanceof CommanderError) {
    const isHelp = error.code === 'commander.help';
    return new CliError('usage', isHelp ? 'A command is missing' : error.message.replace(/^error: /, ''));
  }
  const { message = String(error) } = (error ?? {}) as Partial<Error>;
  return new CliError('internal', `signage has a fault: ${message}`);
};

/** Says why a run ends: a sentence, and with `--json` an answer, unless there is one. @returns the exit code */
export const endWith = (error: unknown, out: Output, args: readonly string[]): number => {
  if (error instanceof CommanderError && error.exitCode === 0) return exitCodes.done;
  const { exit, message, answer } = asCliError(error);
  const isJson = out.isJson() || args.includes('--json');
  if (isJson && !out.hasData()) out.json(answer ?? { error: { code: jsonCodeOf(exit), message } });
  if (!(error instanceof CommanderError)) out.fail(message);
  return exitCodes[exit];
};

/** Carries out a command line. @param args without the program; @returns the exit code */
export const run = async (
  args: readonly string[],
  { version, out, stdin, surroundings, limits = defaultLimits }: Dependencies,
): Promise<number> => {
  const program = new Command('signage')
    .description('Operates the boxes of a signage site.')
    .version(version, '-V, --version')
    .option('--box <url>', 'the box to connect to (default: SIGNAGE_BOX, else the first box found)', boxUrl)
    .option('--fleet <url>', 'the hub of the fleet, for the fleet commands (default: SIGNAGE_FLEET_URL)', fleetUrl)
    .option('--credentials <file>', 'for the hub of the fleet (default: SIGNAGE_FLEET_CREDENTIALS)')
    .option('--as <name>', 'your name for the audit (default: SIGNAGE_OPERATOR, else the login name)', operatorName)
    .option('--with-secret', 'sign with the secret, though there is a key of your own')
    .option('--json', 'print the response of the box as JSON')
    .configureHelp({ showGlobalOptions: true })
    .configureOutput({
      writeOut: (text) => void out.stdout.write(text),
      writeErr: (text) => void out.stderr.write(text),
    })
    .showHelpAfterError('Run it with --help for usage.')
    .exitOverride();
  const session = createSession({ out, stdin, surroundings, limits, globals: () => program.opts<GlobalOptions>() });
  for (const register of groups) register(program, session);
  addExamples(program);
  // The scripts of the shells call this. The words are not for the parser: they are unfinished.
  if (args[0] === 'complete') {
    const connect = (box: URL | undefined, signal: AbortSignal) =>
      createSession({ out, stdin, surroundings, limits, globals: () => (box === undefined ? {} : { box }), signal });
    for (const line of await completionLines(program, connect, args.slice(1))) out.line(line);
    return exitCodes.done;
  }
  program.hook('preAction', () => {
    if (program.opts<GlobalOptions>().json === true) out.useJson();
  });
  try {
    await program.parseAsync(args, { from: 'user' });
    return exitCodes[session.isDegraded() ? 'degraded' : 'done'];
  } catch (error) {
    return endWith(error, out, args);
  }
};
