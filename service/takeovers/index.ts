/**
 * Takeovers: records of their own, apart from content.json. Every box stores them, and boxes exchange them as they do
 * bindings. The slides of those that are on or still to come lead the playlists of the targeted screens.
 */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { endOfTakeover, takeoverLimits } from '../contract/console/takeovers.ts';
import { CodedError, tooManyRequests } from '../contract/errors.ts';
import { type PeerState, passedTakeover, type TakeoverRecord } from '../contract/peers.ts';
import type { Slide } from '../contract/playlist.ts';
import { perObject } from '../domain/collections.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { Moment } from '../domain/has-passed.ts';
import { laterThan } from '../domain/merge.ts';
import { createOver } from '../domain/over.ts';
import { createRate } from '../domain/rate.ts';
import { isTargeted } from '../domain/targets.ts';
import { type EpochMs, type MonotonicMs, type SiteTime, unconfirmed } from '../domain/time.ts';
import type { ServiceContext, StateReaders } from '../module.ts';
import { openDurable } from '../platform/store/durable.ts';
import { storedOver } from '../platform/store/over.ts';
import { type End, openEnds } from './ends.ts';
import {
  byPrecedence,
  isOpenAt,
  isReadable,
  mergeTakeovers,
  type Records,
  recordOfEnd,
  rowsOf,
  slideOf,
} from './records.ts';

interface Screen {
  slug: string;
  tags: readonly string[];
}

export type NewTakeover = Omit<TakeoverRecord, 'updatedAt' | 'endedAt'>;

export type Takeovers = Awaited<ReturnType<typeof createTakeovers>>;

interface State {
  records: Records;
  /** Keys of the records whose end has come by the site's clock: they stay over, even if the clock is set back. */
  over: ReadonlySet<string>;
  /** The emergencies that were on, by id and start: a clock that is set back does not end them. */
  begun: ReadonlySet<string>;
}

const schema: z.ZodType<State> = z.object({
  records: z.codec(z.array(passedTakeover), z.map(z.string(), passedTakeover), {
    decode: (list) => new Map(list.map((each) => [each.id, each])),
    encode: (map) => [...map.values()],
  }),
  over: storedOver,
  begun: storedOver.default(new Set()),
});

const keyOf = ({ id, updatedAt }: TakeoverRecord): string => `${id} ${updatedAt}`;

/** When each takeover expires, by {@link keyOf}; those that were ended early are left out. */
const endsOf = perObject(
  (records: Records): Map<string, EpochMs> =>
    new Map(
      [...records.values()].flatMap((record) =>
        record.endedAt === null ? [[keyOf(record), endOfTakeover(record)] as const] : [],
      ),
    ),
);

/** Records are never mutated, so each digest is computed once. */
const digestOf = perObject((records: Records): string =>
  createHash('sha256')
    .update(JSON.stringify(rowsOf(records)))
    .digest('hex'),
);

/** Counts new takeovers of the site. */
const createQuota = () => {
  const others = [createRate(takeoverLimits.minute, 60_000), createRate(takeoverLimits.day, 86_400_000)];
  const emergencies = [createRate(takeoverLimits.emergenciesAMinute, 60_000)];
  const ratesOf = (isEmergency: boolean) => (isEmergency ? emergencies : others);
  const count = (isEmergency: boolean, time: MonotonicMs): void => {
    for (const rate of ratesOf(isEmergency)) rate.take(time);
  };
  return {
    count,
    /** @returns the ms until one is taken; 0: it is counted */
    take: (isEmergency: boolean, time: MonotonicMs): number => {
      const wait = Math.max(...ratesOf(isEmergency).map((rate) => rate.wait(time)));
      if (wait === 0) count(isEmergency, time);
      return wait;
    },
  };
};

/** A takeover that another box started so long ago counts no more, ms: a box that was away learns of many at once. */
const COUNTED_MS = 60_000;

