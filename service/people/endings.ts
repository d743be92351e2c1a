/** What ends by a clock, the keys of sign-ins and invitations: once it has ended it stays so, even if the clock is set back. */
import { invitationMs } from '../contract/console/people.ts';
import type { InvitationRecord, KeyRecord } from '../contract/people-records.ts';
import { type EpochMs, isTrusted, type SiteTime } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { openOver } from '../platform/store/over.ts';
import type { SharedSet } from '../shared/index.ts';

/** How many marks of records that are gone are kept. */
const MARKS = 10_000;

interface Dependencies {
  keys: Pick<SharedSet<KeyRecord>, 'list'>;
  invitations: Pick<SharedSet<InvitationRecord>, 'list'>;
  /** The clock of the site, by which keys end; invitations end by that of the box. */
  siteTime(): Pick<SiteTime, 'now' | 'isConfirmed'>;
}

export const openEndings = async (context: ServiceContext, { keys, invitations, siteTime }: Dependencies) => {
  const { now, monotonicNow, keep } = context;
  const over = keep(await openOver(context, 'people.over.json', MARKS));
  /** Whether an invitation would be open for longer than any is: it was made by a clock that was ahead. */
  const isAhead = (end: EpochMs, time: EpochMs): boolean => isTrusted(time) && end > time + 2 * invitationMs;
  return {
    /** Whether the key of a sign-in has ended. */
    hasEnded: ({ id, ends_at }: KeyRecord): boolean =>
      ends_at !== null && (over.has(id) || Date.parse(ends_at) <= siteTime().now()),
    isOpen: ({ used, number, expires_at }: InvitationRecord): boolean => {
      const end = Date.parse(expires_at);
      return !used && !over.has(number) && end > now() && !isAhead(end, now());
    },
    /** Marks what has ended. Who has to sign in or be invited again loses little, so any clock is good enough. */
    look: (): void => {
      const [time, site] = [now(), siteTime()];
      const ahead = time - site.now();
      // To a clock that is behind, a valid invitation looks as if it was made by one that was ahead.
      const endOf = (end: EpochMs): EpochMs =>
        site.isConfirmed() && isAhead(end, Math.max(time, site.now())) ? time : end;
      const ends = new Map(invitations.list().map((each) => [each.number, endOf(Date.parse(each.expires_at))]));
      for (const { id, ends_at } of keys.list()) if (ends_at !== null) ends.set(id, Date.parse(ends_at) + ahead);
      over.look(ends, { at: time, monotonic: monotonicNow() }, true);
    },
  };
};
