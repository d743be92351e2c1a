/** Processes of a bench: pinned to processors, and weighed by what the kernel says of them. */
import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readdirSync, readFileSync } from 'node:fs';
import { availableParallelism } from 'node:os';
import { findProgram } from '../../support/program.ts';

/** Servers have the first processor for themselves, clients the second one. */
export type Processor = 'server' | 'client';

const taskset = process.platform === 'linux' && availableParallelism() > 1 ? findProgram('taskset') : undefined;

/** The command that runs `command` on one processor, where that can be arranged. */
export const pinned = (processor: Processor, command: readonly string[]): [program: string, args: string[]] => {
  const [program = '', ...args] = command;
  if (taskset === undefined) return [program, args];
  return [taskset, ['-c', processor === 'server' ? '0' : '1', program, ...args]];
};

/** What a process and its threads have used of a processor so far, ms (Linux). */
export const cpuOf = (pid: number): number =>
  readdirSync(`/proc/${pid}/task`)
    .map((task) => Number(readFileSync(`/proc/${pid}/task/${task}/schedstat`, 'utf8').split(' ')[0]) / 1e6)
    .reduce((sum, part) => sum + part, 0);

/** Resident memory of a process, MiB (proc(5)). */
export const memoryOf = (pid: number): number =>
  Number(/^VmRSS:\s+(\d+) kB/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) / 1024;

export const stop = async (child: ChildProcess): Promise<void> => {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const exited = once(child, 'exit');
  child.kill('SIGTERM');
  await exited;
};

/** Resolves with the URL in the line by which a server says that it listens. */
export const untilListening = async (child: ChildProcess): Promise<string> => {
  let output = '';
  for await (const chunk of child.stdout ?? []) {
    output += String(chunk);
    const url = /listening on (\S+)/.exec(output)?.[1];
    if (url !== undefined) return url;
  }
  throw new Error(`a server did not start: ${child.spawnargs.join(' ')}`);
};

export interface Server {
  url: string;
  port: number;
  pid: number;
  process: ChildProcess;
  stop(): Promise<void>;
}

/** Starts a server that prints `listening on URL`, on the processor of servers. */
export const startServer = async (
  command: readonly string[],
  env: Record<string, string | undefined> = {},
): Promise<Server> => {
  const [program, args] = pinned('server', command);
  const child = spawn(program, args, {
    env: { PATH: process.env['PATH'], ...env },
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  const url = await untilListening(child);
  child.stdout?.resume();
  return { url, port: Number(new URL(url).port), pid: child.pid ?? 0, process: child, stop: () => stop(child) };
};
