/** The service as a process of its own, as `npm run headless` starts it. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { onTestFinished } from 'vitest';

const built = join(import.meta.dirname, '..', '..', '..', 'dist', 'service', 'headless.js');

export interface Headless {
  child: ChildProcess;
  /** What it has printed so far, on both streams. */
  printed: { stdout: string; stderr: string };
  /** The exit code, or the signal that ended it. */
  ended: Promise<number | NodeJS.Signals>;
  /** Its address, once it is ready. Rejects where it ends instead. */
  ready(): Promise<string>;
}

/**
 * Starts the service with nothing in its environment but PATH and what is given; it ends with the test.
 * @param descriptors how many it may have open; absent: as many as the machine gives
 * @param program which runs the entry
 */
export const startHeadless = (
  env: Record<string, string>,
  entry = built,
  descriptors?: number,
  program = process.execPath,
): Headless => {
  const limited = ['sh', '-c', `ulimit -n ${descriptors}; exec "$0" "$1"`, program, entry];
  const [command = '', ...words] = descriptors === undefined ? [program, entry] : limited;
  const child = spawn(command, words, {
    env: { PATH: process.env.PATH ?? '', SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: '0', ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  const printed = { stdout: '', stderr: '' };
  child.stdout.on('data', (chunk) => {
    printed.stdout += chunk;
  });
  child.stderr.on('data', (chunk) => {
    printed.stderr += chunk;
  });
  const ended = once(child, 'close').then(([code, signal]) => (code ?? signal) as number | NodeJS.Signals);
  return {
    child,
    printed,
    ended,
    ready: async () => {
      for (;;) {
        const address = /listening on (http:\/\/\S+)\n/.exec(printed.stdout)?.[1];
        if (address !== undefined) return address;
        const said = await Promise.race([once(child.stdout, 'data'), ended]);
        if (!Array.isArray(said)) throw new Error(`ended with ${said}: ${printed.stderr}`);
      }
    },
  };
};
