/** Runs programs that read a file of somebody's, which may have been made to do harm. */
import { type ChildProcess, execFile } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { readFile } from 'node:fs/promises';
import { availableParallelism } from 'node:os';
import { promisify } from 'node:util';
import { type ChildEnvironment, findOnPath, isUnanswered, RETRY_MS } from './ffmpeg.ts';

const execute = promisify(execFile);

interface Job {
  program: string;
  args: readonly string[];
  /** A script that the program runs, the first of its arguments; absent: none. */
  script?: string;
  /** The only file that the program has to read. */
  file: string;
  /** The program is killed after this time, ms. */
  timeout: number;
  /** Address space, bytes; default: 512 MiB. */
  memory?: number;
  /** Memory with all its children, bytes, for a program that cannot live under a limit of address space: then it is killed. */
  resident?: number;
  /** The only folder that the program has to write to; absent: none. */
  folder?: string;
  /** Gives way to all other programs, and leaves half of the processors to them. */
  isIdle?: boolean;
  /** Called with what it writes to its standard output, piece by piece. */
  onOutput?(text: string): void;
  signal?: AbortSignal | undefined;
}

/** A job that a script of the service does, in a process of its own. */
export interface ScriptJob extends Omit<Job, 'program' | 'memory'> {
  script: string;
  resident: number;
  env: Record<string, string>;
}
export type ScriptOutput = Pick<Output, 'isDone' | 'stderr'> & Partial<Pick<Output, 'isCut'>>;
export type RunScript = (job: ScriptJob) => Promise<ScriptOutput>;

/** What a program wrote before it ended. */
export interface Output {
  /** Whether it ended with the exit code 0. */
  isDone: boolean;
  /** Whether it could not be started, or was killed: what it wrote says nothing of the file. */
  isCut: boolean;
  stdout: Buffer;
  stderr: string;
}

const install = 'run: sudo apt install';
const MIB = 1024 ** 2;
/** Temporary files lie in memory, and are not in that of a process: a document can be an archive of any size. */
const TEMPORARY_BYTES = 1024 * MIB;
const MAX_OUTPUT_BYTES = 4 * MIB;
/** What programs need beside themselves: their libraries. */
const SYSTEM = [
  ...['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache', '/etc/alternatives'],
  // Of LibreOffice.
  ...['/etc/fonts', '/etc/libreoffice'],
];

/** What a program may reach. */
type Reach = Pick<Job, 'program' | 'script' | 'file' | 'folder'>;

/** The command that runs a program without a network, in a file system with nothing but the program, its file and folder. */
const bubblewrap = (path: string, { program, script, file, folder }: Reach, hasProc: boolean): string[] => [
  path,
  ...(hasProc ? ['--proc', '/proc'] : []),
  ...['--unshare-all', '--die-with-parent', '--new-session', '--dev', '/dev'],
  ...['--size', String(TEMPORARY_BYTES), '--tmpfs', '/tmp'],
  ...SYSTEM.flatMap((each) => ['--ro-bind-try', each, each]),
  ...['--ro-bind', program, program, '--ro-bind', file, file],
  ...(script === undefined ? [] : ['--ro-bind', script, script]),
  ...(folder === undefined ? [] : ['--bind', folder, folder]),
  '--',
];

/** How often the memory of a program is looked at, ms. */
const WATCH_MS = 200;

/** Memory of a process and its descendants, bytes (proc(5)). */
const residentOf = async (pid: number): Promise<number> => {
  const [status, children] = await Promise.all(
    [`/proc/${pid}/status`, `/proc/${pid}/task/${pid}/children`].map((path) => readFile(path, 'utf8').catch(() => '')),
  );
  const own = Number(/^VmRSS:\s+(\d+) kB$/m.exec(status ?? '')?.[1] ?? 0) * 1024;
  const others = await Promise.all(
    (children ?? '')
      .split(' ')
      .filter(Boolean)
      .map((each) => residentOf(Number(each))),
  );
  return others.reduce((sum, each) => sum + each, own);
};

/** The memory that `tasklist` reports in its last column, `"12,345 K"` in the words of the system, bytes; 0: the process is over. */
export const readTasklist = (line: string): number =>
  Number(/"(\d[^"]*)"\s*$/.exec(line)?.[1]?.replace(/\D/g, '') ?? 0) * 1024;

const residentOnWindows = async (pid: number): Promise<number> =>
  readTasklist((await execute('tasklist', ['/fi', `PID eq ${pid}`, '/fo', 'csv', '/nh'])).stdout);

