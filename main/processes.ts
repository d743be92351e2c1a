/** Runs programs, and measures the processes of the app. */
import { execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import type { App } from 'electron';

/**
 * Runs a program with some text on standard input.
 * @returns its standard output
 * @throws Error if it is missing, fails, or takes longer than 20 s
 */
export type Run = (program: string, args: readonly string[], input?: string) => Promise<string>;

const TIMEOUT_MS = 20_000;

export const run: Run = (program, args, input = '') =>
  new Promise((resolve, reject) => {
    const child = execFile(program, args, { timeout: TIMEOUT_MS, killSignal: 'SIGKILL' }, (error, stdout) => {
      if (error === null) resolve(stdout);
      else reject(error);
    });
    child.stdin?.on('error', () => {});
    child.stdin?.end(input);
  });

/**
 * The memory of a process in bytes. On Linux without shared pages, which would count once for each process: on a box with
 * 1 GiB an idle page would exceed its budget.
 * @param resident what Electron reports, in bytes; returned if the system has no better figure
 */
export const ownMemory = (pid: number, resident: number): number => {
  try {
    const [, kibibytes] = /^RssAnon:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8')) ?? [];
    return kibibytes === undefined ? resident : Number(kibibytes) * 1024;
  } catch {
    return resident;
  }
};

/** Bytes of each process of the app, by its id. */
export const memoryByProcess = (app: Pick<App, 'getAppMetrics'>) => (): Map<number, number> =>
  new Map(app.getAppMetrics().map(({ pid, memory }) => [pid, ownMemory(pid, memory.workingSetSize * 1024)]));
