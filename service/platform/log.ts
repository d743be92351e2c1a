import { type Logger, pino } from 'pino';
import type { Options } from './options/index.ts';

/**
 * The service's log: one JSON object a line on standard error, so that standard output stays for people.
 * Levels as in pino; credentials in URLs are the business of whoever logs one.
 * @param onLine hears every line as well
 */
export const createLog = (level: Options['logLevel'], onLine?: (line: string) => void): Logger => {
  const stderr = pino.destination({ dest: 2, sync: true });
  const write = (line: string): void => {
    stderr.write(line);
    onLine?.(line);
  };
  return pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, { write });
};
