/** Keeps plays: durable before they are acknowledged, each one once, and no more than fit. */

import type { Play } from '../../contract/plays.ts';
import { createEmitter } from '../../domain/emitter.ts';
import type { ServiceContext } from '../../module.ts';
import { codeOf } from '../../platform/store/disk.ts';
import { createBatches, type Journal, openJournal } from '../../platform/store/journal.ts';
import { type Part, type Parts, readLines, UNDATED } from './parts.ts';

const MAX_PLAYS_KEPT = 300_000;
const MAX_DAYS = 90;
const DAY_MS = 86_400_000;
/** Old plays are deleted a part at a time. */
const MAX_PART = 30_000;
/** Days whose ids are in memory, and whose files are open: plays of older days come from pages that were offline. */
const MAX_OPEN_DAYS = 3;
/** Plays that wait for the disk; further ones are refused, and their pages send them again. */
const MAX_WAITING = 20_000;

/** The UTC date of an instant, `YYYY-MM-DD`. */
const dateOf = (instant: string | number): string => new Date(instant).toISOString().slice(0, 10);

/** The key of the files that a play belongs into. A repeated play gets the same one. */
export const dayOf = ({ started_at, clock }: Pick<Play, 'started_at' | 'clock'>, now: number): string => {
  const age = now - Date.parse(started_at);
  return clock === 'untrusted' || age > MAX_DAYS * DAY_MS || age < -DAY_MS ? UNDATED : dateOf(started_at);
};

const idOf = (line: string): string => /^\{"play_id":"([^"]*)"/.exec(line)?.[1] ?? '';

export const createPlayStore = (
  { log, now }: Pick<ServiceContext, 'log' | 'now'>,
  parts: Parts,
  { maxPlays = MAX_PLAYS_KEPT, maxPart = MAX_PART } = {},
) => {
  /** The ids of the plays of a day; the day used last comes last. */
  const idsByDay = new Map<string, Set<string>>();
  const journals = new Map<string, Journal>();
  const kept = createEmitter<[readonly Play[]]>();
  /** Days before it are expired; null: no day is. */
  let firstDay: string | null = null;
  let waiting = 0;
  let fault: string | null = null;

  const closeJournal = async (name: string): Promise<void> => {
    const journal = journals.get(name);
    journals.delete(name);
    await journal?.close();
  };

  const loadIds = async (day: string): Promise<Set<string>> => {
    const ids = idsByDay.get(day) ?? new Set<string>();
    if (!idsByDay.has(day)) {
      for (const part of parts.of(day)) {
        for await (const lines of readLines(parts.pathOf(part), 0, part.bytes)) {
          for (const { text } of lines) ids.add(idOf(text));
        }
      }
    }
    idsByDay.delete(day);
    idsByDay.set(day, ids);
    for (const oldest of idsByDay.keys()) {
      if (idsByDay.size <= MAX_OPEN_DAYS) break;
      idsByDay.delete(oldest);
      for (const { name } of parts.of(oldest)) await closeJournal(name);
    }
    return ids;
  };

  const append = async (part: Part, plays: readonly Play[]): Promise<void> => {
    const journal = journals.get(part.name) ?? (await openJournal(parts.pathOf(part)));
    journals.set(part.name, journal);
    await journal.append(plays.map((play) => JSON.stringify(play)));
    part.bytes = journal.size();
    part.count += plays.length;
  };

  /** Deletes the oldest plays beyond the limit, and those that are too old, whether they were delivered or not. */
  const prune = async (): Promise<void> => {
    const excess = parts.list().reduce((sum, { count }) => sum + count, 0) - maxPlays;
    const isExpired = ({ day }: Part): boolean => firstDay !== null && day < firstDay;
    // Plays without a believable time go first.
    const oldest = parts.list().toSorted((a, b) => Number(b.day === UNDATED) - Number(a.day === UNDATED));
    let freed = 0;
    for (const part of oldest) {
      if (freed >= excess && !isExpired(part)) continue;
      freed += part.count;
      await drop(part);
    }
    if (freed > 0) await parts.save().catch(() => undefined);
  };

  const drop = async (part: Part): Promise<void> => {
    await closeJournal(part.name);
    idsByDay.delete(part.day);
    await parts.remove(part);
    log.info({ file: part.name, plays: part.count }, 'deleted old plays');
  };

  /** Appends plays of one day; a repeated one is dropped. */
  const keepDay = async (day: string, plays: readonly Play[]): Promise<void> => {
    const ids = await loadIds(day);
    const fresh = [...new Map(plays.map((play) => [play.play_id, play])).values()].filter(
      ({ play_id }) => !ids.has(play_id),
    );
    if (fresh.length === 0) return;
    const last = parts.of(day).at(-1);
    const isNew = last === undefined || last.count >= maxPart;
    await append(isNew ? parts.add(day) : last, fresh);
    for (const { play_id } of fresh) ids.add(play_id);
    // A count that is not saved costs the next start a look at the file.
    if (isNew) await parts.save().catch(() => undefined);
    kept.emit(fresh);
  };

  const group = (plays: readonly Play[]): Map<string, Play[]> => {
    const byDay = new Map<string, Play[]>();
    for (const play of plays) {
      const day = dayOf(play, now());
      byDay.set(day, [...(byDay.get(day) ?? []), play]);
    }
    return byDay;
  };

  /** @returns the ids of the plays that are not durable */
  const keep = createBatches<Play, ReadonlySet<string>>(async (plays) => {
    const failed = new Set<string>();
    let problem: unknown = null;
    for (const [day, each] of group(plays)) {
      try {
        await parts.ready;
        await keepDay(day, each);
      } catch (error) {
        problem = error;
        for (const { play_id } of each) failed.add(play_id);
      }
    }
    if (problem !== null && fault === null) log.error({ err: problem }, 'plays could not be written');
    if (problem !== null) {
      fault = `Plays cannot be written (${codeOf(problem) ?? 'see the log'}); the pages keep theirs meanwhile.`;
    } else if (plays.length > 0) fault = null;
    await prune();
    return failed;
  });

  return {
    /** Resolves with the ids of those plays that are durable, repeated ones included. */
    accept: async (plays: readonly Play[]): Promise<string[]> => {
      if (waiting + plays.length > MAX_WAITING) return [];
      waiting += plays.length;
      try {
        const failed = await keep(plays);
        return plays.map(({ play_id }) => play_id).filter((id) => !failed.has(id));
      } finally {
        waiting -= plays.length;
      }
    },
    /** Deletes plays that are older than 90 days. Called only while the clock can be trusted. */
    expire: async (): Promise<void> => {
      firstDay = dateOf(now() - MAX_DAYS * DAY_MS);
      await keep([]);
      firstDay = null;
    },
    /** Calls `listener` with plays that have become durable. */
    onKept: kept.on,
    faults: () => [...parts.faults(), ...(fault === null ? [] : [fault])],
    writes: parts.writes,
    close: async () => {
      await keep([]);
      for (const name of [...journals.keys()]) await closeJournal(name);
      await parts.close();
    },
  };
};
