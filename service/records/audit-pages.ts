/** Which records of the audit are asked for; pure. */
import { type AuditRecord, maxAuditRecords, type PeerAuditQuery } from '../contract/console/site.ts';

/** What a trigger did, by the name of its effect. */
const effects = ['takeover', 'playlist', 'command'] as const;

/**
 * What the state of a target, or the body of a request, says of screens: slugs, and targets of takeovers and of what
 * triggers did.
 */
const targetsIn = (state: unknown): unknown[] => {
  if (typeof state !== 'object' || state === null) return [];
  const { screenSlug, targets, ...rest } = state as Record<string, unknown>;
  const own = Array.isArray(targets) ? (targets as unknown[]) : [];
  return [screenSlug, ...own, ...effects.flatMap((effect) => targetsIn(rest[effect]))];
};

/** What people take an action for: a draft that is published is content that changes. */
const kindOf = ({ action }: AuditRecord): string =>
  action === 'draft.publish' ? 'content' : action.replace(/\..*/, '');

/** @param tagsOf the tags of a screen */
export const isAsked =
  ({ from, to, operator, screen, kind }: PeerAuditQuery, tagsOf: (slug: string) => readonly string[]) =>
  (record: AuditRecord): boolean => {
    if ((from !== undefined && record.at < from) || (to !== undefined && record.at >= to)) return false;
    if (operator !== undefined && record.operator !== operator) return false;
    if (kind !== undefined && kind !== kindOf(record)) return false;
    if (screen === undefined) return true;
    const meant = ['all', screen, ...tagsOf(screen).map((tag) => `tag:${tag}`)];
    const isOfScreen = record.action.startsWith('screen.') && record.target === screen;
    return (
      isOfScreen || [record.before, record.after].flatMap(targetsIn).some((target) => meant.includes(String(target)))
    );
  };

/** The records by their times, newest first. Records of the same time keep their order. */
export const newestFirst = (records: readonly AuditRecord[]): AuditRecord[] =>
  records.toSorted((one, other) => Number(one.at < other.at) - Number(one.at > other.at));

/** The first records, and those of the same millisecond as the last of them. @param records newest first */
export const pageOf = (records: readonly AuditRecord[], limit: number): AuditRecord[] => {
  const last = records[limit - 1]?.at;
  const end = last === undefined ? records.length : records.findIndex(({ at }, index) => index >= limit && at !== last);
  return records.slice(0, Math.min(end === -1 ? records.length : end, maxAuditRecords));
};
