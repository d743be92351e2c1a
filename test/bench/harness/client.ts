/** Clients of a bench in processes of their own, on the processor of clients; they are called over IPC. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { setTimeout as delay } from 'node:timers/promises';
import { pinned, stop } from './process.ts';

/** A server that dropped a connection would be waited for without end. */
const PATIENCE_MS = 60_000;

type Calls = Record<string, (argument: never) => Promise<unknown>>;

/** What a client process does on the calls of the bench. */
export const serveCalls = (calls: Calls): void => {
  process.on('message', async ({ name, argument }: { name: string; argument: never }) => {
    try {
      process.send?.({ result: await calls[name]?.(argument) });
    } catch (error) {
      process.send?.({ error: String(error) });
    }
  });
  process.on('disconnect', () => process.exit());
  process.send?.('ready');
};

export interface Client<C extends Calls> {
  call<Name extends keyof C & string>(name: Name, argument: Parameters<C[Name]>[0]): ReturnType<C[Name]>;
  stop(): Promise<void>;
}

/** Starts a client process. @param script the path of a file that calls {@link serveCalls}; `C`: its calls */
export const startClient = async <C extends Calls>(script: string): Promise<Client<C>> => {
  const [program, args] = pinned('client', [process.execPath, '--import', 'tsx', script]);
  const child: ChildProcess = spawn(program, args, { stdio: ['ignore', 'inherit', 'inherit', 'ipc'] });
  await once(child, 'message');
  return {
    call: (async (name: string, argument: unknown) => {
      const given = new AbortController();
      const answered = Promise.race([
        once(child, 'message', given),
        delay(PATIENCE_MS, undefined, given).then(() => Promise.reject(new Error(`${name} took over a minute`))),
        once(child, 'exit', given).then(() => Promise.reject(new Error(`the client died during ${name}`))),
      ]).finally(() => given.abort());
      child.send({ name, argument });
      const [{ result, error }] = (await answered) as [{ result?: unknown; error?: string }];
      if (error !== undefined) throw new Error(error);
      return result;
    }) as Client<C>['call'],
    stop: () => stop(child),
  };
};
