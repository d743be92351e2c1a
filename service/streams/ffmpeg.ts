import { execFile } from 'node:child_process';
import { access, constants } from 'node:fs/promises';
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
}

export interface Ffmpeg {
  /** Which ffmpeg to run; null: there is none. Looks at files only. */
  locate(): Promise<Program | null>;
  /** The same with its version, for people; null too where it does not run. */
  describe(): Promise<(Program & { version: string }) | null>;
}

const isExecutable = (path: string): Promise<boolean> =>
  access(path, constants.X_OK).then(
    () => true,
    () => false,
  );

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

/** Remembers an answer, but not that there was none: ffmpeg may be installed while the service runs. */
const remember = <Answer>(ask: () => Promise<Answer | null>): (() => Promise<Answer | null>) => {
  let known: Answer | null = null;
  return async () => {
    known ??= await ask();
    return known;
  };
};

interface Dependencies {
  environment: ChildEnvironment;
}

interface Options {
  /** A path, or a name on the PATH; null: not set. */
  ffmpegPath: string | null;
}

/** Finds ffmpeg: the one that was set and no other, else ffmpeg-static's, else the one on the PATH. */
export const createFfmpeg = ({ environment }: Dependencies, { ffmpegPath }: Options): Ffmpeg => {
  const find = async (pathOrName: string): Promise<string | null> => {
    if (!/[\\/]/.test(pathOrName)) return findOnPath(pathOrName, environment);
    return (await isExecutable(pathOrName)) ? pathOrName : null;
  };

  const locate = remember(async (): Promise<Program | null> => {
    if (ffmpegPath !== null) {
      const path = await find(ffmpegPath);
      return path === null ? null : { path, source: 'setting' };
    }
    const packaged = await findStatic();
    if (packaged !== null) return { path: packaged, source: 'ffmpeg-static' };
    const path = await find('ffmpeg');
    return path === null ? null : { path, source: 'PATH' };
  });

  const describe = remember(async () => {
    const program = await locate();
    if (program === null) return null;
    try {
      const { stdout } = await execute(program.path, ['-version'], { env: { ...environment }, timeout: 5_000 });
      const version = /^ffmpeg version (\S+)/.exec(stdout)?.[1];
      return version === undefined ? null : { ...program, version };
    } catch {
      return null;
    }
  });

  return { locate, describe };
};
