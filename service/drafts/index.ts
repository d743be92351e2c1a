/**
 * Drafts of the content, a file each in the data directory. Boxes exchange a draft when it has not changed for 3 s; of two
 * that were saved apart both stay.
 */
import { createHash } from 'node:crypto';
import { readdir, readFile, unlink } from 'node:fs/promises';
import { join } from 'node:path';
import {
  type DraftHead,
  type DraftRecord,
  mostDraftRecords,
  mostDrafts,
  passedDraft,
} from '../contract/console/drafts.ts';
import { CodedError } from '../contract/errors.ts';
import type { Author } from '../contract/terms.ts';
import { createEmitter } from '../domain/emitter.ts';
import { laterThan } from '../domain/merge.ts';
import { type EpochMs, type SiteTime, unconfirmed } from '../domain/time.ts';
import type { Module, ServiceContext } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import { isFull, systemDisk } from '../platform/store/disk.ts';
import { keepCopy, makeFolder } from '../platform/store/file.ts';
import { advanced, headOf, isNews, isReadable, settle, spentRemovals, withEtag } from './records.ts';

/** What a client saves. */
export interface DraftSave extends Pick<DraftRecord, 'title' | 'base_sha256'> {
  content: NonNullable<DraftRecord['content']>;
  state?: DraftRecord['state'] | null | undefined;
  note?: string | null | undefined;
}

/** Whether a change may be made, given the ETag's value of what is there; null: nothing is. Throws if not. */
type Guard = (etag: string | null) => void;

export type Drafts = Awaited<ReturnType<typeof createDrafts>>;

const EDITING_MS = 30_000;
/** Names that are remembered of one draft. */
const MAX_NAMES = 50;

const OLDER = 'This box is older than the draft: edit it at a box of a newer version, or update this one.';

const nameOf = (id: string): string => `${id}.json`;

