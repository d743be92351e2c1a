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

/** One that was never launched, or that the system does not end, is given up this long after it was to end, in ms. */
const GIVE_UP_MS = 5_000;

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
      let isUnwanted = false;
      let givingUp: NodeJS.Timeout | undefined;
      const settle = (output: Omit<ScriptOutput, 'stderr'>): void => {
        clearTimeout(timer);
        clearTimeout(givingUp);
        unwatch();
        signal?.removeEventListener('abort', end);
        resolve({ ...output, stderr });
      };
      const kill = (): boolean => child.kill();
      const end = (): void => {
        isUnwanted = true;
        kill();
        givingUp ??= setTimeout(() => settle({ isDone: false, isCut: true }), GIVE_UP_MS);
      };
      const timer = setTimeout(end, timeout);
      child.stderr?.on('data', (text) => {
        stderr = (stderr + String(text)).slice(-MAX_WORDS);
      });
      // V8 ran out of memory; `exit` follows. Without a listener it would end the kiosk.
      child.on('error', () => {});
      child.once('spawn', () => {
        if (isIdle && child.pid !== undefined) makeIdle(child.pid);
        unwatch = watchMemory({ pid: child.pid, kill }, resident);
        // Before this it cannot be ended.
        if (isUnwanted) kill();
      });
      child.once('exit', (code) => settle({ isDone: code === 0 }));
      if (signal?.aborted) end();
      else signal?.addEventListener('abort', end);
    });
