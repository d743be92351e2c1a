/**
 * What is remembered of takeovers that are over, in a file that is appended to: a box that was away may still have an
 * older record of such an id, whose time has not passed.
 */
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { z } from 'zod';
import { endOfTakeover } from '../contract/console/takeovers.ts';
import { instant } from '../contract/terms.ts';
import { remember } from '../domain/collections.ts';
import { jsonOf } from '../domain/json.ts';
import { type EpochMs, isOlder, longestAbsenceMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { keepCopy } from '../platform/store/file.ts';
import { createPatientJournal } from '../platform/store/journal.ts';
import { sweepRewrites } from '../platform/store/rewrite.ts';

const end = z.object({ id: z.string(), updatedAt: instant, until: instant.nullable() });
/** No record of `id` that was changed at `updatedAt` or before counts; `until` is the latest that it ever had; null: none. */
export type End = z.infer<typeof end>;

/** More than a site can end in 31 days: 5,000 a day, and 20 emergencies a minute. */
const MAX_ENDS = 1_100_000;
/** Lines beyond those that count, after which the file is rewritten at the next start. */
const MAX_WASTE = 10_000;

const later = (a: string, b: string | undefined): string => (b === undefined || a > b ? a : b);
const laterEnd = (a: string | null, b: string | null | undefined): string | null =>
  a === null || b === null ? null : later(a, b);

const parse = (line: string): End[] => {
  const { success, data } = end.safeParse(jsonOf(line));
  return success ? [data] : [];
};

export const openEnds = async ({ dirs, log }: Pick<ServiceContext, 'dirs' | 'log'>) => {
  const path = join(dirs.data, 'takeovers.ends.jsonl');
  const ends = new Map<string, End>();
  await sweepRewrites(path);

  const add = ({ id, updatedAt, until }: End): void => {
    const known = ends.get(id);
    const next = { id, updatedAt: later(updatedAt, known?.updatedAt), until: laterEnd(until, known?.until) };
    remember(ends, id, next, MAX_ENDS);
  };

  const lines = (await readFile(path, 'utf8').catch(() => '')).split('\n').filter((line) => line !== '');
  for (const each of lines.flatMap(parse)) add(each);
  if (lines.length > ends.size + MAX_WASTE) {
    const next = [...ends.values()].map((each) => `${JSON.stringify(each)}\n`).join('');
    // Otherwise the next start tries it again.
    await keepCopy(systemDisk, path, Buffer.from(next)).catch(() => undefined);
  }

  const journal = createPatientJournal({
    path,
    onError: (error) => log.error({ err: error }, 'the end of a takeover could not be written'),
    describe: (cause, waiting) => `The ends of takeovers cannot be written (${cause}); ${waiting} wait.`,
  });

  return {
    get: (id: string): End | undefined => ends.get(id),
    /** Resolves when it is durable, or waits for a disk that takes no writes now. Never rejects. */
    note: (given: End): Promise<void> => {
      add(given);
      return journal.write(JSON.stringify(ends.get(given.id)));
    },
    /** Forgets those whose time has passed. @param isConfirmed whether the clock that says so can be relied on */
    forget: (now: EpochMs, isConfirmed: boolean): void => {
      for (const [id, { updatedAt, until }] of ends) {
        const isPast = isConfirmed && endOfTakeover({ until }) <= now;
        if (isPast || isOlder(Date.parse(updatedAt), longestAbsenceMs, now)) ends.delete(id);
      }
    },
    faults: journal.faults,
    close: journal.close,
  };
};