/** Kills a program whose memory is more than `most` bytes; the function that is returned ends the watch. */
export const watchMemory = (child: { pid?: number | undefined; kill(): unknown }, most: number): (() => void) => {
  const { pid } = child;
  let timer: NodeJS.Timeout | undefined;
  let isOver = pid === undefined;
  const look = async (): Promise<void> => {
    const read = process.platform === 'win32' ? residentOnWindows : residentOf;
    if ((await read(pid ?? 0).catch(() => 0)) > most) child.kill();
    else if (!isOver) timer = setTimeout(() => void look(), WATCH_MS);
  };
  if (!isOver) void look();
  return () => {
    isOver = true;
    clearTimeout(timer);
  };
};

const descendantsOf = (pid: number): number[] => {
  try {
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').split(' ').filter(Boolean).map(Number);
    return [...children, ...children.flatMap(descendantsOf)];
  } catch {
    return [];
  }
};

/**
 * Kills a program with its children. bubblewrap's child is told to die with it only once its namespaces are made: of one that is
 * killed before, the program would run on. Stopped, it makes no further child.
 */
const killWhole = (child: ChildProcess): void => {
  if (process.platform === 'linux' && child.pid !== undefined && child.kill('SIGSTOP')) {
    for (const pid of descendantsOf(child.pid)) {
      try {
        process.kill(pid, 'SIGKILL');
      } catch {
        // It has ended.
      }
    }
  }
  child.kill('SIGKILL');
  child.stdout?.destroy();
  child.stderr?.destroy();
};

/** How many processors work at idle priority may take. */
export const idleProcessors = (): number => Math.max(1, Math.floor(availableParallelism() / 2));

/** What the commands of a machine are, and sentences about what it lacks. */
interface Commands {
  isolate: ((reach: Reach) => readonly string[]) | null;
  prlimit: string | null;
  idle: readonly string[];
  notes: readonly string[];
  /** By `monotonicNow`. */
  validUntil: number;
}

/** What works, by PATH and program: it is a fact of the machine, so all services of a process share it. */
const working = new Map<string, Commands>();

/**
 * Runs a program with limits of time and, on Linux, of address space and without a network, as far as the machine has
 * `prlimit` and bubblewrap or `unshare`.
 * @param monotonicNow ms
 */
