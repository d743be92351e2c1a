import { type Logger, pino } from 'pino';
import { createLogFiles } from './log-files.ts';
import type { Options } from './options/index.ts';

/**
 * The service's log: one JSON object per line on standard error, and in files; standard output is for people.
 * Levels as in pino; the caller removes credentials from URLs.
 * @param folder of the files
 * @param onLine called with every line
 */
export const createLog = (level: Options['logLevel'], folder: string, onLine?: (line: string) => void): Logger => {
  const stderr = pino.destination({ dest: 2, sync: true });
  const files = createLogFiles(folder);
  const write = (line: string): void => {
    stderr.write(line);
    files.write(line);
    onLine?.(line);
  };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
};
