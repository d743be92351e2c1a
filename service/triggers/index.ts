/**
 * Triggers: records that all boxes of the site share, with the hash of their token alone, and the playlists that they put
 * above all programmes.
 */
import { randomBytes } from 'node:crypto';
import { sha256Hex } from '../auth/sign.ts';
import { type TriggerEffect, type TriggerRecord, triggerLimits, triggerRecord } from '../contract/console/triggers.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { CodedError } from '../contract/errors.ts';
import type { Author } from '../contract/terms.ts';
import { createEmitter } from '../domain/emitter.ts';
import { isForgotten, laterThan } from '../domain/merge.ts';
import { redacted } from '../domain/redacted.ts';
import { type EpochMs, type SiteTime, unconfirmed } from '../domain/time.ts';
import type { Module, ServiceContext } from '../module.ts';
import { createQueue } from '../platform/queue.ts';
import { openOver } from '../platform/store/over.ts';
import type { Shared } from '../shared/index.ts';
import {
  effectOf,
  endsOf,
  type Insertion,
  insertionsFor,
  insertionsOf,
  mergeTriggers,
  type Named,
  startKeyOf,
  undatedTrigger,
  warningsOf,
} from './records.ts';

export type { Insertion } from './records.ts';
export { effectOf } from './records.ts';

export type Triggers = Awaited<ReturnType<typeof createTriggers>>;

export const createTriggers = async (context: ServiceContext, shared: Pick<Shared, 'open'>) => {
  const { options, now, monotonicNow, tempo, keep } = context;
  const records = await shared.open<TriggerRecord>({
    name: 'triggers',
    schema: triggerRecord,
    merge: mergeTriggers,
    undated: undatedTrigger,
    most: triggerLimits.records,
    protection: 'open',
    isOver: isForgotten,
  });
  const over = keep(await openOver(context, 'triggers.over.json'));
  const enqueue = createQueue();
  const changes = createEmitter();
  let siteTime: SiteTime = unconfirmed(now);
  const siteNow = (): EpochMs => siteTime.now();
  let timer: NodeJS.Timeout | undefined;
  let insertions: readonly Insertion[] = [];

  /** None in the baseline variant, which could not end what an extended run has begun. */
  const all = (): readonly TriggerRecord[] => (options.variant === 'baseline' ? [] : records.list());
  const live = (): TriggerRecord[] => all().filter(({ removed_at }) => removed_at === null);
  const get = (id: string): TriggerRecord | undefined => {
    const record = records.get(id);
    return record?.removed_at === null ? record : undefined;
  };
  /** @throws CodedError `trigger_not_found` */
  const edit = (id: string, change: (record: TriggerRecord) => Partial<TriggerRecord>): Promise<void> =>
    enqueue(async () => {
      const record = get(id);
      if (record === undefined) throw new CodedError('trigger_not_found');
      await records.put({ ...record, updated_at: laterThan(record.updated_at, siteNow()), ...change(record) });
    });

  /** Notices playlists that began or are over. */
  const look = (): void => {
    const before = JSON.stringify(insertions);
    const time = siteNow();
    over.look(endsOf(records.list(), time), { at: time, monotonic: monotonicNow() }, siteTime.isConfirmed());
    insertions = insertionsOf(
      all().filter((record) => !over.has(startKeyOf(record))),
      time,
    );
    if (JSON.stringify(insertions) !== before) changes.emit();
  };
  records.onChange(look);
  look();

  return {
    /** Those that are not revoked, oldest first. */
    list: (): TriggerRecord[] => live().toSorted((a, b) => (a.created_at < b.created_at ? -1 : 1)),
    get,
    /** The trigger of a token. */
    find: (token: string): TriggerRecord | undefined => {
      const hash = sha256Hex(token);
      return live().find(({ token_sha256 }) => token_sha256 === hash);
    },
    newId: (): string => randomBytes(8).toString('hex'),
    /**
     * Creates a trigger on all boxes. Only this result contains its token.
     * @throws CodedError `too_many_triggers`, `insufficient_storage`
     */
    create: (
      given: { id: string; name: string; effect: TriggerEffect },
      by: Author | null,
    ): Promise<{ token: string }> =>
      enqueue(async () => {
        if (live().length >= triggerLimits.triggers) throw new CodedError('too_many_triggers');
        const token = randomBytes(16).toString('hex');
        const at = new Date(siteNow()).toISOString();
        const made = { created_at: at, created_by: by, updated_at: at, token_sha256: sha256Hex(token) };
        await records.put({ ...given, ...made, removed_at: null, plays: null });
        return { token };
      }),
    /** Revokes one, on all boxes. @throws CodedError `trigger_not_found`, `insufficient_storage` */
    remove: (id: string): Promise<void> => edit(id, () => ({ removed_at: new Date(siteNow()).toISOString() })),
    /**
     * Adds those of a backup that are not known; what was revoked stays so.
     * @returns sentences about what was left out
     */
    restore: (backup: readonly TriggerRecord[]): Promise<string[]> =>
      enqueue(async () => {
        const known = backup.filter(({ id }) => records.get(id) !== undefined);
        const room = Math.max(0, triggerLimits.triggers - live().length);
        const added = backup.filter(({ id }) => !records.has(id));
        await records.put(...added.slice(0, room).map((record) => ({ ...record, plays: null })));
        const revoked = known.filter(({ id }) => get(id) === undefined);
        return [
          ...revoked.map(({ name }) => `The trigger ${JSON.stringify(name)} was revoked, and stays so.`),
          ...added.slice(room).map(({ name }) => `The trigger ${JSON.stringify(name)} is one too many.`),
        ];
      }),
    /**
     * Begins the playlist of a trigger, on all boxes.
     * @returns when it ends, ISO 8601
     * @throws CodedError `trigger_not_found`, `insufficient_storage`
     */
    play: async (id: string, minutes: number): Promise<string> => {
      let until = '';
      await edit(id, ({ plays }) => {
        const time = siteNow();
        until = new Date(time + minutes * 60_000).toISOString();
        // The last start may have been dated by a clock that was ahead.
        return { plays: { from: laterThan(plays?.from, time), until } };
      });
      return until;
    },
    /** The site's time, by which its playlists begin and end. */
    now: siteNow,
    /** The playlists that are above all programmes of a screen now, the latest first. */
    insertions: (screen: { slug: string; tags: readonly string[] }): readonly Insertion[] =>
      insertionsFor(insertions, screen),
    /** One warning per trigger that names what a content does not have. */
    warnings: (content: Named): ContentIssue[] => warningsOf(live(), content),
    /** Calls `listener` when {@link insertions} changes. */
    onChange: changes.on,
    /** Follows the site's clock. Until this is called, the clock of this box stands for it. */
    followClock: (clock: SiteTime): void => {
      siteTime = clock;
      over.relearn();
    },
    states: {
      trigger: (id) => {
        const record = get(id);
        return record === undefined ? null : { name: record.name, effect: redacted(effectOf(record)) };
      },
    },
    start: () => {
      timer = setInterval(look, tempo.takeovers.poll).unref();
      look();
    },
    close: () => clearInterval(timer),
  } satisfies Module & Record<string, unknown>;
};
