import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type ChildEnvironment, findOnPath } from '../platform/ffmpeg.ts';
import type { Options } from '../platform/options/index.ts';
import { removeLeftover } from '../platform/store/disk.ts';

const execute = promisify(execFile);

/** Properties that distinguish a process from a later one with the same PID. */
interface Traits {
  startTime: string;
  commandLine: string;
}

/** The file kept for a running child process, so that the next start of the service finds it. */
const runFile = z.object({ pid: z.int().min(2), startTime: z.string().min(1), runId: z.string().min(16) });

/** Parses `/proc/PID/stat` and `/proc/PID/cmdline` (proc(5)). The name in `stat` may contain parentheses. */
export const readProc = (stat: string, cmdline: string): Traits => ({
  startTime: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '',
  commandLine: cmdline.replaceAll('\0', ' '),
});

/** Parses `ps -o lstart=,command=`: a date of 24 characters, then the command line. */
export const readPs = (line: string): Traits => ({
  startTime: line.trim().slice(0, 24),
  commandLine: line.trim().slice(24).trimStart(),
});

/** Reads the traits of a process; null: no process has this PID, or the system ends it with the service, as Windows does. */
const inspect = async (pid: number, { PATH }: ChildEnvironment): Promise<Traits | null> => {
  if (process.platform === 'win32') return null;
  try {
    if (process.platform === 'linux') {
      const [stat, cmdline] = await Promise.all(
        ['stat', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
      );
      return readProc(stat ?? '', cmdline ?? '');
    }
    // The date format must not depend on the locale.
    const options = { env: { PATH, LC_ALL: 'C' }, timeout: 10_000 };
    return readPs((await execute('ps', ['-ww', '-p', `${pid}`, '-o', 'lstart=,command='], options)).stdout);
  } catch {
    return null;
  }
};

interface Context {
  log: Logger;
  options: Pick<Options, 'dataDir' | 'childEnvironment'>;
}

export type Orphans = ReturnType<typeof createOrphans>;

/**
 * Ensures that no child process outlives the service, even after a crash: by a parent-death signal where the system has
 * one, and by records in the data directory that the next start reads.
 */
export const createOrphans = ({ log, options }: Context) => {
  const { dataDir, childEnvironment: environment } = options;
  const folder = join(dataDir, 'streams');
  const fileOf = (runId: string) => join(folder, `${runId}.json`);

  const findDeathSignalPrefix = async (): Promise<readonly string[]> => {
    const setpriv = process.platform === 'linux' ? await findOnPath('setpriv', environment) : null;
    if (setpriv === null) return [];
    const words = ['--pdeathsig', 'KILL', '--'];
    // The setpriv of BusyBox does not support --pdeathsig.
    return execute(setpriv, [...words, setpriv, '--version'], { env: { ...environment } }).then(
      () => [setpriv, ...words],
      () => [],
    );
  };

  const killOrphan = async (file: string): Promise<boolean> => {
    const child = runFile.safeParse(JSON.parse(await readFile(file, 'utf8'))).data;
    const traits = child && (await inspect(child.pid, environment));
    if (!traits || traits.startTime !== child.startTime || !traits.commandLine.includes(child.runId)) return false;
    process.kill(child.pid, 'SIGKILL');
    return true;
  };

  return {
    /** The command prefix that makes a child die with the service; empty if the system has none. */
    deathSignalPrefix: findDeathSignalPrefix,

    /** Records a child that has `runId` in its command line. */
    async record(pid: number, runId: string): Promise<void> {
      const traits = await inspect(pid, environment);
      if (traits === null) return;
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(fileOf(runId), JSON.stringify({ pid, startTime: traits.startTime, runId }));
      } catch (error) {
        log.warn({ err: error }, 'the process of a stream could not be recorded for the next start');
      }
    },

    /** Deletes the record of a child that has exited. */
    forget: (runId: string): Promise<void> => rm(fileOf(runId), { force: true }).catch(() => undefined),

    /** Kills recorded children that an earlier service left running; resolves to their number. */
    async sweep(): Promise<number> {
      const names = await readdir(folder).catch(() => []);
      const killed = await Promise.all(
        names.map(async (name) => {
          const file = join(folder, name);
          // A record truncated by a crash identifies no process.
          const isKilled = await killOrphan(file).catch(() => false);
          await removeLeftover(file, log);
          return isKilled;
        }),
      );
      return killed.filter(Boolean).length;
    },
  };
};
