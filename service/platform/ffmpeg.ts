import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';
import type { Options } from './options/index.ts';
import { isShortage } from './store/disk.ts';

const execute = promisify(execFile);

/** The environment variables that child processes get. */
export type ChildEnvironment = Options['childEnvironment'];

/** The ffmpeg that is used, and where it was found. */
interface Program {
  path: string;
  source: 'setting' | 'ffmpeg-static' | 'PATH';
  version: string;
}

export type Ffmpeg = ReturnType<typeof createFfmpeg>;

const VERSION_MS = 5_000;
/** The version of a program that did not answer because the machine is busy or out of resources: it may still work. */
const UNKNOWN = 'unknown';
/** How long to wait before a program that did not answer is asked again, in ms. */
export const RETRY_MS = 5_000;

/** Whether a program did not answer because the machine was busy or out of resources: the next time it may. */
export const isUnanswered = (error: unknown): boolean => {
  const { killed, signal } = error as { killed?: boolean; signal?: unknown };
  // Linux kills a program so where memory is short.
  return killed === true || signal === 'SIGKILL' || isShortage(error);
};

const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
};

/** Finds a program by name like a shell: the first match in the folders of PATH; null: there is none. */
export const findOnPath = async (name: string, { PATH }: Pick<ChildEnvironment, 'PATH'>): Promise<string | null> => {
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    for (const path of [join(folder, name), join(folder, `${name}.exe`)]) {
      if (await isExecutable(path)) return path;
    }
  }
  return null;
};

/** The path in the optional package ffmpeg-static; null: it is not installed. Looking for it once more costs as much as before. */
let staticPath: Promise<string | null> | undefined;

/** Finds the binary of ffmpeg-static, which may be installed without its binary. */
const findStatic = async (): Promise<string | null> => {
  const packageName = 'ffmpeg-static';
  staticPath ??= (import(packageName) as Promise<{ default: string | null }>).then(
    ({ default: path }) => path,
    () => null,
  );
  // Files in an asar archive cannot be executed; electron-builder unpacks binaries next to it.
  const unpacked = (await staticPath)?.replace('app.asar', 'app.asar.unpacked') ?? null;
  return unpacked !== null && (await isExecutable(unpacked)) ? unpacked : null;
};

const isVersion = (version: string | null): boolean => version !== null && version !== UNKNOWN;

/** Versions by path. They are facts of files, so all services of a process share them. */
const known = new Map<string, { file: string; askedAt: number; version: Promise<string | null> }>();

/** Asks programs for their version, and caches it until the file changes. */
const createVersions = (environment: ChildEnvironment) => {
  const ask = async (path: string): Promise<string | null> => {
    try {
      const { stdout } = await execute(path, ['-version'], { env: { ...environment }, timeout: VERSION_MS });
      return /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? null;
    } catch (error) {
      return isUnanswered(error) ? UNKNOWN : null;
    }
  };

  /** Null if the program does not run, such as one built for a different architecture. */
  return async (path: string): Promise<string | null> => {
    const { size, mtimeMs } = await stat(path);
    const file = `${size} ${mtimeMs}`;
    const before = known.get(path);
    if (before?.file === file) {
      const version = await before.version;
      if (isVersion(version) || performance.now() < before.askedAt + RETRY_MS) return version;
    }
    const asked = { file, askedAt: performance.now(), version: ask(path) };
    known.set(path, asked);
    return asked.version;
  };
};

/** Finds ffmpeg: only the configured one if set; otherwise that of ffmpeg-static, then the one on the PATH. */
export const createFfmpeg = ({
  ffmpegPath,
  childEnvironment: environment,
}: Pick<Options, 'ffmpegPath' | 'childEnvironment'>) => {
  const versionOf = createVersions(environment);

  const findSet = async (pathOrName: string): Promise<string | null> => {
    if (!/[\\/]/.test(pathOrName)) return findOnPath(pathOrName, environment);
    return (await isExecutable(pathOrName)) ? pathOrName : null;
  };

  const candidates: [Program['source'], () => Promise<string | null>][] =
    ffmpegPath === null
      ? [
          ['ffmpeg-static', findStatic],
          ['PATH', () => findOnPath('ffmpeg', environment)],
        ]
      : [['setting', () => findSet(ffmpegPath)]];

  return {
    /** Finds the ffmpeg to run; null: there is no working one. */
    async find(): Promise<Program | null> {
      for (const [source, locate] of candidates) {
        const path = await locate();
        const version = path === null ? null : await versionOf(path).catch(() => null);
        if (path !== null && version !== null) return { path, source, version };
      }
      return null;
    },
  };
};
