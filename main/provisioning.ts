/** A first configuration for a box without a keyboard: a `config.json` that somebody put where the box looks. */
import { createHash } from 'node:crypto';
import { constants } from 'node:fs';
import { mkdtemp, open, readdir, readFile, rm, stat, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { Logger } from 'pino';
import { writeConfig, writeWhole } from './service-host.ts';

interface Dependencies {
  log: Pick<Logger, 'info' | 'warn'>;
  /**
   * Judges the `config.json` in a folder.
   * @throws Error with a sentence where a value is not allowed
   * @returns what else is wrong with it, in sentences
   */
  check(folder: string): readonly string[];
}

export interface Places {
  /**
   * Folders that only who may open the box, or administers it, can write to. Their file replaces an older one each time
   * that it is another.
   */
  trusted: readonly string[];
  /**
   * Drives, or folders that hold the mount points of USB sticks. Taken from only while the box has no configuration: else
   * any passer-by with a stick could take the box over.
   */
  removable: readonly string[];
  /** So many levels of folders are searched in those: on Windows none, since a drive may be a disk full of programs. */
  levels: 0 | 2;
}

/** Where a box looks, by its system. */
export const searchedBy = (platform: NodeJS.Platform, programDir: string): Places =>
  platform === 'win32'
    ? { trusted: [programDir], removable: [...'DEFGHIJKLMNOPQRSTUVWXYZ'].map((letter) => `${letter}:\\`), levels: 0 }
    : {
        trusted: ['/etc/signage-player', '/boot/firmware', '/boot', programDir],
        removable: ['/media', '/run/media'],
        levels: 2,
      };

export interface FirstConfig {
  /**
   * Takes in what it finds. Where a look is under way, since a stick answers slowly or never, it is that one.
   * @returns whether the configuration is another now; what read it before must read it again
   */
  look(): Promise<boolean>;
}

/** A configuration is small; what is not is something else. */
const MOST_BYTES = 256 * 1024;
/** Files that are remembered. */
const MOST_TAKEN = 50;
/** Folders of one folder that are looked into: sticks are few, what lies on them is not. */
const MOST_FOLDERS = 16;

/** A small file; null where it is none. What is called so may be a pipe, which never ends, or have no end. */
const readSmall = async (path: string): Promise<Buffer | null> => {
  try {
    if (!(await stat(path)).isFile()) return null;
    const file = await open(path, constants.O_RDONLY | (constants.O_NONBLOCK ?? 0));
    try {
      if (!(await file.stat()).isFile()) return null;
      const buffer = Buffer.alloc(MOST_BYTES + 1);
      let length = 0;
      for (let read = -1; read !== 0 && length < buffer.length; length += read) {
        read = (await file.read(buffer, length)).bytesRead;
      }
      return length <= MOST_BYTES ? buffer.subarray(0, length) : null;
    } finally {
      await file.close();
    }
  } catch {
    return null;
  }
};

const foldersIn = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { withFileTypes: true }).catch(() => []);
  return entries
    .filter((entry) => entry.isDirectory())
    .slice(0, MOST_FOLDERS)
    .map(({ name }) => join(folder, name));
};

export const createFirstConfig = (
  { log, check }: Dependencies,
  { dataDir, places }: { dataDir: string; places: Places },
): FirstConfig => {
  const target = join(dataDir, 'config.json');
  /** The hashes of what was taken in, so that it does not undo later edits for as long as it lies there. */
  const mark = join(dataDir, 'config.imported');
  const refused = new Set<string>();
  /** Where the mark can't be written, one file a start is enough: two places would have the box start anew for ever. */
  let isOver = false;

  /** Why a file is not taken; null: it is good. */
  const fault = async (bytes: Buffer, isTrusted: boolean): Promise<string | null> => {
    const folder = await mkdtemp(join(tmpdir(), 'signage-config-'));
    try {
      await writeFile(join(folder, 'config.json'), bytes, { mode: 0o600 });
      // A setting that nobody knows: it is some other program's file, or a slip of the pen.
      const unknown = check(folder).find((warning) => warning.startsWith('config.json:'));
      if (unknown !== undefined) return unknown;
      // An object without a key. On a stick, nothing says that it is meant for this box.
      return isTrusted || bytes.includes('"') ? null : 'there is no setting in it';
    } catch (error) {
      return (error as Error).message;
    } finally {
      await rm(folder, { recursive: true, force: true });
    }
  };

  const take = async (path: string, isTrusted: boolean): Promise<boolean> => {
    const bytes = isOver ? null : await readSmall(path);
    if (bytes === null) return false;
    const hash = createHash('sha256').update(bytes).digest('hex');
    const taken = (await readFile(mark, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
    if (refused.has(hash) || taken.includes(hash)) return false;
    const current = await readFile(target).catch(() => null);
    if (current === null || !current.equals(bytes)) {
      const why = await fault(bytes, isTrusted);
      if (why !== null) {
        refused.add(hash);
        log.warn({ path, reason: why }, 'a configuration was found, but it is not good; nothing of it is taken');
        return false;
      }
      await writeConfig(target, bytes);
      log.info({ path }, 'a configuration was found and is taken');
    }
    await writeWhole(mark, [...taken, hash, ''].slice(-MOST_TAKEN).join('\n')).catch((error: unknown) => {
      isOver = true;
      log.warn({ err: error, path }, 'that a configuration was taken could not be kept, so it may be taken again');
    });
    return current === null || !current.equals(bytes);
  };

  const look = async (): Promise<boolean> => {
    for (const folder of places.trusted) if (await take(join(folder, 'config.json'), true)) return true;
    if ((await readFile(target).catch(() => null)) !== null) return false;
    for (const folder of places.removable) {
      const outer = places.levels === 0 ? [] : await foldersIn(folder);
      const inner = (await Promise.all(outer.map(foldersIn))).flat();
      for (const stick of [folder, ...outer, ...inner]) if (await take(join(stick, 'config.json'), false)) return true;
    }
    return false;
  };

  let looking: Promise<boolean> | null = null;
  return {
    look: () => {
      looking ??= look().finally(() => {
        looking = null;
      });
      return looking;
    },
  };
};
