import { spawnSync } from 'node:child_process';

/** How much a program that failed is quoted: lines, and characters of one. */
const LINES = 25;
const LENGTH = 240;

/** Runs a program of the build. @throws Error with the end of its messages if it fails */
export const run = (program: string, args: readonly string[], env: NodeJS.ProcessEnv = {}): string => {
  const { error, status, stdout, stderr } = spawnSync(program, args, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'pipe'],
    env: { ...process.env, LC_ALL: 'C.UTF-8', TZ: 'UTC', ...env },
  });
  if (error !== undefined) throw error;
  if (status === 0) return stdout;
  const said = (stderr.trim() || stdout.trim()).split('\n').slice(-LINES);
  throw new Error(`${program} ended with ${status}:\n${said.map((line) => line.slice(0, LENGTH)).join('\n')}`);
};