export const createConfined = (environment: ChildEnvironment, monotonicNow = () => performance.now()) => {
  // Otherwise each thread of the program would take 64 MiB of address space.
  const env = { ...environment, MALLOC_ARENA_MAX: '1' };
  const find = async (name: string) => (process.platform === 'linux' ? findOnPath(name, environment) : null);
  let finding: ReturnType<typeof findCommands> | undefined;
  let notes: readonly string[] = [];

  /** Whether one of the commands that are looked for did not answer: all is slow after the start of a machine. */
  let isUnsure = false;

  const works = (words: readonly string[]): Promise<boolean> =>
    execute(words[0] ?? '', words.slice(1), { env, timeout: 5_000 }).then(
      () => true,
      (error: unknown) => {
        isUnsure ||= isUnanswered(error);
        return false;
      },
    );

  /**
   * Which commands work is tried with the program itself: containers and hardened systems forbid some.
   * @returns null: none does
   */
  const findIsolation = async (program: string): Promise<Commands['isolate']> => {
    const [bwrap, unshare, setpriv] = [await find('bwrap'), await find('unshare'), await find('setpriv')];
    const ask = [program, '-version'];
    // LibreOffice needs the processes of its own namespace, which some containers do not let it mount.
    for (const hasProc of bwrap === null ? [] : [true, false]) {
      const wrap = (reach: Reach): string[] => bubblewrap(bwrap ?? '', reach, hasProc);
      if (await works([...wrap({ program, file: program }), ...ask])) return wrap;
    }
    // A program does not outlive the service.
    const dying = setpriv === null ? [] : [setpriv, '--pdeathsig', 'KILL', '--'];
    const ways = [
      // Neither do its children outlive it.
      ['-rn', '--pid', '--fork', '--kill-child', '--'],
      ['-rn', '--', ...dying],
    ];
    for (const way of unshare === null ? [] : ways) {
      const words = [unshare ?? '', ...way];
      if (await works([...words, ...ask])) return () => words;
    }
    return null;
  };

  /** The command for idle priority: of the processor, of the disk, and on half of the processors. */
  const findIdle = async (): Promise<readonly string[]> => {
    const [nice, ionice, taskset] = [await find('nice'), await find('ionice'), await find('taskset')];
    const all: (readonly string[])[] = [
      nice === null ? [] : [nice, '-n', '19'],
      ionice === null ? [] : [ionice, '-c', '3'],
      taskset === null ? [] : [taskset, '-c', `0-${idleProcessors() - 1}`],
    ];
    const isWorking = await Promise.all(
      all.map(async (words) => words.length > 0 && (await works([...words, 'true']))),
    );
    return all.flatMap((words, index) => (isWorking[index] ? words : []));
  };

  const findCommands = async (program: string): Promise<Commands> => {
    const key = `${environment.PATH}\n${program}`;
    const before = working.get(key);
    if (before !== undefined) {
      notes = before.notes;
      return before;
    }
    isUnsure = false;
    const [isolate, prlimit, idle] = [await findIsolation(program), await find('prlimit'), await findIdle()];
    if (process.platform === 'linux')
      notes = [
        ...(isolate === null
          ? [`Uploads are read by programs that reach the network, and LibreOffice is not run; ${install} bubblewrap`]
          : []),
        ...(prlimit === null ? [`Uploads are read by programs without a limit of memory; ${install} util-linux`] : []),
      ];
    const validUntil = isUnsure ? monotonicNow() + RETRY_MS : Number.POSITIVE_INFINITY;
    const found = { isolate, prlimit, idle, notes, validUntil };
    if (isolate !== null && prlimit !== null && !isUnsure) working.set(key, found);
    return found;
  };

  const commandsFor = async (program: string): Promise<Commands> => {
    const known = finding;
    const found = await known;
    if (found !== undefined && monotonicNow() < found.validUntil) return found;
    // Another call may be looking already.
    const next = finding === undefined || finding === known ? findCommands(program) : finding;
    finding = next;
    return next;
  };

  const run = async (job: Job): Promise<Output> => {
    const { program, args, timeout, memory = 512 * MIB, resident, isIdle = false, onOutput, signal } = job;
    const { isolate, prlimit, idle } = await commandsFor(program);
    // The processor time ends the program where the service has died.
    const limits =
      prlimit === null
        ? []
        : [
            ...[prlimit, ...(resident === undefined ? [`--as=${memory}`] : [])],
            ...[`--cpu=${(Math.ceil(timeout / 1000) + 1) * (isIdle ? idleProcessors() : 1)}`, '--core=0', '--'],
          ];
    const words = [...(isIdle ? idle : []), ...limits, ...(isolate?.(job) ?? []), program, ...args];
    if (signal?.aborted === true) return { isDone: false, isCut: true, stdout: Buffer.alloc(0), stderr: '' };
    return new Promise((resolve) => {
      // Beyond its limit Node would kill the program, and leave its children.
      const options = { env, encoding: 'buffer' as const, maxBuffer: Infinity };
      const child = execFile(words[0] ?? program, words.slice(1), options, (error, stdout, stderr) => {
        unwatch();
        clearTimeout(timer);
        signal?.removeEventListener('abort', kill);
        // Of a program that could not be started the code is a word; of one that a signal ended in bubblewrap it is 128 and more.
        const isCut = wasKilled || (error !== null && !(Number(error.code) < 128));
        resolve({ isDone: error === null && !wasKilled, isCut, stdout, stderr: stderr.toString() });
      });
      let wasKilled = false;
      const kill = (): void => {
        wasKilled = true;
        killWhole(child);
      };
      const timer = setTimeout(kill, timeout);
      signal?.addEventListener('abort', kill);
      const most = resident ?? (process.platform === 'win32' ? memory : undefined);
      const unwatch = most === undefined ? () => {} : watchMemory({ pid: child.pid, kill }, most);
      for (const stream of [child.stdout, child.stderr]) {
        let size = 0;
        stream?.on('data', (bytes: Buffer) => {
          size += bytes.length;
          if (size > MAX_OUTPUT_BYTES) kill();
        });
      }
      if (onOutput !== undefined) child.stdout?.on('data', (bytes: Buffer | string) => onOutput(String(bytes)));
    });
  };
  return Object.assign(run, {
    /** Whether programs are run without a network. @param program one that answers to `-version` */
    isolates: async (program: string): Promise<boolean> => (await commandsFor(program)).isolate !== null,
    /** Sentences about what the machine lacks, once a program has run. */
    notes: (): readonly string[] => notes,
  });
};
export type Confined = ReturnType<typeof createConfined>;
export type RunConfined = (...job: Parameters<Confined>) => ReturnType<Confined>;
