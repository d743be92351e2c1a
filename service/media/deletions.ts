/** The media that were deleted: records that replicate, so that no box restores a deleted medium. */
import { createHash } from 'node:crypto';
import { z } from 'zod';
import { type MediaDeletion, mediaDeletion } from '../contract/peers.ts';
import { perObject } from '../domain/collections.ts';
import {
  newDeletions,
  pruneDeletions,
  type Deletions as Records,
  renamingOf,
  validDeletions,
} from '../domain/deletions.ts';
import { isMediaName } from '../domain/media-names.ts';
import { isPlausibleTime } from '../domain/merge.ts';
import { nextFlight } from '../domain/single-flight.ts';
import { openDurable } from '../platform/store/durable.ts';
import type { MediaContext } from './context.ts';

interface State {
  records: Records;
  /** Names whose files may still be here: the process may end before they are removed. */
  due: ReadonlySet<string>;
}

const schema: z.ZodType<State> = z.object({
  records: z.codec(z.array(mediaDeletion), z.map(z.string(), mediaDeletion), {
    decode: (list) => new Map(validDeletions(list).map((each) => [each.name, each])),
    encode: (map) => [...map.values()],
  }),
  due: z.codec(z.array(z.string()), z.set(z.string()), {
    decode: (list) => new Set(list),
    encode: (set) => [...set],
  }),
});

export type Deletions = Awaited<ReturnType<typeof openDeletions>>;

/** Records are never mutated, so each digest is computed once. */
const digestOf = perObject((records: Records): string => {
  const rows = [...records.values()]
    .map((each) => [each.name, each.deletedAt, ...(each.renamed === undefined ? [] : [renamingOf(each)])])
    .toSorted(([a = ''], [b = '']) => (a < b ? -1 : 1));
  return createHash('sha256').update(JSON.stringify(rows)).digest('hex');
});

type Renaming = MediaDeletion & { renamed: NonNullable<MediaDeletion['renamed']> };
/** The name is checked here too, since a file is opened by it. */
const isRenaming = (record: MediaDeletion | undefined): record is Renaming =>
  record?.renamed !== undefined && isMediaName(record.renamed.to);

/** The last name of a chain of renamings, each later than the one before: a name may have been taken again meanwhile. */
const lastNameOf = (records: Records, name: string): string | undefined => {
  let last: string | undefined;
  let before = '';
  for (let next = records.get(name); isRenaming(next) && next.deletedAt > before; ) {
    last = next.renamed.to;
    before = next.deletedAt;
    next = records.get(last);
  }
  return last;
};

