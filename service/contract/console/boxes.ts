/** One box of the site: its log, and the pictures of its displays. */
import { z } from 'zod';

/** Levels of log lines, lowest first, and their numbers in the lines. */
export const logLevels = { trace: 10, debug: 20, info: 30, warn: 40, error: 50, fatal: 60 } as const;
export type LogLevel = keyof typeof logLevels;

/** Lines that a box keeps in memory. */
export const mostLogLines = 1_000;

export const boxLogQuery = z.object({
  level: z
    .enum(Object.keys(logLevels) as [LogLevel, ...LogLevel[]])
    .default('info')
    .describe('lines of this level and above'),
  limit: z.coerce
    .number()
    .int()
    .min(1)
    .max(mostLogLines)
    .default(200)
    .describe('maximum number of lines; the newest are returned'),
});
export type BoxLogQuery = z.infer<typeof boxLogQuery>;

export const boxLog = z
  .object({
    lines: z
      .array(
        z.looseObject({
          level: z.number().describe('10 trace, 20 debug, 30 info, 40 warn, 50 error, 60 fatal'),
          time: z.string().describe('ISO 8601'),
          msg: z.string().optional().describe('what happened'),
        }),
      )
      .describe('lines of the log, oldest first'),
  })
  .meta({ id: 'BoxLog' });
export type BoxLog = z.infer<typeof boxLog>;

/** Header of a screenshot: when it was taken. */
export const capturedAtHeader = 'x-signage-captured-at';

/** Longest side of a screenshot, pixels. */
export const mostScreenshotPixels = 1280;