export const createDrafts = async (
  context: Pick<ServiceContext, 'dirs' | 'log' | 'now' | 'monotonicNow' | 'ids' | 'tempo'>,
) => {
  const { dirs, log, now, monotonicNow, ids, tempo } = context;
  const folder = join(dirs.data, 'drafts');
  const enqueue = createQueue();
  const shares = createEmitter();
  const heads = new Map<string, DraftHead>();
  const names = new Map<string, Map<string, number>>();
  /** The drafts that were saved here and are not offered yet, with when, by the monotonic clock. */
  const pending = new Map<string, number>();
  /** What is offered to other boxes. */
  let shared = new Map<string, DraftHead>();
  let digest = '';
  let sharedAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;
  let siteTime: SiteTime = unconfirmed(now);
  const reliableNow = (): EpochMs | null => (siteTime.isConfirmed() ? siteTime.now() : null);

  /** Offers every draft as it is, and one that is pending as it was offered before. */
  const share = (): void => {
    const offered = [...heads.values()].flatMap((head) => (pending.has(head.id) ? (shared.get(head.id) ?? []) : head));
    shared = new Map(offered.toSorted((a, b) => (a.id < b.id ? -1 : 1)).map((head) => [head.id, head]));
    const etags = [...shared.values()].map(({ etag }) => etag);
    digest = createHash('sha256').update(JSON.stringify(etags)).digest('hex');
  };
  /** Offers each draft that has not changed for a while, at a limited rate, whatever is typed in another one. */
  const shareAtRest = (): void => {
    if (timer !== undefined || pending.size === 0) return;
    const next = Math.max(Math.min(...pending.values()) + tempo.drafts.rest, sharedAt + tempo.drafts.interval);
    timer = setTimeout(() => {
      timer = undefined;
      const at = monotonicNow();
      const resting = [...pending].filter(([, savedAt]) => savedAt + tempo.drafts.rest <= at);
      for (const [id] of resting) pending.delete(id);
      if (resting.length > 0) {
        sharedAt = at;
        share();
        shares.emit();
      }
      shareAtRest();
    }, next - monotonicNow());
    timer.unref();
  };
  const noteSave = (id: string): void => {
    pending.set(id, monotonicNow());
    shareAtRest();
  };

  const read = async (name: string): Promise<DraftRecord | null> => {
    try {
      // Another version, before a roll-back, may hash other fields: its etag is no other box's.
      return withEtag(passedDraft.parse(JSON.parse(await readFile(join(folder, name), 'utf8'))));
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ENOENT') log.error({ err: error, name }, 'a draft cannot be read');
      return null;
    }
  };
  await makeFolder(folder);
  for (const name of await readdir(folder)) {
    const record = name.endsWith('.json') ? await read(name) : null;
    if (record !== null) heads.set(record.id, headOf(record));
  }
  share();

  const store = async (record: DraftRecord): Promise<void> => {
    try {
      await keepCopy(systemDisk, join(folder, nameOf(record.id)), Buffer.from(JSON.stringify(record)));
      await systemDisk.syncFolder(folder);
    } catch (error) {
      throw isFull(error) ? new CodedError('insufficient_storage', undefined, { cause: error }) : error;
    }
    heads.set(record.id, headOf(record));
  };
  const prune = async (): Promise<void> => {
    for (const { id } of spentRemovals(heads.values(), reliableNow())) {
      heads.delete(id);
      pending.delete(id);
      await unlink(join(folder, nameOf(id))).catch(() => undefined);
    }
  };

  /** Whether it is a removal that would be dropped at once. */
  const isSpent = (theirs: DraftHead): boolean =>
    theirs.removed &&
    !heads.has(theirs.id) &&
    spentRemovals([...heads.values(), theirs], reliableNow()).some(({ id }) => id === theirs.id);

  /** Whether only a newer version can read a draft. */
  const isUnread = (id: string): boolean => {
    const head = heads.get(id);
    return head !== undefined && !head.removed && !isReadable(head);
  };
  const live = (id: string): DraftHead | undefined => {
    const head = heads.get(id);
    return head === undefined || head.removed || !isReadable(head) ? undefined : head;
  };
  const list = (): DraftHead[] =>
    [...heads.values()]
      .filter((head) => !head.removed && isReadable(head))
      .toSorted((a, b) => (a.updated_at < b.updated_at ? 1 : -1));

  /** The next record of an id, by this box. */
  const next = (id: string, given: Omit<DraftRecord, 'id' | 'counters' | 'etag' | 'updated_at'>): DraftRecord => {
    const before = heads.get(id);
    const counters = advanced(before?.counters ?? {}, ids.nodeId);
    return withEtag({ ...given, id, counters, updated_at: laterThan(before?.updated_at, now()) });
  };

  const mergeNow = async (theirs: DraftRecord): Promise<void> => {
    const head = heads.get(theirs.id);
    if (head === undefined) {
      if (isSpent(theirs)) return;
      if (heads.size >= mostDraftRecords) await prune();
      if (heads.size >= mostDraftRecords) return log.warn({ id: theirs.id }, 'there are too many drafts');
      return store(theirs);
    }
    if (!isNews(head, theirs)) return;
    const ours = await read(nameOf(theirs.id));
    if (ours === null) return store(theirs);
    const { kept, copy } = settle(ours, theirs);
    if (copy !== null) await mergeNow(copy);
    if (kept.etag !== ours.etag) await store(kept);
  };

  const saveNow = (
    id: string,
    { title, base_sha256, content, state, note }: DraftSave,
    by: Author | null,
    guard: Guard,
  ): Promise<{ draft: DraftRecord; isNew: boolean }> =>
    enqueue(async () => {
      if (isUnread(id)) throw new CodedError('box_older', OLDER);
      const before = live(id);
      guard(before?.etag ?? null);
      if (before === undefined && list().length >= mostDrafts) throw new CodedError('too_many_drafts');
      const nextState = state ?? before?.state ?? 'open';
      const submitter = before?.state === 'submitted' ? before.submitted_by : by;
      const draft = next(id, {
        ...before,
        title,
        base_sha256,
        content,
        author: before === undefined ? by : before.author,
        updated_by: by,
        submitted_by: nextState === 'submitted' ? submitter : null,
        note: note === undefined ? (before?.note ?? null) : note,
        state: nextState,
        removed: false,
      });
      await store(draft);
      noteSave(id);
      return { draft, isNew: before === undefined };
    });

  return {
    /** Newest first. */
    list,
    /** Null: there is no such draft. */
    get: async (id: string): Promise<DraftRecord | null> => (live(id) === undefined ? null : read(nameOf(id))),
    /** @throws CodedError `box_older` if a newer version has written it, `too_many_drafts`, `insufficient_storage`, what `guard` throws */
    save: saveNow,
    /** @throws CodedError `draft_not_found`, `insufficient_storage`, what `guard` throws */
    remove: (id: string, by: Author | null, guard: Guard): Promise<void> =>
      enqueue(async () => {
        const before = live(id);
        if (before === undefined) throw new CodedError('draft_not_found');
        guard(before.etag);
        const { counters: _, etag: __, updated_at: ___, id: ____, ...rest } = before;
        await store(next(id, { ...rest, updated_by: by, removed: true, content: null }));
        await prune();
        noteSave(id);
      }),
    /**
     * Saves those of a backup that are not here, as their authors' edits of now.
     * @returns sentences about what was left out
     */
    restore: async (records: readonly DraftRecord[]): Promise<string[]> => {
      const leftOut: string[] = [];
      for (const { id, content, title, base_sha256, state, note, author } of records) {
        const isHere = (): boolean => live(id) !== undefined || isUnread(id);
        const isFull = list().length >= mostDrafts;
        if (isHere() || isFull || content === null) {
          const name = JSON.stringify(title);
          leftOut.push(
            isHere() ? `The draft ${name} is here, and stays as it is.` : `The draft ${name} is one too many.`,
          );
        } else await saveNow(id, { title, base_sha256, content, state, note }, author, () => undefined);
      }
      return leftOut;
    },
    /** All records that rest, removed ones included, for other boxes. */
    records: (): DraftHead[] => [...shared.values()],
    /** How many drafts this version cannot read. */
    unread: (): number => [...heads.keys()].filter(isUnread).length,
    /** A record for another box; null: there is none. */
    record: (id: string): Promise<DraftRecord | null> => (heads.has(id) ? read(nameOf(id)) : Promise.resolve(null)),
    /** Whether another box's record is to be fetched. */
    lacks: (head: DraftHead): boolean => isNews(heads.get(head.id), head) && !isSpent(head),
    /** Stores a record of another box. */
    merge: (record: DraftRecord): Promise<void> =>
      enqueue(async () => {
        // A record is what its hash says.
        if (withEtag(record).etag !== record.etag) return log.warn({ id: record.id }, 'a draft of a peer is damaged');
        await mergeNow(record);
        if (record.removed) await prune();
        share();
      }),
    /** SHA-256 (hex) of {@link records}: equal on boxes with equal drafts. */
    digest: (): string => digest,
    /** Calls `listener` when {@link records} changes by a save here. */
    onShare: shares.on,
    /** Follows the site's clock. Until this is called, no removal is dropped for its age. */
    followClock: (clock: SiteTime): void => {
      siteTime = clock;
    },
    /** Notes that somebody has a draft open. */
    noteEditing: (id: string, name: string): void => {
      if (live(id) === undefined) return;
      const known = names.get(id) ?? new Map<string, number>();
      if (!known.has(name) && known.size >= MAX_NAMES) return;
      names.set(id, known.set(name, monotonicNow()));
    },
    /** Who has which draft open at this box. */
    editing: (): Record<string, string[]> => {
      const since = monotonicNow() - EDITING_MS;
      for (const [id, known] of names) {
        for (const [name, at] of known) if (at < since) known.delete(name);
        if (known.size === 0 || live(id) === undefined) names.delete(id);
      }
      return Object.fromEntries([...names].map(([id, known]) => [id, [...known.keys()]]));
    },
    states: {
      draft: (id) => {
        const head = live(id);
        return head === undefined ? null : { title: head.title };
      },
    },
    close: () => clearTimeout(timer),
  } satisfies Module & Record<string, unknown>;
};
