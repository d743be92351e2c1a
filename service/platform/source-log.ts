/** Limits the log lines of one source, so that no client, feed or peer can fill the log. */
import type { Level, Logger } from 'pino';
import { remember } from '../domain/collections.ts';
import { createRate } from '../domain/rate.ts';

type Write = (fields: object, message: string) => void;

export type SourceLog = Record<'debug' | 'info' | 'warn' | 'error', Write>;

/**
 * The log of a source, such as `address 192.0.2.7`, `feed news` or `peer http://192.0.2.8:8080`.
 * @param bindings fields of every line
 */
export type SourceLogs = (source: string, bindings?: object) => SourceLog;

const MAX_LINES = 20;
const WINDOW_MS = 60_000;
/** Above this limit the least recently used source is removed. */
const MAX_SOURCES = 10_000;

/**
 * Each source writes at most 20 lines a minute. Its next line has `leftOut`, the number of lines before it that were
 * left out.
 * @param now a monotonic clock, ms
 */
export const createSourceLogs = (log: Logger, now: () => number = () => performance.now()): SourceLogs => {
  const sources = new Map<string, { rate: ReturnType<typeof createRate>; leftOut: number }>();

  return (source, bindings = {}) => {
    const write =
      (level: Level): Write =>
      (fields, message) => {
        if (!log.isLevelEnabled(level)) return;
        const state = sources.get(source) ?? { rate: createRate(MAX_LINES, WINDOW_MS), leftOut: 0 };
        remember(sources, source, state, MAX_SOURCES);
        if (!state.rate.take(now())) {
          state.leftOut += 1;
          return;
        }
        const { leftOut } = state;
        state.leftOut = 0;
        log[level]({ ...bindings, ...fields, ...(leftOut > 0 && { leftOut }) }, message);
      };
    return { debug: write('debug'), info: write('info'), warn: write('warn'), error: write('error') };
  };
};
