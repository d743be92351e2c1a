/** The records of triggers, and how boxes agree on them. Pure. */
import { type TriggerEffect, type TriggerRecord, triggerEffect } from '../contract/console/triggers.ts';
import type { ContentIssue } from '../contract/content-terms.ts';
import { canonical } from '../domain/canonical.ts';
import { order } from '../domain/merge.ts';
import { isTargeted } from '../domain/targets.ts';
import type { EpochMs } from '../domain/time.ts';

/** What a content has. */
export interface Named {
  message(id: string): unknown;
  hasPlaylist(id: string): boolean;
}

/** One warning per trigger that names a message or playlist which the content does not have. */
export const warningsOf = (triggers: readonly TriggerRecord[], content: Named): ContentIssue[] =>
  triggers.flatMap((trigger): ContentIssue[] => {
    const { takeover, end, playlist } = effectOf(trigger) ?? {};
    const message = (takeover ?? end)?.message_id;
    const who = `${JSON.stringify(trigger.name)}: the trigger names`;
    const what = JSON.stringify(message ?? playlist?.playlist_id);
    if (message !== undefined && content.message(message) === undefined)
      return [{ path: 'messages', message: `${who} the message ${what}, which the content does not have` }];
    if (playlist !== undefined && !content.hasPlaylist(playlist.playlist_id))
      return [{ path: 'playlists', message: `${who} the playlist ${what}, which the content does not have` }];
    return [];
  });

/** A playlist that a trigger put above all programmes of some screens, for a time. */
export interface Insertion {
  playlist_id: string;
  targets: readonly string[];
  /** ISO 8601. */
  from: string;
  until: string;
}

const earlier = (a: string | null, b: string | null): string | null => (a === null || (b !== null && b < a) ? b : a);

type Plays = TriggerRecord['plays'];
const latest = (a: Plays, b: Plays): Plays => {
  if (a === null || b === null) return a ?? b;
  return (order(a.from, b.from) || order(a.until, b.until)) >= 0 ? a : b;
};

/** What is joined by itself. */
const apart = { updated_at: '', removed_at: null, plays: null };

/** Of one id: a revocation is for ever, and of its playlist the last start counts. */
export const mergeTriggers = (a: TriggerRecord, b: TriggerRecord): TriggerRecord => {
  const base = order(canonical({ ...a, ...apart }), canonical({ ...b, ...apart })) >= 0 ? a : b;
  return {
    ...base,
    updated_at: order(a.updated_at, b.updated_at) >= 0 ? a.updated_at : b.updated_at,
    removed_at: earlier(a.removed_at, b.removed_at),
    plays: latest(a.plays, b.plays),
  };
};

/** Of a record with a date that was set by a wrong clock the revocation stays. */
export const undatedTrigger = (record: TriggerRecord): TriggerRecord => ({
  ...record,
  updated_at: new Date(0).toISOString(),
  plays: null,
});

/** Null: it is of a newer version. */
export const effectOf = ({ effect }: Pick<TriggerRecord, 'effect'>): TriggerEffect | null =>
  triggerEffect.safeParse(effect).data ?? null;

/** Of the last start of its playlist. */
export const startKeyOf = ({ id, plays }: TriggerRecord): string => `${id} ${plays?.from}`;

/** How much longer than its minutes a playlist may be on: the clocks of a site differ. */
const TOLERANCE_MS = 600_000;

/** When its playlist is over. One that would be on for longer than its minutes was started by a clock that was ahead: it is over. */
const endOf = (record: TriggerRecord, now: EpochMs): EpochMs => {
  const { plays } = record;
  // Of an effect of a newer version the minutes are not known.
  const { minutes = Number.POSITIVE_INFINITY } = effectOf(record)?.playlist ?? {};
  const until = plays === null ? 0 : Date.parse(plays.until);
  return until > now + minutes * 60_000 + TOLERANCE_MS ? 0 : until;
};

/** When the playlists that were started are over, by {@link startKeyOf}. */
export const endsOf = (records: readonly TriggerRecord[], now: EpochMs): Map<string, EpochMs> =>
  new Map(
    records.flatMap((record) => (record.plays === null ? [] : [[startKeyOf(record), endOf(record, now)] as const])),
  );

/** The playlists that are put above all programmes now, the latest first. */
export const insertionsOf = (records: readonly TriggerRecord[], now: EpochMs): Insertion[] =>
  records
    .flatMap((record) => {
      const { plays, removed_at, id } = record;
      const isOver = plays === null || removed_at !== null || endOf(record, now) <= now;
      const playlist = isOver ? undefined : effectOf(record)?.playlist;
      if (isOver || playlist === undefined) return [];
      const { playlist_id, targets, minutes } = playlist;
      // A start that follows one by a clock that was ahead is dated later than it was; its end is right.
      const begun = new Date(Date.parse(plays.until) - minutes * 60_000).toISOString();
      return [
        { id, from: order(plays.from, begun) < 0 ? plays.from : begun, until: plays.until, playlist_id, targets },
      ];
    })
    .toSorted((a, b) => order(b.from, a.from) || order(b.id, a.id));

/** Those for a screen, the latest first. */
export const insertionsFor = (
  insertions: readonly Insertion[],
  screen: { slug: string; tags: readonly string[] },
): Insertion[] => insertions.filter(({ targets }) => isTargeted(targets, screen));
