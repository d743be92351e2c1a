/** `signage`, the command line. */
import { homedir, userInfo } from 'node:os';
import packageJson from '../../package.json' with { type: 'json' };
import { createOutput } from './output.ts';
import { run } from './program.ts';

const loginName = (): string | null => {
  try {
    return userInfo().username;
  } catch {
    return null;
  }
};

const { env, stdin, stdout, stderr } = process;
// A reader such as `head` may close the pipe early.
for (const stream of [stdout, stderr]) {
  stream.on('error', (error: NodeJS.ErrnoException) => process.exit(error.code === 'EPIPE' ? 0 : 1));
}
process.exitCode = await run(process.argv.slice(2), {
  version: packageJson.version,
  out: createOutput({ stdout, stderr, env }),
  stdin,
  surroundings: { env, home: homedir(), login: loginName() },
});
