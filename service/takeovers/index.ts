/**
 * Takeovers: records of their own, apart from content.json. Every box stores them, and boxes exchange them as they do
 * bindings. The slides of those that are on or still to come lead the playlists of the targeted screens.
 */

import { createHash } from 'node:crypto';
import { join } from 'node:path';
import { z } from 'zod';
import { mostOpenTakeovers } from '../contract/console/takeovers.ts';
import { CodedError } from '../contract/errors.ts';
import { type PeerState, type TakeoverRecord, takeoverRecord } from '../contract/peers.ts';
import type { Slide } from '../contract/playlist.ts';
import { createEmitter } from '../domain/emitter.ts';
import { laterThan } from '../domain/merge.ts';
import { isTargeted } from '../domain/targets.ts';
import { type SiteTime, unconfirmed } from '../domain/time.ts';
import type { Module, ServiceContext } from '../module.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';
import { byPrecedence, isOpenAt, mergeTakeovers, type Records, rowsOf } from './records.ts';
import { slideOf } from './slides.ts';

/** A screen, as targets name it. */
interface Screen {
  slug: string;
  tags: readonly string[];
}

/** A takeover as an operator gives it. */
export type NewTakeover = Omit<TakeoverRecord, 'updatedAt' | 'endedAt'>;

export interface Takeovers extends Module {
  /** The time by which takeovers begin and end, ms since the epoch: that of the site. */
  now(): number;
  /** Those that are on or still to come, in the order of precedence. */
  open(): TakeoverRecord[];
  /** Whether an emergency is on at a screen. */
  isEmergency(screen: Screen): boolean;
  /** The slides that lead the playlist of a screen. */
  slides(screen: Screen): Slide[];
  /** Calls `listener` when {@link slides} changes. */
  onChange(listener: () => void): void;
  /**
   * Starts a takeover, or replaces the one with its id. Resolves once it is durable here.
   * @throws CodedError `too_many_takeovers`, `insufficient_storage`
   */
  put(takeover: NewTakeover): Promise<{ record: TakeoverRecord; isNew: boolean }>;
  /** Ends a takeover. Resolves with the record of its end. @throws CodedError `takeover_not_found`, `insufficient_storage` */
  end(id: string): Promise<TakeoverRecord>;
  /** Stores the newer records of another box. */
  merge(theirs: readonly TakeoverRecord[]): Promise<void>;
  /** Every record that is kept, for other boxes. */
  records(): TakeoverRecord[];
  /** Follows the site's clock. Until this is called, the clock of this box stands for it. */
  followClock(clock: SiteTime): void;
  /** Its part of {@link PeerState}. */
  state(): Pick<PeerState, 'takeovers'>;
}

/** How often the clock is read for takeovers whose time is over. */
const POLL_MS = 250;

interface State {
  records: Records;
  /** Keys of the records whose end has come by the site's clock: they stay over, even if the clock is set back. */
  over: ReadonlySet<string>;
}

const schema: z.ZodType<State> = z.object({
  records: z.codec(z.array(takeoverRecord), z.map(z.string(), takeoverRecord), {
    decode: (list) => new Map(list.map((each) => [each.id, each])),
    encode: (map) => [...map.values()],
  }),
  over: z.codec(z.array(z.string()), z.set(z.string()), {
    decode: (list) => new Set(list),
    encode: (set) => [...set],
  }),
});

const keyOf = ({ id, updatedAt }: TakeoverRecord): string => `${id} ${updatedAt}`;

/** Records are never mutated, so each digest is computed once. */
const digests = new WeakMap<Records, string>();
const digestOf = (records: Records): string => {
  const digest =
    digests.get(records) ??
    createHash('sha256')
      .update(JSON.stringify(rowsOf(records)))
      .digest('hex');
  digests.set(records, digest);
  return digest;
};

