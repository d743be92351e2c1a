/** Whether systemd would start this process again if it ended. */
import { execFile } from 'node:child_process';
import { readFile } from 'node:fs/promises';
import { promisify } from 'node:util';

/** EX_TEMPFAIL of sysexits.h: units with `Restart=on-failure` are restarted after it too. */
export const EXIT_RESTART = 75;

const PATIENCE_MS = 2_000;

/** Runs a program and resolves with what it printed; rejects if it fails. */
type Run = (program: string, args: readonly string[]) => Promise<string>;

interface Unit {
  name: string;
  /** Whether it belongs to a user's own systemd. */
  isUser: boolean;
}

/** The systemd service that a process belongs to; null: none. @param cgroup the text of `/proc/PID/cgroup` */
export const unitOf = (cgroup: string): Unit | null => {
  const path = cgroup.split('\n').find((line) => line.startsWith('0::') || line.includes(':name=systemd:'));
  const name = path?.split('/').at(-1) ?? '';
  return /^[\w@.:\\-]+\.service$/.test(name) ? { name, isUser: path?.includes('/user@') === true } : null;
};

/** Whether a unit is restarted after this process exits. @param shown by `systemctl show -p MainPID -p Restart` */
export const isRestarted = (shown: string, pids: readonly number[]): boolean => {
  const propertyOf = (name: string): string => new RegExp(`^${name}=(.*)$`, 'm').exec(shown)?.[1] ?? '';
  return pids.includes(Number(propertyOf('MainPID'))) && ['always', 'on-failure'].includes(propertyOf('Restart'));
};

const execute: Run = async (program, args) =>
  (await promisify(execFile)(program, [...args], { timeout: PATIENCE_MS })).stdout;

/**
 * Whether this process, or the npm that runs it, is the main process of a systemd service that is restarted when it ends.
 * Never rejects: without systemd the answer is no.
 */
export const isSupervised = async (
  run: Run = execute,
  read: () => Promise<string> = () => readFile('/proc/self/cgroup', 'utf8'),
): Promise<boolean> => {
  try {
    const unit = unitOf(await read());
    if (unit === null) return false;
    const shown = await run('systemctl', [
      ...(unit.isUser ? ['--user'] : []),
      ...['show', '--property=MainPID', '--property=Restart', unit.name],
    ]);
    return isRestarted(shown, [process.pid, process.ppid]);
  } catch {
    return false;
  }
};
