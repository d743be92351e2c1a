/** Runs programs that read a file of somebody's, which may have been made to do harm. */
import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { type ChildEnvironment, findOnPath } from './ffmpeg.ts';

const execute = promisify(execFile);

interface Job {
  program: string;
  args: readonly string[];
  /** The only file that the program has to read. */
  file: string;
  /** The program is killed after this time, ms. */
  timeout: number;
  /** Address space, bytes; default: 512 MiB. */
  memory?: number;
  signal?: AbortSignal;
}

/** What a program wrote before it ended. */
export interface Output {
  /** Whether it ended with the exit code 0. */
  isDone: boolean;
  stdout: Buffer;
  stderr: string;
}

const install = 'run: sudo apt install';
const MIB = 1024 ** 2;
const MAX_OUTPUT_BYTES = 4 * MIB;
/** What programs need beside themselves: their libraries. */
const SYSTEM = ['/usr', '/bin', '/lib', '/lib64', '/etc/ld.so.cache', '/etc/alternatives'];

/** The command that runs a program without a network, in a file system with nothing but the program and its file. */
const bubblewrap = (path: string, program: string, file: string): string[] => [
  path,
  ...['--unshare-all', '--die-with-parent', '--new-session', '--dev', '/dev', '--tmpfs', '/tmp'],
  ...SYSTEM.flatMap((each) => ['--ro-bind-try', each, each]),
  ...['--ro-bind', program, program, '--ro-bind', file, file, '--'],
];

/**
 * Runs a program with limits of time and, on Linux, of address space and without a network, as far as the machine has
 * `prlimit` and bubblewrap or `unshare`.
 */
export const createConfined = (environment: ChildEnvironment) => {
  // Otherwise each thread of the program would take 64 MiB of address space.
  const env = { ...environment, MALLOC_ARENA_MAX: '1' };
  const find = async (name: string) => (process.platform === 'linux' ? findOnPath(name, environment) : null);
  let finding: ReturnType<typeof findCommands> | undefined;
  let notes: readonly string[] = [];

  /**
   * Which commands work is tried with the program itself: containers and hardened systems forbid some.
   * @returns null: none does
   */
  const findIsolation = async (
    program: string,
  ): Promise<((path: string, file: string) => readonly string[]) | null> => {
    const works = ([command = '', ...words]: readonly string[]): Promise<boolean> =>
      execute(command, [...words, program, '-version'], { env, timeout: 5_000 }).then(
        () => true,
        () => false,
      );
    const [bwrap, unshare] = [await find('bwrap'), await find('unshare')];
    if (bwrap !== null && (await works(bubblewrap(bwrap, program, program)))) {
      return (path, file) => bubblewrap(bwrap, path, file);
    }
    const words = unshare === null ? [] : [unshare, '-rn', '--'];
    return unshare !== null && (await works(words)) ? () => words : null;
  };

  const findCommands = async (program: string) => {
    const [isolate, prlimit] = [await findIsolation(program), await find('prlimit')];
    if (process.platform === 'linux')
      notes = [
        ...(isolate === null ? [`Uploads are read by programs that reach the network; ${install} bubblewrap`] : []),
        ...(prlimit === null ? [`Uploads are read by programs without a limit of memory; ${install} util-linux`] : []),
      ];
    return { isolate: isolate ?? (() => []), prlimit };
  };

  const run = async ({ program, args, file, timeout, memory = 512 * MIB, signal }: Job): Promise<Output> => {
    finding ??= findCommands(program);
    const { isolate, prlimit } = await finding;
    // The processor time ends the program where the service has died.
    const limits =
      prlimit === null ? [] : [prlimit, `--as=${memory}`, `--cpu=${Math.ceil(timeout / 1000) + 1}`, '--core=0', '--'];
    const [command = program, ...words] = [...limits, ...isolate(program, file), program, ...args];
    return new Promise((resolve) => {
      const options = { env, timeout, signal, encoding: 'buffer' as const, maxBuffer: MAX_OUTPUT_BYTES };
      execFile(command, words, { ...options, killSignal: 'SIGKILL' }, (error, stdout, stderr) =>
        resolve({ isDone: error === null, stdout, stderr: stderr.toString() }),
      );
    });
  };
  return Object.assign(run, {
    /** Sentences about what the machine lacks, once a program has run. */
    notes: (): readonly string[] => notes,
  });
};
export type Confined = ReturnType<typeof createConfined>;
export type RunConfined = (...job: Parameters<Confined>) => ReturnType<Confined>;
