/** The log of the service: standard error, the newest lines, and files. */
import { closeSync, fstatSync, ftruncateSync, mkdirSync, openSync, readSync, renameSync, writeSync } from 'node:fs';
import { join } from 'node:path';
import { type Logger, pino } from 'pino';
import type { MonotonicMs } from '../domain/time.ts';
import type { Options } from './options/index.ts';
import { isMissing } from './store/disk.ts';

/**
 * The service's log: one JSON object per line on standard error, and in files; standard output is for people.
 * Levels as in pino; the caller removes credentials from URLs.
 * @param folder of the files
 * @param onLine called with every line
 */
export const createLog = (level: Options['logLevel'], folder: string, onLine?: (line: string) => void): Logger => {
  /** Ends the part of a line that a full disk has taken. */
  let broken = '';
  // What it does not take, as on a full disk, is lost there: an error without a listener is thrown into the caller.
  const openStderr = (): ReturnType<typeof pino.destination> =>
    pino.destination({ dest: 2, sync: true }).once('error', () => {
      broken = '\n';
      stderr = openStderr();
    });
  let stderr = openStderr();
  const files = createLogFiles(folder);
  const write = (line: string): void => {
    const text = broken + line;
    broken = '';
    stderr.write(text);
    files.write(line);
    onLine?.(line);
  };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
};

/** @param most the limit of lines @param mostCharacters the limit of all lines together; the newest line is always kept */
export const createLogRing = (most: number, mostCharacters = 1024 ** 2) => {
  const lines: string[] = [];
  let characters = 0;
  return {
    add: (line: string): void => {
      lines.push(line);
      characters += line.length;
      while (lines.length > 1 && (lines.length > most || characters > mostCharacters)) {
        characters -= lines.shift()?.length ?? 0;
      }
    },
    /** Oldest first. */
    lines: (): readonly string[] => lines,
  };
};

interface FileOptions {
  files?: number;
  /** Size of each, in bytes. */
  bytes?: number;
  now?: () => MonotonicMs;
}

const MAX_WAITING = 1_000;
/** Retry delay for a disk that cannot be written. */
const RETRY_MS = 1_000;
const NEWLINE = 0x0a;

/** @param folder is created if its parent exists */
export const createLogFiles = (
  folder: string,
  { files = 5, bytes = 10 * 1024 ** 2, now = () => performance.now() }: FileOptions = {},
) => {
  const pathOf = (age: number): string => join(folder, age === 0 ? 'signage.log' : `signage.${age}.log`);
  let file: number | null = null;
  let size = 0;
  let waiting: string[] = [];
  let dropped = 0;
  let retryAt = Number.NEGATIVE_INFINITY;

  const open = (): number => {
    try {
      mkdirSync(folder);
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
    }
    const opened = openSync(pathOf(0), 'a+', 0o640);
    ({ size } = fstatSync(opened));
    const last = Buffer.alloc(1);
    // A power cut may have broken the last line off.
    if (size > 0 && readSync(opened, last, 0, 1, size - 1) === 1 && last[0] !== NEWLINE)
      size += writeSync(opened, '\n');
    return opened;
  };

  const close = (): void => {
    if (file === null) return;
    const closing = file;
    file = null;
    closeSync(closing);
  };

  const rotate = (): void => {
    close();
    for (let age = files - 2; age >= 0; age -= 1) {
      try {
        renameSync(pathOf(age), pathOf(age + 1));
      } catch (error) {
        if (!isMissing(error)) throw error;
      }
    }
  };

  const append = (line: string): void => {
    const text = Buffer.from(line);
    file ??= open();
    if (size > 0 && size + text.length > bytes) {
      rotate();
      file = open();
    }
    let written = 0;
    try {
      while (written < text.length) written += writeSync(file, text, written);
    } catch (error) {
      // A full disk takes part of a line.
      if (written > 0) ftruncateSync(file, size);
      throw error;
    }
    size += written;
  };

  const lost = (): string =>
    `${JSON.stringify({ level: 40, time: new Date().toISOString(), lines: dropped, msg: 'lines of the log were lost' })}\n`;

  const flush = (): void => {
    if (dropped > 0) {
      append(lost());
      dropped = 0;
    }
    for (let line = waiting[0]; line !== undefined; line = waiting[0]) {
      append(line);
      waiting.shift();
    }
  };

  return {
    /**
     * Appends a line, which ends with a newline. Synchronous, so that the last lines before the process ends are there. Never
     * throws: lines that can not be written are kept up to a limit, and written later.
     */
    write: (line: string): void => {
      waiting.push(line);
      if (waiting.length > MAX_WAITING) {
        waiting.shift();
        dropped += 1;
      }
      if (now() < retryAt) return;
      try {
        flush();
      } catch {
        // The log cannot report this itself; the store reports a disk that cannot be written.
        retryAt = now() + RETRY_MS;
        try {
          close();
        } catch {
          file = null;
        }
      }
    },
    close: (): void => {
      waiting = [];
      close();
    },
  };
};