export const openDeletions = async (context: Pick<MediaContext, 'dirs' | 'log' | 'now' | 'reserve'>) => {
  const { now } = context;
  const initial = { records: new Map(), due: new Set<string>() };
  const durable = await openDurable<State>(context, 'deleted-media.json', {
    schema,
    initial,
    reserve: context.reserve,
  });
  const records = (): Records => durable.read().records;

  return {
    list: (): MediaDeletion[] => [...records().values()],
    /** SHA-256 (hex) of all records; equal on boxes with equal records. */
    digest: (): string => digestOf(records()),
    get: (name: string): MediaDeletion | undefined => records().get(name),
    /** What a file was renamed to, if it was; the file may be gone under that name, too. */
    renamedTo: (name: string): string | undefined => lastNameOf(records(), name),
    /** The names, each before the one that its file has since it was renamed. */
    withRenamed: (names: ReadonlySet<string>): ReadonlySet<string> =>
      new Set([...names].flatMap((name) => [name, lastNameOf(records(), name) ?? name])),
    /** What is known by name, also by the name that the file has since it was renamed. */
    withRenamedKeys: <Value>(known: ReadonlyMap<string, Value>): ReadonlyMap<string, Value> =>
      new Map([...[...known].map(([name, value]) => [lastNameOf(records(), name) ?? name, value] as const), ...known]),
    /** When the medium was deleted, ms since the epoch; 0: it was not, or the date is implausible. */
    at: (name: string): number => {
      const { deletedAt = '' } = records().get(name) ?? {};
      return isPlausibleTime(deletedAt, now()) ? Date.parse(deletedAt) : 0;
    },
    /** Those whose files are to be removed. */
    due: (): MediaDeletion[] => [...durable.read().due].flatMap((name) => records().get(name) ?? []),
    isDue: (name: string): boolean => durable.read().due.has(name),
    /**
     * Stores newer records; durable once this resolves, and their names are {@link due}.
     * @param isCovered as of {@link newDeletions}
     * @returns the records that are new
     * @throws CodedError `insufficient_storage`, or the system's error
     */
    add: async (
      theirs: readonly MediaDeletion[],
      isCovered?: (deletion: MediaDeletion) => boolean,
    ): Promise<MediaDeletion[]> => {
      if (newDeletions(records(), theirs, now(), isCovered).length === 0) return [];
      let added: MediaDeletion[] = [];
      await durable.update((state) => {
        added = newDeletions(state.records, theirs, now(), isCovered);
        const merged = new Map([...state.records, ...added.map((each) => [each.name, each] as const)]);
        const due = new Set([...state.due, ...added.map(({ name }) => name)]);
        // Only beyond the limit: the clock may not be right yet.
        const kept = pruneDeletions(merged, 0, due);
        return { records: kept, due: new Set([...due].filter((name) => kept.has(name))) };
      });
      return added;
    },
    /** The files that the deletions cover are removed; a name that was deleted again since then stays due. */
    done: (removed: readonly MediaDeletion[]): Promise<void> =>
      durable.update(({ records: all, due: before }) => {
        const due = new Set(before);
        for (const { name, deletedAt } of removed) if (all.get(name)?.deletedAt === deletedAt) due.delete(name);
        return { records: all, due };
      }),
    /** Forgets records whose time is over. */
    prune: async (): Promise<void> => {
      const pruned = ({ records: all, due }: State): Records => pruneDeletions(all, now(), due);
      if (pruned(durable.read()) === records()) return;
      await durable.update((state) => ({ ...state, records: pruned(state) }));
    },
    faults: durable.faults,
    close: durable.close,
  };
};

/** The last of the renamings of a file, which a box that was away learns of together. */
export const lastRenaming = (deletions: Pick<Deletions, 'get'>, first: MediaDeletion): MediaDeletion['renamed'] => {
  let last = first;
  for (let next = deletions.get(last.renamed?.to ?? ''); next?.renamed !== undefined; ) {
    if (next.deletedAt <= last.deletedAt || next.sha256 !== first.sha256) break;
    last = next;
    next = deletions.get(next.renamed.to);
  }
  return last.renamed;
};

/**
 * Removes the files of deleted media, and tries again what could not be removed.
 * @param remove removes the files that the deletion of a name covers, or throws the system's error
 */
export const createRemoval = (
  { log, tempo }: Pick<MediaContext, 'log' | 'tempo'>,
  deletions: Pick<Deletions, 'due' | 'done'>,
  remove: (name: string) => Promise<void>,
) => {
  let closed = false;
  let timer: NodeJS.Timeout | undefined;

  const retryLater = (names: readonly string[], err: unknown): void => {
    log.warn({ err, names: names.slice(0, 10), count: names.length }, 'files of deleted media could not be removed');
    if (!closed) timer = setTimeout(() => void run(), tempo.media.removal).unref();
  };

  const removeDue = async (): Promise<void> => {
    clearTimeout(timer);
    const removed: MediaDeletion[] = [];
    const failed: string[] = [];
    let reason: unknown;
    for (const deletion of deletions.due()) {
      if (closed) break;
      await remove(deletion.name).then(
        () => removed.push(deletion),
        (error: unknown) => {
          failed.push(deletion.name);
          reason = error;
        },
      );
    }
    // One write for all: a site may delete thousands at once.
    if (removed.length > 0) await deletions.done(removed);
    if (failed.length > 0) retryLater(failed, reason);
  };

  const run = nextFlight<void, void>(() => removeDue().catch((error: unknown) => retryLater([], error)));

  return {
    /** Removes what is due; resolves when all of it was tried. Never rejects. */
    run,
    /** Resolves when nothing is being removed any more. */
    close: async (): Promise<void> => {
      closed = true;
      clearTimeout(timer);
      await run();
    },
  };
};
