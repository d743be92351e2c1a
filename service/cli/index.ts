/** `signage`, the command line. */
import { writeSync } from 'node:fs';
import { homedir, userInfo } from 'node:os';
import packageJson from '../../package.json' with { type: 'json' };
import { exitCodes } from './exit.ts';
import { createOutput } from './output.ts';
import { endWith, run } from './program.ts';

const loginName = (): string | null => {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
};

const { env, stdin, stdout, stderr, argv } = process;
const args = argv.slice(2);
const out = createOutput({ stdout, stderr, env });
// Work that is under way is worth more than what is said of it.
stderr.on('error', () => undefined);
stdout.on('error', ({ code }: NodeJS.ErrnoException) => {
  // A reader such as `head` may close the pipe early.
  if (code === 'EPIPE' && !out.isStream()) return;
  if (code === 'EPIPE') process.exit(exitCodes.done);
  writeSync(2, `Error: The output cannot be written (${code}).\n`);
  process.exit(exitCodes.refused);
});
process.on('uncaughtException', (error) => process.exit(endWith(error, out, args)));
process.exitCode = await run(args, {
  version: packageJson.version,
  out,
  stdin,
  surroundings: { env, home: homedir(), login: loginName() },
});
