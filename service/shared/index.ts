/**
 * Records that all boxes of the site share, in sets: people, keys, triggers and the like. A set tells how two records of
 * one id are merged, how many there may be, and whether they are sealed; this module stores them, a file a set, and
 * `peers` exchanges them.
 */
import { join } from 'node:path';
import { z } from 'zod';
import { CodedError } from '../contract/errors.ts';
import { type NamedRecord, type SharedRecord, sharedRecord } from '../contract/shared.ts';
import { canonical } from '../domain/canonical.ts';
import { createEmitter } from '../domain/emitter.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import { type EpochMs, type SiteTime, unconfirmed } from '../domain/time.ts';
import type { Module, ServiceContext } from '../module.ts';
import { systemDisk } from '../platform/store/disk.ts';
import { createDurable } from '../platform/store/durable.ts';
import { makeFolder } from '../platform/store/file.ts';
import { openSealKey, sealedWith } from '../platform/store/sealing.ts';

export interface RecordSet<T extends SharedRecord> {
  /** Lower-case letters; also the name of its file. */
  name: string;
  /** Loose, so that fields of newer versions are kept. `updated_at`, where there is one, is ISO 8601. */
  schema: z.ZodType<T>;
  /**
   * Of two records of one id. Commutative, associative and idempotent. A record whose `updated_at` is years ahead never
   * gets here.
   */
  merge(a: T, b: T): T;
  /**
   * What stays of a record whose date turns out to be years ahead, once the clock that set it is right again: it is merged
   * with what another box has, as an older one. Absent: nothing does.
   */
  undated?(record: T, now: EpochMs): T;
  /** New ids beyond it are refused. */
  most: number;
  /**
   * `open`: exchanged with any peer; `secret`: only where the site has a secret, so that nobody on the network adds one;
   * `sealed`: so too, encrypted on the way and on the disk, and never in a backup.
   */
  protection: 'open' | 'secret' | 'sealed';
  /**
   * Whether a record has expired. An expired record is dropped, and not accepted from other boxes, as soon as the clock is
   * confirmed or the set is full. Absent: records never expire.
   */
  isOver?(record: T, now: number): boolean;
  /** Records also expire by an unconfirmed clock, because they do not mark removals. */
  endsByAnyClock?: boolean;
  /**
   * Whether what was secret in a record has been taken out of it for good: the previous generation of the file, which still
   * has it, is then overwritten. Absent: nothing ever is.
   */
  isEmptied?(record: T): boolean;
}

export interface SharedSet<T extends SharedRecord> {
  get(id: string): T | undefined;
  /** Whether there is a record with the id, be it one that this version cannot read. */
  has(id: string): boolean;
  list(): readonly T[];
  /**
   * Merges records that were made here, and sends them to the other boxes. Resolves when they are durable and each box has
   * answered or is late; those that did not answer fetch them later.
   * @throws CodedError `insufficient_storage` if the disk or the set is full, `invalid_field` if what a newer version has
   *   written under an id would stay; the system's error if the disk fails
   */
  put(...records: readonly T[]): Promise<void>;
  /** Calls `listener` after records changed, here or by another box. */
  onChange(listener: () => void): void;
}

/** A set as `peers` exchanges it. */
export interface ExchangedSet {
  name: string;
  protection: RecordSet<SharedRecord>['protection'];
  /** Grows with each change. */
  version(): number;
  /** How many of its records this version cannot read. */
  unread(): number;
  list(): readonly SharedRecord[];
}

export type Shared = Awaited<ReturnType<typeof createShared>>;

/** Of a record that this version cannot read. */
const MAX_UNREAD_CHARACTERS = 8_000;

const dateOf = ({ updated_at: at }: SharedRecord): string | null => (typeof at === 'string' ? at : null);

