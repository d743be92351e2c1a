/**
 * Locks a data directory, because a second service would remove files that the first one is writing. The kernel holds the
 * lock and releases it when the process ends; no file remains.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { constants, open, rm, stat, writeFile } from 'node:fs/promises';
import { createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';
import { addressFile, addressIn } from '../../contract/headers.ts';
import { findOnPath } from '../ffmpeg.ts';

const addressPath = (folder: string): string => join(folder, addressFile);

/** The URL of the service that has locked a data directory; null: none has, or it does not listen yet. */
export const runningAt = (folder: string): string | null => {
  try {
    return addressIn(readFileSync(addressPath(folder), 'utf8'));
  } catch {
    return null;
  }
};

/** Another service uses the data directory; the message is for the operator. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';

  constructor(folder: string) {
    const url = runningAt(folder);
    const where = url === null ? '' : ` at ${url}`;
    super(
      `The data folder ${folder} is in use by another signage player${where}; end that one, or set SIGNAGE_DATA_DIR to another folder.`,
    );
  }
}

interface Lock {
  close(): Promise<void>;
}

/** How long a service that is stopping may hold the lock. */
const TIMEOUT_MS = 6_000;
const RETRY_MS = 100;

/** The exit code of flock(1) if the lock is held. */
const TAKEN = 1;

/**
 * Locks the directory itself by flock(2): this works across paths and containers and without write permission. flock(1)
 * locks a file description that it shares with this process, which keeps the lock after the program has ended.
 * @returns null if the lock is held
 * @throws if the program is missing or the file system has no locks
 */
const lockDirectory = async (folder: string, environment: Readonly<NodeJS.ProcessEnv>): Promise<Lock | null> => {
  const program = await findOnPath('flock', { PATH: environment['PATH'] ?? '' });
  if (program === null) throw new Error('there is no flock');
  const handle = await open(folder, 'r');
  try {
    const flock = spawn(program, ['-n', '3'], {
      env: { ...environment },
      stdio: ['ignore', 'ignore', 'ignore', handle.fd],
    });
    const [code] = (await once(flock, 'exit')) as [number | null];
    if (code === 0) return handle;
    if (code !== TAKEN) throw new Error(`flock ended with ${code}`);
  } catch (error) {
    await handle.close();
    throw error;
  }
  await handle.close();
  return null;
};

/** macOS has no flock(1), but a flag of open(2) that locks. */
const O_EXLOCK = 0x20;
const lockOnOpening = (folder: string): Promise<Lock | null> =>
  open(folder, constants.O_RDONLY | constants.O_NONBLOCK | O_EXLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EAGAIN') return null;
    throw error;
  });

/** The prefix of names that belong to a process, not to a file system. On Linux they exist per network namespace. */
const names = process.platform === 'win32' ? '\\\\.\\pipe\\' : '\0';

/**
 * Listens on a pipe or socket named after the directory, which only one process can do.
 * @returns null if the name is taken
 * @throws the system's error if there are no such names
 */
const lockName = async (folder: string): Promise<Lock | null> => {
  const { dev, ino } = await stat(folder, { bigint: true });
  const server = createServer((socket) => socket.destroy()).unref();
  server.listen(`${names}signage-player-${dev}-${ino}`);
  try {
    await once(server, 'listening');
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'EADDRINUSE') return null;
    throw error;
  }
  return {
    close: async () => {
      server.close();
    },
  };
};

interface Options {
  /** An existing directory. */
  dataDir: string;
  /** The environment of flock(1). */
  environment: Readonly<NodeJS.ProcessEnv>;
  log: Pick<Logger, 'warn'>;
}

/** If the system has no locks, the service continues without one. */
const acquire = async ({ dataDir, environment, log }: Options): Promise<Lock> => {
  const lock = (): Promise<Lock | null> => {
    if (process.platform === 'win32') return lockName(dataDir);
    if (process.platform === 'darwin') return lockOnOpening(dataDir);
    return lockDirectory(dataDir, environment).catch(() => lockName(dataDir));
  };
  const deadline = performance.now() + TIMEOUT_MS;
  try {
    for (;;) {
      const held = await lock();
      if (held !== null) return held;
      if (performance.now() > deadline) throw new FolderTaken(dataDir);
      await delay(RETRY_MS);
    }
  } catch (error) {
    if (error instanceof FolderTaken) throw error;
    log.warn({ err: error }, 'the data folder cannot be locked; make sure that only one service uses it');
    return { close: async () => undefined };
  }
};

interface FolderLock extends Lock {
  /** Lets a second service say where this one is. A full disk is ignored. */
  announce(url: string): Promise<void>;
}

/**
 * Locks a data directory.
 * @throws FolderTaken
 */
export const lockFolder = async (options: Options): Promise<FolderLock> => {
  const held = await acquire(options);
  const address = addressPath(options.dataDir);
  const forget = (): Promise<void> => rm(address, { force: true }).catch(() => {});
  // That of a service that was killed.
  await forget();
  return {
    announce: (url) => writeFile(address, `${url}\n`).catch(() => {}),
    close: async () => {
      await forget();
      await held.close();
    },
  };
};
