/** Whether the operating system synchronizes the clock of this machine. */
import { execFile } from 'node:child_process';
import { type Clock, doubled, type MonotonicMs } from '../domain/time.ts';

/** Each question starts a service of systemd, which writes to the journal. */
const first = 60_000;
const longest = 15 * 60_000;
/** A clock that is no longer set stays exact enough for hours. */
const whileSynchronized = 60 * 60_000;

/** The command that tells, and whether its output says so; other systems do not tell. */
const commands: Partial<Record<NodeJS.Platform, [string, string[], (output: string) => boolean]>> = {
  linux: ['timedatectl', ['show', '--property=NTPSynchronized', '--value'], (output) => output.trim() === 'yes'],
  win32: ['w32tm', ['/query', '/status'], (output) => /: [012]\(/.test(output.split('\n', 1)[0] ?? '')],
};

/** A clock moves by more only where it is set, by hand too. */
const setMs = 1_000;

/** The answer is at most an hour old, and of a clock that was not set since; false until the system was asked. */
export const createClockSync = ({ now, monotonicNow }: Clock): (() => boolean) => {
  let isSynchronized = false;
  let askAgainAt: MonotonicMs = Number.NEGATIVE_INFINITY;
  let refusals = 0;
  let offset = now() - monotonicNow();

  return () => {
    const command = commands[process.platform];
    if (Math.abs(now() - monotonicNow() - offset) > setMs) {
      offset = now() - monotonicNow();
      isSynchronized = false;
      askAgainAt = Number.NEGATIVE_INFINITY;
    }
    if (command === undefined || monotonicNow() < askAgainAt) return isSynchronized;
    askAgainAt = monotonicNow() + first;
    const [program, args, says] = command;
    execFile(program, args, { timeout: 5_000, windowsHide: true }, (error, output) => {
      isSynchronized = error === null && says(output);
      askAgainAt = monotonicNow() + (isSynchronized ? whileSynchronized : doubled(refusals, first, longest));
      refusals = isSynchronized ? 0 : refusals + 1;
    });
    return isSynchronized;
  };
};
