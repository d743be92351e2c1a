/** A site of many boxes in few processes: real services without pages, whose traffic is counted. */
import { type ChildProcess, fork } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';

/** What a process of boxes can be asked; see `light-boxes-worker.ts`. */
export interface LightBoxes {
  /** Starts a box more. @returns its base URL */
  start(settings: Record<string, string>): Promise<string>;
  /** Renames the only screen by an edit of the content file of one box. */
  edit(index: number, name: string): Promise<void>;
  /** Resolves with the time, ms since the epoch, at which every box has shown the name. */
  showing(name: string): Promise<number[]>;
  /** Resolves with the time, ms since the epoch, at which every box has known the binding. */
  bound(deviceId: string, slug: string): Promise<number[]>;
  /** Traffic and processor time since the last call. */
  counts(): Promise<Counts>;
}

export interface Counts {
  /** Requests that the boxes received. */
  requests: number;
  /** Bytes of requests and of answers, with their headers. */
  bytes: number;
  /** Processor time, ms. */
  cpu: number;
  /** Requests by method and path. */
  paths: Record<string, number>;
}

export interface LightProcess {
  process: ChildProcess;
  boxes: LightBoxes;
}

/** Starts a process without boxes. */
export const startLightProcess = async (): Promise<LightProcess> => {
  const child = fork(join(import.meta.dirname, 'light-boxes-worker.ts'), {
    execArgv: ['--import', 'tsx', '--import', join(import.meta.dirname, 'plain-loader.ts')],
    env: process.env,
  });
  await once(child, 'message');
  let asked = 0;
  const ask = async (name: string, args: unknown[]): Promise<unknown> => {
    const id = ++asked;
    return new Promise((resolve, reject) => {
      const onExit = (): void => reject(new Error('the process of the boxes has ended'));
      const onMessage = (message: { id: number; answer?: unknown; error?: string }): void => {
        if (message.id !== id) return;
        child.off('message', onMessage);
        child.off('exit', onExit);
        if (message.error === undefined) resolve(message.answer);
        else reject(new Error(message.error));
      };
      child.on('message', onMessage);
      child.once('exit', onExit);
      child.send({ id, name, args });
    });
  };
  child.setMaxListeners(0);
  const call =
    (name: string) =>
    (...args: unknown[]) =>
      ask(name, args);
  const boxes = Object.fromEntries(
    ['start', 'edit', 'showing', 'bound', 'counts'].map((name) => [name, call(name)]),
  ) as unknown as LightBoxes;
  return { process: child, boxes };
};
