/**
 * A box that was away for longer than deletions are known takes the site's list of media: what it has from before, and no
 * other box has, is kept beside instead of being brought back.
 */
import type { Attendance, PeerMedium, Span } from '../contract/peer-media.ts';
import { agreedTime, met, missedUntil, running } from '../domain/attendance.ts';
import type { Media } from '../media/index.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { LivePeer, Peers } from './peer.ts';
import type { Offer } from './transfer-plan.ts';

interface Dependencies {
  logs: SourceLogs;
  peers: Pick<Peers, 'alive'>;
  media: Pick<Media, 'attendance' | 'setAside'>;
  /** The site's time, ms since the epoch. */
  siteNow(): number;
}

/** How often this box notes that it runs. */
const NOTE_MS = 3_600_000;
const DAY_MS = 86_400_000;

export const createAbsence = ({ logs, peers, media, siteNow }: Dependencies) => {
  const { attendance } = media;
  let fault: string | null = null;
  let timer: NodeJS.Timeout | undefined;

  /** What a peer says of itself, with the time by which both boxes judge it; null: one of them does not say. */
  const judge = <Result>(
    { state }: LivePeer,
    decide: (
      own: NonNullable<ReturnType<typeof attendance.get>>,
      theirs: NonNullable<typeof state.attendance>,
      now: number,
    ) => Result,
  ): Result | null => {
    const own = attendance.get();
    if (own === null || state.attendance === undefined) return null;
    return decide(own, state.attendance, agreedTime(siteNow(), state.serverTime));
  };

  const note = (): Promise<void> => attendance.set(running(attendance.get(), siteNow(), peers.alive().length === 0));

  return {
    /** Its part of the state of this box. */
    told: (): { attendance?: Attendance } => {
      const own = attendance.get();
      const spanOf = ({ since, left }: Span): Span => ({
        since: Math.floor(since),
        left: left === null ? null : Math.floor(left),
      });
      return own === null ? {} : { attendance: { ran: spanOf(own.ran), met: spanOf(own.met) } };
    },

    /** The time up to which media of a peer count only if they are elsewhere too, ms since the epoch; 0: all count. */
    missedBy: (peer: LivePeer): number => judge(peer, (own, theirs, now) => missedUntil(theirs, own, now)) ?? 0,

    /**
     * Compares the media of this box with those of peers whose lists are known.
     * @param offers the media of all peers, asked for again
     * @returns whether files were kept beside, so that the folders have to be read again
     */
    async compare(
      own: ReadonlyMap<string, PeerMedium>,
      known: readonly LivePeer[],
      offers: () => Promise<Offer[]>,
    ): Promise<boolean> {
      const until = Math.max(0, ...known.map((peer) => judge(peer, missedUntil) ?? 0));
      if (until > 0) {
        const there = await offers();
        const isThere = ({ name, sha256 }: PeerMedium): boolean =>
          there.some((offer) => offer.media.get(name)?.sha256 === sha256);
        const missed = [...own.values()].filter((each) => Date.parse(each.modifiedAt) <= until && !isThere(each));
        try {
          for (const { name, sha256 } of missed) await media.setAside(name, sha256);
          fault = null;
        } catch (error) {
          fault = (error as Error).message;
          logs('media of peers').warn({ err: error }, 'media that the site does not have could not be kept beside');
          return false;
        }
        const days = Math.floor((siteNow() - until) / DAY_MS);
        const message =
          'this box was away for longer than deletions are known, and takes the list of media of the site';
        logs('media of peers').warn({ days, keptBeside: missed.length }, message);
        // A file that lay under another one of its name is found by the next scan.
        if (missed.length > 0) return true;
      }
      for (const peer of known) {
        const next = judge(peer, met);
        if (next !== null) await attendance.set(next);
      }
      return false;
    },

    /** Sentences for `/healthz`. */
    issues: (): string[] =>
      fault === null
        ? []
        : [
            `This box was away for long, and media that the site does not have any more could not be kept beside (${fault}): free some space on its disk`,
          ],

    start: () => {
      void note();
      timer = setInterval(() => void note(), NOTE_MS).unref();
    },
    close: () => clearInterval(timer),
  };
};
