import { execFile } from 'node:child_process';
import { mkdir, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import type { Logger } from 'pino';
import { z } from 'zod';
import { type ChildEnvironment, findOnPath } from './ffmpeg.ts';

const execute = promisify(execFile);

/** What tells a process from a later one of the same number. */
interface Traits {
  startTime: string;
  commandLine: string;
}

/** What is kept of a child while it runs, so that the next start of the service finds it. */
const runFile = z.object({ pid: z.int().min(2), startTime: z.string().min(1), runId: z.string().min(16) });

/** `/proc/PID/stat` and `/proc/PID/cmdline` (proc(5)). The name in the former may hold anything, brackets too. */
export const readProc = (stat: string, cmdline: string): Traits => ({
  startTime: stat.slice(stat.lastIndexOf(')') + 2).split(' ')[19] ?? '',
  commandLine: cmdline.replaceAll('\0', ' '),
});

/** `ps -o lstart=,command=`: a date of 24 characters, then the rest of the line. */
export const readPs = (line: string): Traits => ({
  startTime: line.trim().slice(0, 24),
  commandLine: line.trim().slice(24).trimStart(),
});

/** The JSON that PowerShell makes of a `Win32_Process`. */
export const readCim = (json: string): Traits => {
  const { startTime, commandLine } = JSON.parse(json) as { startTime: string; commandLine: string | null };
  return { startTime, commandLine: commandLine ?? '' };
};

const cimQuery = (pid: number) =>
  `Get-CimInstance Win32_Process -Filter 'ProcessId=${pid}' | Select-Object ` +
  "@{n='startTime';e={$_.CreationDate.ToUniversalTime().ToString('o')}},@{n='commandLine';e={$_.CommandLine}} | " +
  'ConvertTo-Json -Compress';

/** Looks at a process; null: there is none of this number. */
const inspect = async (pid: number, { PATH }: ChildEnvironment): Promise<Traits | null> => {
  try {
    if (process.platform === 'linux') {
      const [stat, cmdline] = await Promise.all(
        ['stat', 'cmdline'].map((name) => readFile(`/proc/${pid}/${name}`, 'utf8')),
      );
      return readProc(stat ?? '', cmdline ?? '');
    }
    // Dates must read the same whatever the language.
    const options = { env: { PATH, LC_ALL: 'C' }, timeout: 10_000 };
    if (process.platform === 'win32') {
      return readCim((await execute('powershell', ['-NoProfile', '-Command', cimQuery(pid)], options)).stdout);
    }
    return readPs((await execute('ps', ['-ww', '-p', `${pid}`, '-o', 'lstart=,command='], options)).stdout);
  } catch {
    return null;
  }
};

interface Dependencies {
  log: Logger;
  environment: ChildEnvironment;
}

export interface Orphans {
  /** What to put before a command so that the process dies with the service; nothing where the system has no such thing. */
  leash(): Promise<readonly string[]>;
  /** Writes down a child that carries `runId` in its command line. */
  record(pid: number, runId: string): Promise<void>;
  /** The child has ended. */
  forget(runId: string): Promise<void>;
  /** Kills what an earlier service left running, and nothing else; resolves to how many that were. */
  sweep(): Promise<number>;
}

/**
 * Sees to it that no child outlives the service, however that ends. Where the system can tie a process to its parent
 * it does; besides, each child is written down in the data directory for the next start.
 */
export const createOrphans = ({ log, environment }: Dependencies, { dataDir }: { dataDir: string }): Orphans => {
  const folder = join(dataDir, 'streams');
  const fileOf = (runId: string) => join(folder, `${runId}.json`);

  const findLeash = async (): Promise<readonly string[]> => {
    const setpriv = process.platform === 'linux' ? await findOnPath('setpriv', environment) : null;
    if (setpriv === null) return [];
    const words = ['--pdeathsig', 'KILL', '--'];
    // BusyBox has a setpriv that knows no --pdeathsig.
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
    leash: findLeash,

    async record(pid, runId) {
      const traits = await inspect(pid, environment);
      if (traits === null) return;
      try {
        await mkdir(folder, { recursive: true });
        await writeFile(fileOf(runId), JSON.stringify({ pid, startTime: traits.startTime, runId }));
      } catch (error) {
        log.warn({ err: error }, 'a stream could not be written down for the next start');
      }
    },

    forget: (runId) => rm(fileOf(runId), { force: true }).catch(() => undefined),

    async sweep() {
      const names = await readdir(folder).catch(() => []);
      const killed = await Promise.all(
        names.map(async (name) => {
          const file = join(folder, name);
          // A file that was cut short by the end of the service names nobody.
          const isKilled = await killOrphan(file).catch(() => false);
          await rm(file, { force: true });
          return isKilled;
        }),
      );
      return killed.filter(Boolean).length;
    },
  };
};
