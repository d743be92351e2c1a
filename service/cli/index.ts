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
for (const stream of [stdout, stderr]) {
  stream.on('error', ({ code }: NodeJS.ErrnoException) => {
    // A reader such as `head` may close the pipe early.
    if (code === 'EPIPE') process.exit(exitCodes.done);
    if (stream === stdout) writeSync(2, `Error: The output cannot be written (${code}).\n`);
    process.exit(exitCodes.refused);
  });
}
const out = createOutput({ stdout, stderr, env });
process.on('uncaughtException', (error) => process.exit(endWith(error, out, args)));
process.exitCode = await run(args, {
  version: packageJson.version,
  out,
  stdin,
  surroundings: { env, home: homedir(), login: loginName() },
});
