/**
 * Runs scripts of the service in utility processes: the kiosk's own program starts as no Node.js, since its fuse
 * `runAsNode` is off.
 */
import type { ForkOptions, UtilityProcess } from 'electron';
import { type ScriptJob, type ScriptOutput, watchMemory } from '../service/public.ts';

type Fork = (script: string, args: string[], options: ForkOptions) => UtilityProcess;

/** More of what a script complains about is not kept. */
const MAX_WORDS = 10_000;

/** @param fork `utilityProcess.fork` */
export const createRunScript =
  (fork: Fork) =>
  ({ script, args, env, timeout, resident, signal }: ScriptJob): Promise<ScriptOutput> =>
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