export const createShared = async (context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'keep' | 'reserve'>) => {
  const { dirs, log, now, keep, reserve } = context;
  const folder = join(dirs.data, 'shared');
  const sets = new Map<string, ExchangedSet & { merge(records: readonly unknown[]): Promise<boolean> }>();
  let sending: (records: readonly NamedRecord[]) => Promise<void> = async () => {};
  let sealKey: Promise<Buffer> | undefined;
  let siteTime: SiteTime = unconfirmed(now);

  /** Opens a set; each is opened once, before the service listens. */
  const open = async <T extends SharedRecord>(set: RecordSet<T>): Promise<SharedSet<T>> => {
    const {
      name,
      schema,
      merge,
      undated,
      most,
      protection,
      isOver = () => false,
      endsByAnyClock = false,
      isEmptied = () => false,
    } = set;
    await makeFolder(folder);
    // A record that this version cannot read stays in the file, and is passed on.
    const lists = z.array(sharedRecord);
    if (protection === 'sealed') sealKey ??= openSealKey(context);
    const file = protection === 'sealed' && sealKey !== undefined ? sealedWith(await sealKey, lists) : lists;
    const store = keep(
      await createDurable({
        path: join(folder, `${name}.json`),
        schema: z.codec(file, z.map(z.string(), sharedRecord), {
          decode: (list) => new Map(list.map((record) => [record.id, record])),
          encode: (map) => [...map.values()],
        }) as z.ZodType<ReadonlyMap<string, SharedRecord>>,
        initial: new Map(),
        isInitialKept: false,
        log,
        reserve,
        disk: systemDisk,
        now,
      }),
    );
    /** Writes the same once more, so that the previous generation has no more than this one. Never rejects. */
    const forgetPrevious = (): Promise<void> =>
      store
        .update((current) => current)
        .catch((error: unknown) =>
          log.error({ err: error, name }, 'what was removed of a record is still on the disk'),
        );
    // The process may have ended between the two.
    if ([...store.read().values()].some((record) => isEmptied(record as T))) await forgetPrevious();
    const changes = createEmitter();
    /** Returns the test for records to drop. By a wrong clock a removal would be dropped, and the removed record return. */
    const dropping = (isForced = false): ((record: SharedRecord) => boolean) => {
      const at = siteTime.now();
      return isForced || endsByAnyClock || siteTime.isConfirmed() ? (record) => isOver(record as T, at) : () => false;
    };
    let version = 0;
    let known: { of: ReadonlyMap<string, SharedRecord>; records: Map<string, T> } | null = null;
    /** Those that this version can read. */
    const readable = (): Map<string, T> => {
      const of = store.read();
      if (known?.of !== of) {
        const parsed = [...of].flatMap(([id, record]) => {
          const { success, data } = schema.safeParse(record);
          return success ? [[id, data] as const] : [];
        });
        known = { of, records: new Map(parsed) };
      }
      return known.records;
    };

    const isReadable = (record: SharedRecord): boolean => schema.safeParse(record).success;
    /** Orders records of which this version cannot read all: by date, on all boxes alike. */
    const rankOf = (record: SharedRecord): string => {
      const date = dateOf(record);
      const counted = date !== null && isPlausibleTime(date, now()) ? date : '';
      return `${counted} ${Number(!isReadable(record))} ${canonical(record)}`;
    };

    const merged = (own: SharedRecord | undefined, theirs: T): SharedRecord => {
      if (own !== undefined && !(isReadable(own) && isReadable(theirs))) {
        // Which of two is the later one a newer version alone can tell: it sends what it makes of both.
        const isUntold = [own, theirs].every((record) => !isReadable(record) && dateOf(record) === null);
        return isUntold || rankOf(own) < rankOf(theirs) ? theirs : own;
      }
      const { success, data } = schema.safeParse(own);
      const date = success ? dateOf(data) : null;
      if (success && (date === null || isPlausibleTime(date, now()))) return merge(data, theirs);
      // After a wrong clock was set right, changes count again.
      return success && undated !== undefined ? merge(undated(data, now()), theirs) : theirs;
    };

    /** @returns whether something changed */
    const change = async (records: readonly T[], isStrict: boolean): Promise<boolean> => {
      const before = store.read();
      // A full set that is offered more is not written each time.
      const isSpare = dropping(true);
      const isFull = !isStrict && [...before.values()].filter((record) => !isSpare(record)).length >= most;
      const isNews = records.some((record) => {
        const own = before.get(record.id);
        return own === undefined ? !isFull : canonical(merged(own, record)) !== canonical(own);
      });
      if (!isNews) return false;
      await store.update((current) => {
        const isDropped = dropping(current.size + records.filter(({ id }) => !current.has(id)).length > most);
        const next = new Map([...current].filter(([, record]) => !isDropped(record)));
        for (const record of records) {
          const own = next.get(record.id);
          if (own !== undefined || next.size < most) next.set(record.id, merged(own, record));
          else if (isStrict) throw new CodedError('insufficient_storage', `There are ${most} of the ${name} already.`);
        }
        return next;
      });
      const after = store.read();
      if (after === before) return false;
      version += 1;
      changes.emit();
      const hasLost = ({ id }: T): boolean => {
        const [own, next] = [before.get(id), after.get(id)];
        return own !== undefined && next !== undefined && !isEmptied(own as T) && isEmptied(next as T);
      };
      if (records.some(hasLost)) await forgetPrevious();
      return true;
    };

    sets.set(name, {
      name,
      protection,
      version: () => version,
      unread: () => store.read().size - readable().size,
      list: () => {
        const isDropped = dropping();
        return [...store.read().values()].filter((record) => !isDropped(record));
      },
      merge: async (records) => {
        const isDropped = dropping();
        const taken = records.flatMap((record) => {
          const { data: head } = sharedRecord.safeParse(record);
          if (head === undefined) return [];
          const { success, data = head as T } = schema.safeParse(record);
          // What this version cannot read is stored and passed on all the same.
          if (!success && JSON.stringify(head).length > MAX_UNREAD_CHARACTERS) return [];
          const date = dateOf(data);
          return !isDropped(data) && (date === null || isPlausibleTime(date, now())) ? [data] : [];
        });
        return change(taken, false);
      },
    });
    return {
      get: (id) => readable().get(id),
      has: (id) => store.read().has(id),
      list: () => [...readable().values()],
      put: async (...records) => {
        for (const record of records) {
          const own = store.read().get(record.id);
          if (own === undefined || isReadable(own) || merged(own, record) !== own) continue;
          const message = `id is not valid: a newer version has written this record of the ${name}; update this box first.`;
          throw new CodedError('invalid_field', message, { field: 'id' });
        }
        if (await change(records, true)) {
          const current = store.read();
          await sending(
            records.flatMap(({ id }): NamedRecord[] => {
              const record = current.get(id);
              return record === undefined ? [] : [[name, record]];
            }),
          );
        }
      },
      onChange: changes.on,
    };
  };

  return {
    open,
    /** How many records this version cannot read. */
    unread: (): number => [...sets.values()].reduce((sum, set) => sum + set.unread(), 0),
    /** The sets that may be exchanged. @param isSecret whether with boxes that have proven to know the secret */
    sets: (isSecret: boolean): ExchangedSet[] =>
      [...sets.values()].filter(({ protection }) => isSecret || protection === 'open'),
    /** Merges records of another box; those of unknown sets are left out. @returns whether something changed */
    merge: async (records: readonly NamedRecord[]): Promise<boolean> => {
      let isChanged = false;
      for (const [name, set] of sets) {
        const own = records.flatMap(([of, record]) => (of === name ? [record] : []));
        if (own.length > 0 && (await set.merge(own))) isChanged = true;
      }
      return isChanged;
    },
    /** Follows the site's clock. Until this is called, no record is over. */
    followClock: (clock: SiteTime): void => {
      siteTime = clock;
    },
    /** Registers who sends what was made here to the other boxes. `send` never rejects. */
    onPut: (send: typeof sending): void => {
      sending = send;
    },
  } satisfies Module & Record<string, unknown>;
};
