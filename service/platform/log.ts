import { type Logger, pino } from 'pino';
import type { Options } from './options/index.ts';

/**
 * The service's log: one JSON object per line on standard error; standard output is for people.
 * Levels as in pino; the caller removes credentials from URLs.
 * @param onLine called with every line
 */
export const createLog = (level: Options['logLevel'], onLine?: (line: string) => void): Logger => {
  const stderr = pino.destination({ dest: 2, sync: true });
  const write = (line: string): void => {
    stderr.write(line);
    onLine?.(line);
  };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
};