const isEmergency = ({ level }: Pick<TakeoverRecord, 'level'>): boolean => level === 'emergency';

/** Opens the stored takeovers. */
export const createTakeovers = async (context: ServiceContext) => {
  const { options, now, monotonicNow, tempo, keep, reserve } = context;
  const initial: State = { records: new Map(), over: new Set(), begun: new Set() };
  const durable = keep(await openDurable(context, 'takeovers.json', { schema, initial, reserve }));
  const ends = keep(await openEnds(context));
  // The process may have ended between the record of an end and its line in the file.
  for (const { id, updatedAt, until, endedAt } of durable.read().records.values()) {
    if (endedAt !== null && (ends.get(id)?.updatedAt ?? '') < updatedAt) void ends.note({ id, updatedAt, until });
  }
  const changes = createEmitter();
  const quota = createQuota();
  let timer: NodeJS.Timeout | undefined;
  /** In memory first: a disk that takes no writes must not prolong a takeover. */
  const over = createOver(durable.read().over);

  let siteTime: SiteTime = unconfirmed(now);
  const siteNow = (): EpochMs => siteTime.now();
  const reading = () => ({ now: siteNow(), isConfirmed: siteTime.isConfirmed() });
  const moment = (): Moment => ({ at: siteNow(), monotonic: monotonicNow() });
  /** Those that were open when listeners were last called. */
  let shown = '';

  const read = (): Records => durable.read().records;
  /** An emergency stays until a clock that can be relied on says that it is over. */
  const isOverdue = (record: TakeoverRecord): boolean =>
    isEmergency(record) && endOfTakeover(record) <= siteNow() && !over.has(keyOf(record));
  /** In memory first, too. */
  let begun = durable.read().begun;
  const startKeyOf = ({ id, from }: TakeoverRecord): string => `${id} ${from}`;
  const hasBegun = (record: TakeoverRecord): boolean =>
    Date.parse(record.from) <= siteNow() || begun.has(startKeyOf(record));
  /** One that has begun, though its start is ahead of the clock. */
  const isEarly = (record: TakeoverRecord): boolean => Date.parse(record.from) > siteNow() && hasBegun(record);
  const isOpen = (record: TakeoverRecord): boolean =>
    isReadable(record) &&
    record.endedAt === null &&
    !over.has(keyOf(record)) &&
    (isOpenAt(record, siteNow()) || isEmergency(record));
  /** None in the baseline variant, which could not end one that an extended run has left. */
  const open = (): TakeoverRecord[] =>
    options.variant === 'baseline' ? [] : [...read().values()].filter(isOpen).toSorted(byPrecedence);

  /** Notes which have begun. @returns whether others have */
  const noteBegun = (records: Records): boolean => {
    const before = begun;
    begun = new Set([...records.values()].filter((each) => isEmergency(each) && hasBegun(each)).map(startKeyOf));
    return [...begun].join() !== [...before].join();
  };

  const openNow = (): string =>
    open()
      .map((record) => `${keyOf(record)} ${isOverdue(record)} ${isEarly(record)}`)
      .join();
  const announce = (): void => {
    shown = openNow();
    changes.emit();
  };

  /** Stores changed records; resolves once they are durable. @throws what `change` throws */
  const store = async (change: (records: Records) => Records): Promise<void> => {
    const noted: End[] = [];
    await durable.update(({ records }) => {
      const next = change(records);
      for (const [id, record] of next) {
        const before = records.get(id);
        if (before === record) continue;
        // Where the time is shortened, a box that was away may have the record with the longer one.
        if (record.endedAt !== null) noted.push(record);
        if (before !== undefined && endOfTakeover(before) > endOfTakeover(record)) noted.push(before);
      }
      over.look(endsOf(next), moment(), siteTime.isConfirmed());
      noteBegun(next);
      return { records: next, over: over.all(), begun };
    });
    await Promise.all(noted.map(({ id, updatedAt, until }) => ends.note({ id, updatedAt, until })));
  };
  const update = async (change: (records: Records) => Records): Promise<void> => {
    await store(change);
    announce();
  };

  /** Ends the takeovers whose time is over, and shows those again that were over only by a clock that was ahead. */
  const poll = (): void => {
    const { now: time, isConfirmed } = reading();
    const hasEnded = over.look(endsOf(read()), moment(), isConfirmed);
    // The store reports a disk that takes no writes.
    if (noteBegun(read()) || hasEnded) store((records) => records).catch(() => {});
    ends.forget(time, isConfirmed);
    if (openNow() !== shown) announce();
  };

  /**
   * @param records with those of other changes that are stored at the same time
   * @throws CodedError if the site has too many of its kind
   */
  const admit = (records: Records, takeover: NewTakeover): void => {
    const openOnes = [...records.values()].filter(
      (each) => isOpen(each) && isEmergency(each) === isEmergency(takeover),
    );
    if (openOnes.some(({ id }) => id === takeover.id)) return;
    const most = isEmergency(takeover) ? takeoverLimits.openEmergencies : takeoverLimits.open;
    if (openOnes.length >= most) throw new CodedError('too_many_takeovers');
    const wait = quota.take(isEmergency(takeover), monotonicNow());
    if (wait === 0) return;
    const seconds = Math.ceil(wait / 1000);
    throw tooManyRequests(seconds, `The site takes no more new takeovers for ${seconds} s.`);
  };

  /** What this box knows of the ids of older records, which their senders lack. */
  const correctionsOf = (theirs: readonly TakeoverRecord[]): TakeoverRecord[] =>
    theirs.flatMap((record) => {
      const known = ends.get(record.id);
      if (record.endedAt !== null || known === undefined || record.updatedAt > known.updatedAt) return [];
      return read().get(record.id) ?? recordOfEnd(known);
    });

  return {
    /** The time by which takeovers begin and end: that of the site. */
    now: siteNow,
    /** Those that are on or still to come, in the order of precedence. */
    open,
    isEmergency: (screen: Screen): boolean =>
      open().some((record) => isEmergency(record) && hasBegun(record) && isTargeted(record.targets, screen)),
    /** The slides that lead the playlist of a screen. */
    slides: (screen: Screen): Slide[] =>
      open()
        .filter(({ targets }) => isTargeted(targets, screen))
        .map((record) => slideOf(record, isOverdue(record), isEarly(record))),
    /** Calls `listener` when {@link slides} changes. */
    onChange: changes.on,
    /**
     * Starts a takeover, or replaces the one with its id. Resolves once it is durable here.
     * @param check called with the open one that is replaced, if there is one; nothing changes where it throws
     * @throws CodedError `too_many_takeovers`, `too_many_requests`, `insufficient_storage`
     */
    put: async (
      takeover: NewTakeover,
      check?: (replaced: TakeoverRecord) => void,
    ): Promise<{ record: TakeoverRecord; isNew: boolean }> => {
      let result: { record: TakeoverRecord; isNew: boolean } | undefined;
      await update((records) => {
        const before = records.get(takeover.id);
        if (before !== undefined && isOpen(before)) check?.(before);
        admit(records, takeover);
        const newest = [before?.updatedAt ?? '', ends.get(takeover.id)?.updatedAt ?? ''].toSorted().at(-1);
        const record = { ...takeover, updatedAt: laterThan(newest || undefined, siteNow()), endedAt: null };
        result = { record, isNew: before === undefined || !isOpen(before) };
        return mergeTakeovers(records, [record], reading());
      });
      return result as NonNullable<typeof result>;
    },
    /**
     * Changes a takeover as it is at that moment, if it is open: one that ends meanwhile stays over.
     * @returns its new record; undefined: nothing has changed
     */
    rewrite: async (
      id: string,
      change: (takeover: NewTakeover) => NewTakeover,
    ): Promise<TakeoverRecord | undefined> => {
      let rewritten: TakeoverRecord | undefined;
      await update((records) => {
        const before = records.get(id);
        if (before === undefined || !isOpen(before)) return records;
        const { updatedAt, endedAt: _, ...takeover } = before;
        const after = change(takeover);
        if (after === takeover) return records;
        rewritten = { ...after, updatedAt: laterThan(updatedAt, siteNow()), endedAt: null };
        return mergeTakeovers(records, [rewritten], reading());
      });
      return rewritten;
    },
    /**
     * Ends a takeover. Resolves with the record of its end.
     * @param check called with it as it is then; nothing changes where it throws
     * @throws CodedError `takeover_not_found`, `insufficient_storage`
     */
    end: async (id: string, check?: (takeover: TakeoverRecord) => void): Promise<TakeoverRecord> => {
      let ended: TakeoverRecord | undefined;
      await update((records) => {
        const before = records.get(id);
        if (before === undefined || !isOpen(before)) throw new CodedError('takeover_not_found');
        check?.(before);
        const updatedAt = laterThan(before.updatedAt, siteNow());
        ended = { ...before, updatedAt, endedAt: updatedAt };
        return mergeTakeovers(records, [ended], reading());
      });
      return ended as TakeoverRecord;
    },
    /** Stores the newer records of another box. @returns what it lacks: the ends of those that it still has */
    merge: async (theirs: readonly TakeoverRecord[]): Promise<TakeoverRecord[]> => {
      const corrections = correctionsOf(theirs);
      const stale = new Set(corrections.map(({ id }) => id));
      const news = theirs.filter(({ id, endedAt }) => endedAt !== null || !stale.has(id));
      if (mergeTakeovers(read(), news, reading()) !== read()) {
        await update((records) => {
          for (const record of news) {
            const isNew = !records.has(record.id) && siteNow() - Date.parse(record.updatedAt) < COUNTED_MS;
            if (isNew) quota.count(isEmergency(record), monotonicNow());
          }
          return mergeTakeovers(records, news, reading());
        });
      }
      return corrections;
    },
    states: {
      takeover: (id) => {
        const record = read().get(id);
        return record !== undefined && isOpen(record) ? record : null;
      },
    } satisfies StateReaders,
    /**
     * Adds the takeovers of a backup, marked as ended so that they do not return. A takeover that is running here is kept.
     * @returns how many were added, and the ids of those that were not
     */
    restore: async (theirs: readonly TakeoverRecord[]): Promise<{ count: number; leftOut: string[] }> => {
      const running = new Set(open().map(({ id }) => id));
      const news = theirs.filter(({ id }) => !running.has(id));
      const leftOut = theirs.flatMap(({ id }) => (running.has(id) ? id : []));
      if (news.length === 0) return { count: 0, leftOut };
      await update((records) => {
        const ended = news.map((record) => {
          const before = [records.get(record.id)?.updatedAt ?? '', record.updatedAt].toSorted().at(-1);
          const updatedAt = laterThan(before, siteNow());
          return { ...record, updatedAt, endedAt: updatedAt };
        });
        return mergeTakeovers(records, ended, reading());
      });
      return { count: news.length, leftOut };
    },
    /** Every record that is kept, for other boxes. */
    records: (): TakeoverRecord[] => [...read().values()],
    /** How many of them this version cannot read. */
    unread: (): number => [...read().values()].filter((record) => !isReadable(record)).length,
    /** Follows the site's clock. Until this is called, the clock of this box stands for it. */
    followClock: (clock: SiteTime): void => {
      siteTime = clock;
      over.relearn();
    },
    /** Its part of {@link PeerState}. */
    state: (): Pick<PeerState, 'takeovers'> => ({ takeovers: digestOf(read()) }),
    start: () => {
      timer = setInterval(poll, tempo.takeovers.poll).unref();
      poll();
    },
    close: () => clearInterval(timer),
  };
};
