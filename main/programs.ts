import { execFile } from 'node:child_process';

/**
 * Runs a program with some text on standard input.
 * @returns its standard output
 * @throws Error if it is missing, fails, or takes longer than 20 s
 */
export type Run = (program: string, args: readonly string[], input?: string) => Promise<string>;

const TIMEOUT_MS = 20_000;

export const run: Run = (program, args, input = '') =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });
