/** Keeps plays: durable before they are acknowledged, each one once, and no more than fit. */
import type { Play } from '../../contract/plays.ts';
import { groupBy } from '../../domain/collections.ts';
import { createEmitter } from '../../domain/emitter.ts';
import type { ServiceContext } from '../../module.ts';
import { codeOf } from '../../platform/store/disk.ts';
import { createBatches, type Journal, openJournal } from '../../platform/store/journal.ts';
import { type Line, type Part, type Parts, readLines, type Series, UNDATED } from './parts.ts';

const MAX_PLAYS_KEPT = 300_000;
const MAX_DAYS = 90;
const DAY_MS = 86_400_000;
const MAX_PART = 30_000;
const MAX_PART_BYTES = 32 * 1024 ** 2;
/** The share of the store of all devices that are neither bound nor displays, and what a full store deletes at once. */
const SHARE = 1 / 20;
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

const deviceOf = (line: string): string => /"device_id":(?:"([^"]*)"|null)/.exec(line)?.[1] ?? '';

/**
 * How many plays of each device are deleted so that there are `excess` fewer, if each is one of the device that has the
 * most at that moment. Pure.
 */
export const surplusOf = (counts: ReadonlyMap<string, number>, excess: number): Map<string, number> => {
  const above = (level: number): number =>
    [...counts.values()].reduce((sum, count) => sum + Math.max(0, count - level), 0);
  let [low, high] = [0, Math.max(0, ...counts.values())];
  // The highest level that frees enough.
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (above(middle) >= excess) low = middle;
    else high = middle - 1;
  }
  return new Map([...counts].map(([device, count]) => [device, Math.max(0, count - low)]));
};

interface Limits {
  maxPlays?: number;
  maxPart?: number;
  maxPartBytes?: number;
  receivers?: () => readonly string[];
}

export const createPlayStore = (
  { log, now }: Pick<ServiceContext, 'log' | 'now'>,
  parts: Parts,
  { maxPlays = MAX_PLAYS_KEPT, maxPart = MAX_PART, maxPartBytes = MAX_PART_BYTES, receivers = () => [] }: Limits = {},
) => {
  /** The ids of the plays of each series; the one used last comes last. */
  const idsBySeries = new Map<string, { series: Series; ids: Set<string> }>();
  const journals = new Map<string, Journal>();
  const kept = createEmitter<[readonly Play[]]>();
  /** Days before it are expired; null: no day is. */
  let firstDay: string | null = null;
  let waiting = 0;
  let fault: string | null = null;
  /** What was deleted because the store was full, since the start. */
  const deleted = { plays: 0, undelivered: 0 };

  const keyOf = ({ day, isOther }: Series): string => `${day} ${isOther}`;

  const closeJournal = async (name: string): Promise<void> => {
    const journal = journals.get(name);
    journals.delete(name);
    await journal?.close();
  };

  const loadIds = async (series: Series): Promise<Set<string>> => {
    const key = keyOf(series);
    const { ids } = idsBySeries.get(key) ?? { ids: new Set<string>() };
    if (!idsBySeries.has(key)) {
      for (const part of parts.of(series)) {
        for await (const lines of readLines(parts.pathOf(part), 0, part.bytes)) {
          for (const { text } of lines) ids.add(idOf(text));
        }
      }
    }
    idsBySeries.delete(key);
    idsBySeries.set(key, { series, ids });
    // Other devices cannot cause the ids of days of known ones to be read again.
    const open = [...idsBySeries.values()].filter((each) => each.series.isOther === series.isOther);
    for (const { series: oldest } of open.slice(0, -MAX_OPEN_DAYS)) {
      idsBySeries.delete(keyOf(oldest));
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

  /** Up to where all receivers have taken the part, bytes. */
  const deliveredOf = ({ delivered }: Part): number => {
    const positions = receivers().map((key) => delivered[key] ?? 0);
    return positions.length === 0 ? 0 : Math.min(...positions);
  };
  const countOf = (list: readonly Part[]): number => list.reduce((sum, { count }) => sum + count, 0);
  // Plays without a believable time go first.
  const byDeletion = (a: Part, b: Part): number => Number(b.day === UNDATED) - Number(a.day === UNDATED);

  const drop = async (part: Part): Promise<void> => {
    await closeJournal(part.name);
    idsBySeries.delete(keyOf(part));
    await parts.remove(part);
    log.info({ file: part.name, plays: part.count }, 'deleted old plays');
  };

  /** Deletes plays of other devices, a part at a time: those that were delivered, then the oldest. */
  const dropOthers = async (excess: number): Promise<number> => {
    const isTaken = (part: Part): boolean => deliveredOf(part) >= part.bytes;
    const others = parts.list().filter(({ isOther }) => isOther);
    let freed = 0;
    for (const part of others.toSorted((a, b) => Number(isTaken(b)) - Number(isTaken(a)) || byDeletion(a, b))) {
      if (freed >= excess) break;
      freed += part.count;
      await drop(part);
    }
    return freed;
  };

  /** Deletes plays that were delivered, then the oldest of the device with the most. */
  const dropKnown = async (excess: number): Promise<void> => {
    const known = parts
      .list()
      .filter(({ isOther }) => !isOther)
      .toSorted(byDeletion);
    const counts = new Map<string, number>();
    const isDelivered = (part: Part, { offset, length }: Line): boolean => offset + length < deliveredOf(part);
    let taken = 0;
    for (const part of known) {
      for await (const lines of readLines(parts.pathOf(part), 0, part.bytes)) {
        for (const line of lines) {
          const device = deviceOf(line.text);
          if (isDelivered(part, line)) taken += 1;
          else counts.set(device, (counts.get(device) ?? 0) + 1);
        }
      }
    }
    taken = Math.min(taken, excess);
    let undelivered = excess - taken;
    const surplus = surplusOf(counts, undelivered);
    const before = { ...deleted };
    for (const part of known) {
      if (taken === 0 && undelivered === 0) break;
      await closeJournal(part.name);
      deleted.plays += await parts.filter(part, (line) => {
        if (isDelivered(part, line)) {
          if (taken === 0) return true;
          taken -= 1;
          return false;
        }
        const device = deviceOf(line.text);
        const left = surplus.get(device) ?? 0;
        if (left === 0 || undelivered === 0) return true;
        surplus.set(device, left - 1);
        undelivered -= 1;
        deleted.undelivered += 1;
        return false;
      });
    }
    const [plays, lost] = [deleted.plays - before.plays, deleted.undelivered - before.undelivered];
    log.warn({ plays, undelivered: lost }, 'the store of plays is full: deleted old ones');
  };

  const isExpired = ({ day, since }: Part): boolean => {
    const date = day === UNDATED ? since : day;
    return firstDay !== null && date !== null && date < firstDay;
  };

  /** Deletes what is too old, whether it was delivered or not, and what is beyond the limits. */
  const prune = async (): Promise<void> => {
    const before = parts.list();
    for (const part of before) if (isExpired(part)) await drop(part);
    const others = countOf(parts.list().filter(({ isOther }) => isOther));
    if (others > maxPlays * SHARE) await dropOthers(others - maxPlays * SHARE);
    let excess = countOf(parts.list()) - maxPlays;
    if (excess > 0) excess -= await dropOthers(excess);
    if (excess > 0) await dropKnown(excess + Math.floor(maxPlays * SHARE));
    const after = parts.list();
    if (before.length !== after.length || before.some((part) => !after.includes(part))) {
      await parts.save().catch(() => undefined);
    }
  };

  /** Appends plays of one series; a repeated one is dropped. */
  const keepSeries = async (series: Series, plays: readonly Play[]): Promise<void> => {
    const ids = await loadIds(series);
    const fresh = [...new Map(plays.map((play) => [play.play_id, play])).values()].filter(
      ({ play_id }) => !ids.has(play_id),
    );
    if (fresh.length === 0) return;
    const last = parts.of(series).at(-1);
    // Those of other devices are deleted a part at a time.
    const most = series.isOther ? Math.min(maxPart, Math.ceil((maxPlays * SHARE) / 10)) : maxPart;
    // What comes later is kept for longer.
    const isDated = last !== undefined && last.since !== null && last.since !== dateOf(now());
    const isNew = last === undefined || isDated || last.count >= most || last.bytes >= maxPartBytes;
    await append(isNew ? parts.add(series) : last, fresh);
    for (const { play_id } of fresh) ids.add(play_id);
    // A count that is not saved costs the next start a look at the file.
    if (isNew) await parts.save().catch(() => undefined);
    kept.emit(fresh);
  };

  /** @returns the ids of the plays that are not durable */
  const keep = createBatches<{ play: Play; isOther: boolean }, ReadonlySet<string>>(async (given) => {
    const failed = new Set<string>();
    let problem: unknown = null;
    for (const [, group] of groupBy(given, ({ play, isOther }) => keyOf({ day: dayOf(play, now()), isOther }))) {
      const plays = group.map(({ play }) => play);
      const [{ play, isOther }] = group as [(typeof given)[number]];
      try {
        await parts.ready();
        await keepSeries({ day: dayOf(play, now()), isOther }, plays);
      } catch (error) {
        problem = error;
        for (const { play_id } of plays) failed.add(play_id);
      }
    }
    // Plays that are durable are acknowledged, though old ones cannot be deleted.
    await prune().catch((error: unknown) => {
      problem ??= error;
    });
    if (problem !== null && fault === null) log.error({ err: problem }, 'plays could not be written');
    if (problem !== null) {
      fault = `Plays cannot be written (${codeOf(problem) ?? 'see the log'}); the pages keep theirs meanwhile.`;
    } else if (given.length > 0) fault = null;
    return failed;
  });

  return {
    /**
     * Resolves with the ids of those plays that are durable, repeated ones included.
     * @param isOther whether they are of a device without a share of the store of its own
     */
    accept: async (plays: readonly Play[], isOther = false): Promise<string[]> => {
      if (waiting + plays.length > MAX_WAITING) return [];
      waiting += plays.length;
      try {
        const failed = await keep(plays.map((play) => ({ play, isOther })));
        return plays.map(({ play_id }) => play_id).filter((id) => !failed.has(id));
      } finally {
        waiting -= plays.length;
      }
    },
    /** Deletes plays that are older than 90 days. Called only while the clock is confirmed. */
    expire: async (): Promise<void> => {
      const undated = parts.list().filter(({ day, since }) => day === UNDATED && since === null);
      for (const part of undated) part.since = dateOf(now());
      if (undated.length > 0) await parts.save().catch(() => undefined);
      firstDay = dateOf(now() - MAX_DAYS * DAY_MS);
      await keep([]);
      firstDay = null;
    },
    /** Calls `listener` with plays that have become durable. */
    onKept: kept.on,
    /** A sentence about what a full store has deleted. */
    notes: (): string[] =>
      deleted.plays === 0
        ? []
        : [
            `The store of plays is full: since the start it deleted ${deleted.plays} of them for newer ones, ${deleted.undelivered} of which were not delivered.`,
          ],
    faults: () => [...parts.faults(), ...(fault === null ? [] : [fault])],
    writes: parts.writes,
    close: async () => {
      await keep([]);
      for (const name of [...journals.keys()]) await closeJournal(name);
      await parts.close();
    },
  };
};
