/** A program in a terminal of its own, by script(1). */
import { spawn } from 'node:child_process';
import { stripVTControlCharacters } from 'node:util';
import { expect, onTestFinished } from 'vitest';
import { isCi } from '../support/machine.ts';
import { findProgram } from '../support/program.ts';

/** Elsewhere it takes other options. */
export const hasTerminal = process.platform === 'linux' && (findProgram('script') !== undefined || isCi);

export interface Terminal {
  /** Everything that was printed so far. */
  screen(): string;
  type(keys: string): void;
  /** Waits until what was printed since the last call fits, and returns it; without colours. */
  until(text: string | RegExp): Promise<string>;
  ended: Promise<number | null>;
}

export const openTerminal = (command: string, env: NodeJS.ProcessEnv): Terminal => {
  const child = spawn('script', ['-qec', command, '/dev/null'], {
    env: { PATH: process.env.PATH, TERM: 'xterm', SHELL: '/bin/sh', ...env },
  });
  onTestFinished(() => void child.kill('SIGKILL'));
  let printed = '';
  let read = 0;
  child.stdout.setEncoding('utf8').on('data', (text: string) => {
    printed += text;
  });
  return {
    screen: () => printed,
    type: (keys) => void child.stdin.write(keys),
    until: async (text) => {
      const unread = (): string => stripVTControlCharacters(printed.slice(read));
      await expect.poll(unread, { timeout: 15_000, interval: 20 }).toMatch(text);
      const seen = unread();
      read = printed.length;
      return seen;
    },
    ended: new Promise((resolve) => child.on('close', resolve)),
  };
};
