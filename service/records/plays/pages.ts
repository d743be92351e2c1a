/** Plays in pages, as boxes ask each other for them: an answer is signed whole, so it is not streamed. */
import type { PeerPlays, Play } from '../../contract/plays.ts';
import { remember } from '../../domain/recent.ts';
import { mergePlays } from './merge.ts';
import { ownSequences, type Range } from './ordered.ts';
import type { Parts } from './parts.ts';

/** Where a page begins: after the first `skip` plays that started at `after`. */
export interface Cursor {
  /** ISO 8601 */
  after: string;
  skip: number;
}

/** Readings that are continued; others start again at their cursor. */
const MAX_READINGS = 8;
/** For how long an unfinished reading is kept, ms. */
const KEPT_MS = 30_000;

interface Reading {
  plays: AsyncGenerator<Play[]>;
  /** What was read beyond the last page. */
  rest: Play[];
}

const countAt = (plays: readonly Play[], start: string): number =>
  plays.filter(({ started_at }) => started_at === start).length;

/** @param parts of this box */
export const createPlayPages = (parts: Parts) => {
  const readings = new Map<string, Reading & { timer: NodeJS.Timeout }>();

  const end = (key: string): void => {
    const reading = readings.get(key);
    readings.delete(key);
    clearTimeout(reading?.timer);
    void reading?.plays.return(undefined);
  };

  const begin = async (range: Range, cursor: Cursor | null): Promise<Reading> => {
    const from = cursor === null ? range.from : Date.parse(cursor.after);
    const plays = mergePlays(ownSequences(parts, { ...range, from }));
    let rest: Play[] = [];
    for (let left = cursor?.skip ?? 0; left > 0; ) {
      const { done, value } = await plays.next();
      if (done === true) break;
      const skipped = Math.min(left, countAt(value, cursor?.after ?? ''));
      rest = value.slice(skipped);
      left = skipped === value.length ? left - skipped : 0;
    }
    return { plays, rest };
  };

  /** Takes a reading that ended at the cursor, or begins one there. */
  const take = async (key: string, range: Range, cursor: Cursor | null): Promise<Reading> => {
    const known = readings.get(key);
    if (known === undefined) return begin(range, cursor);
    readings.delete(key);
    clearTimeout(known.timer);
    return known;
  };

  return {
    /** The next plays, at most `limit`. */
    read: async (range: Range, cursor: Cursor | null, limit: number): Promise<PeerPlays> => {
      const keyOf = (at: Cursor | null): string => JSON.stringify([range, at]);
      const { plays, rest } = await take(keyOf(cursor), range, cursor);
      const found = rest;
      let isOver = false;
      while (found.length < limit && !isOver) {
        const { done, value } = await plays.next();
        isOver = done === true;
        if (!isOver) found.push(...(value as Play[]));
      }
      const page = found.slice(0, limit);
      const last = page.at(-1);
      if (last === undefined || (isOver && found.length <= limit)) return { plays: page, next: null };
      const after = last.started_at;
      const before = cursor?.after === after ? cursor.skip : 0;
      const next = { after, skip: before + countAt(page, after) };
      const timer = setTimeout(end, KEPT_MS, keyOf(next)).unref();
      for (const oldest of readings.keys()) if (readings.size >= MAX_READINGS) end(oldest);
      remember(readings, keyOf(next), { plays, rest: found.slice(limit), timer }, MAX_READINGS);
      return { plays: page, next };
    },
    close: (): void => {
      for (const key of readings.keys()) end(key);
    },
  };
};
