import { execFile } from 'node:child_process';
import { access, constants, stat } from 'node:fs/promises';
import { delimiter, isAbsolute, join } from 'node:path';
import { promisify } from 'node:util';

const execute = promisify(execFile);

/** All that a child process gets to know of the service's environment. */
export interface ChildEnvironment {
  PATH: string;
  LANG: string;
}

/** The ffmpeg that is used, and who named it. */
interface Program {
  path: string;
  source: 'setting' | 'ffmpeg-static' | 'PATH';
  version: string;
}

export interface Ffmpeg {
  /** Which ffmpeg to run; null: none is there that runs. */
  find(): Promise<Program | null>;
}

const VERSION_MS = 5_000;
/** Of a program that gave no answer, because the machine is busy or short of something: it may run all the same. */
const UNKNOWN = 'unknown';
const SHORTAGES: unknown[] = ['EMFILE', 'ENFILE', 'EAGAIN', 'ENOMEM'];
/** A program without a version is asked again after this, in ms. */
const RETRY_MS = 5_000;

const isExecutable = async (path: string): Promise<boolean> => {
  try {
    await access(path, constants.X_OK);
    return (await stat(path)).isFile();
  } catch {
    return false;
  }
};

/** A program by its name, as a shell finds it: the first in the folders of PATH; null: there is none. */
export const findOnPath = async (name: string, { PATH }: Pick<ChildEnvironment, 'PATH'>): Promise<string | null> => {
  const folders = PATH.split(delimiter).filter((folder) => isAbsolute(folder));
  for (const folder of folders) {
    for (const path of [join(folder, name), join(folder, `${name}.exe`)]) {
      if (await isExecutable(path)) return path;
    }
  }
  return null;
};

/** The binary that ffmpeg-static installs. It is optional, and so is its download: the package may come without it. */
const findStatic = async (): Promise<string | null> => {
  const packageName = 'ffmpeg-static';
  try {
    const { default: path } = (await import(packageName)) as { default: string | null };
    // What is in an asar archive can't be run; electron-builder puts binaries beside it.
    const unpacked = path?.replace('app.asar', 'app.asar.unpacked') ?? null;
    return unpacked !== null && (await isExecutable(unpacked)) ? unpacked : null;
  } catch {
    return null;
  }
};

interface Dependencies {
  environment: ChildEnvironment;
}

interface Options {
  /** A path, or a name on the PATH; null: not set. */
  ffmpegPath: string | null;
}

const isVersion = (version: string | null): boolean => version !== null && version !== UNKNOWN;

/** Asks programs for their version, and remembers it for as long as the file stays the same. */
const createVersions = (environment: ChildEnvironment) => {
  const known = new Map<string, { file: string; askedAt: number; version: Promise<string | null> }>();

  const ask = async (path: string): Promise<string | null> => {
    try {
      const { stdout } = await execute(path, ['-version'], { env: { ...environment }, timeout: VERSION_MS });
      return /^ffmpeg version (\S+)/.exec(stdout)?.[1] ?? null;
    } catch (error) {
      const { killed, code } = error as { killed?: boolean; code?: unknown };
      return killed || SHORTAGES.includes(code) ? UNKNOWN : null;
    }
  };

  /** Null where the program does not run, such as one that is made for another machine. */
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

/** Finds ffmpeg: the one that was set and no other, else ffmpeg-static's, else the one on the PATH. */
export const createFfmpeg = ({ environment }: Dependencies, { ffmpegPath }: Options): Ffmpeg => {
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
    async find() {
      for (const [source, locate] of candidates) {
        const path = await locate();
        const version = path === null ? null : await versionOf(path).catch(() => null);
        if (path !== null && version !== null) return { path, source, version };
      }
      return null;
    },
  };
};
