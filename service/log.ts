import { type Logger, pino } from 'pino';
import type { Options } from './options.ts';

/**
 * The service's log: one JSON object a line on standard error, so that standard output stays for people.
 * Levels as in pino; credentials in URLs are the business of whoever logs one.
 */
export const createLog = (level: Options['logLevel']): Logger =>
  pino({ level, base: null, timestamp: pino.stdTimeFunctions.isoTime }, pino.destination({ dest: 2, sync: true }));
