/** How long the command line takes to start, beside a Node that does nothing. */
import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { compare } from './table.ts';

const command = join(import.meta.dirname, '..', '..', 'dist', 'cli', 'index.js');

const timeOf = (args: readonly string[]) => async (): Promise<number> => {
  const startedAt = performance.now();
  spawnSync(process.execPath, args, { stdio: 'ignore' });
  return performance.now() - startedAt;
};

export const benchCli = (): Promise<void> =>
  compare('Start of the command line', 'ms', {
    'node -e 0': timeOf(['-e', '0']),
    'signage --version': timeOf([command, '--version']),
  });
