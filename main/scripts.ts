/**
 * Runs scripts of the service in utility processes: the kiosk's own program starts as no Node.js, since its fuse
 * `runAsNode` is off.
 */
import { constants, setPriority } from 'node:os';
import type { ForkOptions, UtilityProcess } from 'electron';
import { type ScriptJob, type ScriptOutput, watchMemory } from '../service/public.ts';

/** Gives way to all other programs. Of a process that has ended, or where the system forbids it, nothing happens. */
const makeIdle = (pid: number): void => {
  try {
    setPriority(pid, constants.priority.PRIORITY_LOW);
  } catch {
    // It does its work all the same.
  }
};

type Fork = (script: string, args: string[], options: ForkOptions) => UtilityProcess;

/** More of what a script complains about is not kept. */
const MAX_WORDS = 10_000;

/** @param fork `utilityProcess.fork` */
export const createRunScript =
  (fork: Fork) =>
  ({ script, args, env, timeout, resident, isIdle = false, signal }: ScriptJob): Promise<ScriptOutput> =>
    new Promise((resolve) => {
      const child = fork(script, [...args], { env, stdio: ['ignore', 'ignore', 'pipe'], serviceName: 'Script' });
      let stderr = '';
      let unwatch = (): void => {};
      const kill = (): boolean => child.kill();
      const timer = setTimeout(kill, timeout);
      child.stderr?.on('data', (text) => {
        stderr = (stderr + String(text)).slice(-MAX_WORDS);
      });
      child.once('spawn', () => {
        if (isIdle && child.pid !== undefined) makeIdle(child.pid);
        unwatch = watchMemory({ pid: child.pid, kill }, resident);
        if (signal?.aborted) kill();
        else signal?.addEventListener('abort', kill);
      });
      child.once('exit', (code) => {
        clearTimeout(timer);
        unwatch();
        signal?.removeEventListener('abort', kill);
        resolve({ isDone: code === 0, stderr });
      });
    });
