/**
 * One service at a time for a data directory: what a second one would sweep at its start is the work of the first. The
 * kernel holds the lock, and lets go of it with the process, however that ends; nothing is left in the directory.
 */
import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { constants, open, stat } from 'node:fs/promises';
import { createServer } from 'node:net';
import { setTimeout as delay } from 'node:timers/promises';
import type { Logger } from 'pino';

/** Another service uses the data directory; the message is a sentence for a person. */
export class FolderTaken extends Error {
  override readonly name = 'FolderTaken';

  constructor(folder: string) {
    super(
      `The data folder ${folder} is in use by another signage player; end that one, or set SIGNAGE_DATA_DIR to another folder.`,
    );
  }
}

interface Lock {
  close(): Promise<void>;
}

/** A service that was told to stop a moment ago may hold on for so long, ms. */
const PATIENCE_MS = 6_000;
const PAUSE_MS = 100;

/** What flock(1) ends with where somebody else has the lock. */
const TAKEN = 1;

/**
 * flock(2) on the directory itself: by whatever path, in whatever container, and though it can't be written to. The
 * program locks a file that it shares with this process, in which the lock stays when the program has ended.
 * @returns null where the lock is taken
 * @throws where there is no such program, or the file system knows no locks
 */
const lockDirectory = async (folder: string, environment: NodeJS.ProcessEnv): Promise<Lock | null> => {
  const handle = await open(folder, 'r');
  try {
    const flock = spawn('flock', ['-n', '3'], { env: environment, stdio: ['ignore', 'ignore', 'ignore', handle.fd] });
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

/** macOS has no such program, and a flag that locks as it opens (open(2)). */
const O_EXLOCK = 0x20;
const lockOnOpening = (folder: string): Promise<Lock | null> =>
  open(folder, constants.O_RDONLY | constants.O_NONBLOCK | O_EXLOCK).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'EAGAIN') return null;
    throw error;
  });

/** Where names live that belong to a process, and not to a file system. Linux has them in each network namespace. */
const names = process.platform === 'win32' ? '\\\\.\\pipe\\' : '\0';

/**
 * A pipe or socket by the name of the directory, which one process alone can listen on.
 * @returns null where the name is taken
 * @throws the system's error where there are no such names
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
  /** Which is there. */
  dataDir: string;
  /** Of the program that locks. */
  environment: Readonly<NodeJS.ProcessEnv>;
  log: Pick<Logger, 'warn'>;
}

/**
 * Takes the lock of a data directory. Where the system has none to give, the service goes on without.
 * @throws FolderTaken
 */
export const lockFolder = async ({ dataDir, environment, log }: Options): Promise<Lock> => {
  const lock = (): Promise<Lock | null> => {
    if (process.platform === 'win32') return lockName(dataDir);
    if (process.platform === 'darwin') return lockOnOpening(dataDir);
    return lockDirectory(dataDir, { ...environment }).catch(() => lockName(dataDir));
  };
  const deadline = performance.now() + PATIENCE_MS;
  try {
    for (;;) {
      const held = await lock();
      if (held !== null) return held;
      if (performance.now() > deadline) throw new FolderTaken(dataDir);
      await delay(PAUSE_MS);
    }
  } catch (error) {
    if (error instanceof FolderTaken) throw error;
    log.warn({ err: error }, 'the data folder can not be locked; see to it that one service alone uses it');
    return { close: async () => undefined };
  }
};
