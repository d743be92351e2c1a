/** Whether the operating system synchronizes the clock of this machine. */
import { execFile } from 'node:child_process';
import type { Clock, MonotonicMs } from '../domain/time.ts';

const ASK_AGAIN_MS = 60_000;

/** The command that tells, and whether its output says so; other systems do not tell. */
const commands: Partial<Record<NodeJS.Platform, [string, string[], (output: string) => boolean]>> = {
  linux: ['timedatectl', ['show', '--property=NTPSynchronized', '--value'], (output) => output.trim() === 'yes'],
  win32: ['w32tm', ['/query', '/status'], (output) => /: [012]\(/.test(output.split('\n', 1)[0] ?? '')],
};

/** The answer is at most some minutes old; false until the system was asked. */
export const createClockSync = ({ monotonicNow }: Pick<Clock, 'monotonicNow'>): (() => boolean) => {
  let isSynchronized = false;
  let askedAt: MonotonicMs = Number.NEGATIVE_INFINITY;

  return () => {
    const command = commands[process.platform];
    if (command === undefined || monotonicNow() - askedAt < ASK_AGAIN_MS) return isSynchronized;
    askedAt = monotonicNow();
    const [program, args, says] = command;
    execFile(program, args, { timeout: 5_000, windowsHide: true }, (error, output) => {
      isSynchronized = error === null && says(output);
    });
    return isSynchronized;
  };
};