/** Opens the stored takeovers. */
export const createTakeovers = async ({ dirs, log, now, keep, reserve }: ServiceContext): Promise<Takeovers> => {
  const durable = keep(
    await createDurable<State>({
      path: join(dirs.data, 'takeovers.json'),
      schema,
      initial: { records: new Map(), over: new Set() },
      reserve,
      log,
      disk: systemDisk,
      now,
    }),
  );
  const changes = createEmitter();
  let timer: NodeJS.Timeout | undefined;
  /** In memory first: a disk that takes no writes must not prolong a takeover. */
  const over = new Set(durable.read().over);

  let siteTime = unconfirmed(now);
  const siteNow = (): number => siteTime.now();
  /** Keys of those that were open when listeners were last called. */
  let shown = '';

  const read = (): Records => durable.read().records;
  const isOpen = (record: TakeoverRecord): boolean => isOpenAt(record, siteNow()) && !over.has(keyOf(record));
  const open = (): TakeoverRecord[] => [...read().values()].filter(isOpen).toSorted(byPrecedence);

  const keysOfOpen = (): string => open().map(keyOf).join();
  const announce = (): void => {
    shown = keysOfOpen();
    changes.emit();
  };

  /** Stores changed records; resolves once they are durable. @throws what `change` throws */
  const store = (change: (records: Records) => Records): Promise<void> =>
    durable.update(({ records }) => {
      const next = change(records);
      const keys = new Set([...next.values()].map(keyOf));
      for (const key of over) if (!keys.has(key)) over.delete(key);
      return { records: next, over: new Set(over) };
    });
  const update = async (change: (records: Records) => Records): Promise<void> => {
    await store(change);
    announce();
  };

  /** Ends the takeovers whose time is over, and shows those again that were over only by a clock that was ahead. */
  const poll = (): void => {
    if (keysOfOpen() !== shown) announce();
    // A clock that is wrong at the start must not end a takeover for good.
    if (!siteTime.isEstablished()) return;
    const at = siteNow();
    const ended = [...read().values()].filter(
      (record) => record.endedAt === null && Date.parse(record.until) <= at && !over.has(keyOf(record)),
    );
    if (ended.length === 0) return;
    for (const record of ended) over.add(keyOf(record));
    // The store reports a disk that takes no writes.
    store((records) => records).catch(() => {});
  };

  return {
    now: siteNow,
    open,
    isEmergency: (screen) =>
      open().some(
        ({ level, from, targets }) =>
          level === 'emergency' && Date.parse(from) <= siteNow() && isTargeted(targets, screen),
      ),
    slides: (screen) =>
      open()
        .filter(({ targets }) => isTargeted(targets, screen))
        .map(slideOf),
    onChange: changes.on,
    put: async (takeover) => {
      let result: { record: TakeoverRecord; isNew: boolean } | undefined;
      await update((records) => {
        const before = records.get(takeover.id);
        const others = [...records.values()].filter((each) => each !== before && isOpen(each));
        if (others.length >= mostOpenTakeovers) throw new CodedError('too_many_takeovers');
        const record = { ...takeover, updatedAt: laterThan(before?.updatedAt, siteNow()), endedAt: null };
        result = { record, isNew: before === undefined || !isOpen(before) };
        return mergeTakeovers(records, [record], siteNow());
      });
      return result as NonNullable<typeof result>;
    },
    end: async (id) => {
      let ended: TakeoverRecord | undefined;
      await update((records) => {
        const before = records.get(id);
        if (before === undefined || !isOpen(before)) throw new CodedError('takeover_not_found');
        const updatedAt = laterThan(before.updatedAt, siteNow());
        ended = { ...before, updatedAt, endedAt: updatedAt };
        return mergeTakeovers(records, [ended], siteNow());
      });
      return ended as TakeoverRecord;
    },
    merge: async (theirs) => {
      if (mergeTakeovers(read(), theirs, siteNow()) === read()) return;
      await update((records) => mergeTakeovers(records, theirs, siteNow()));
    },
    states: {
      takeover: (id) => {
        const record = read().get(id);
        return record !== undefined && isOpen(record) ? record : null;
      },
    },
    records: () => [...read().values()],
    followClock: (clock) => {
      siteTime = clock;
    },
    state: () => ({ takeovers: digestOf(read()) }),
    start: () => {
      timer = setInterval(poll, POLL_MS).unref();
      poll();
    },
    close: () => clearInterval(timer),
  };
};
