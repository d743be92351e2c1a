/**
 * A box that was away for longer than deletions are kept adopts the site's list of media: what it has from before, and no
 * other box has, is moved to `.lost` instead of being restored.
 */
import type { Attendance, PeerMedium, Span } from '../contract/peer-media.ts';
import { agreedTime, hiddenUntil, met, missedUntil, running } from '../domain/attendance.ts';
import { isTrusted } from '../domain/clock-trust.ts';
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
  /** Whether the site's time is established at this box. */
  isTimeEstablished(): boolean;
  /** ms, monotonic. */
  monotonicNow(): number;
}

/** How often this box notes that it runs. */
const NOTE_MS = 3_600_000;
const DAY_MS = 86_400_000;
/** Minimum time after a failure before the lists of all peers are requested again. */
const RETRY_MS = 600_000;

export const createAbsence = ({ logs, peers, media, siteNow, isTimeEstablished, monotonicNow }: Dependencies) => {
  const { attendance } = media;
  let fault: string | null = null;
  let retryAt = Number.NEGATIVE_INFINITY;
  let timer: NodeJS.Timeout | undefined;

  const timeOf = ({ state, stateAt }: LivePeer): number => state.serverTime + monotonicNow() - stateAt;

  /** The time by which this box and a peer judge a gap. */
  const agreedWith = (peer: LivePeer): number => agreedTime(siteNow(), timeOf(peer));

  /** The time up to which one of two boxes may have missed deletions; 0: it has not, or it is unknown. */
  const missed = (peer: LivePeer, isPeer: boolean): number => {
    const [own, theirs] = [attendance.get(), peer.state.attendance];
    if (own === null || theirs === undefined) return 0;
    const agreed = agreedWith(peer);
    if (!isPeer) return missedUntil(own, theirs, agreed);
    return Math.max(missedUntil(theirs, own, agreed), hiddenUntil(timeOf(peer), siteNow()));
  };

  const note = async (): Promise<void> => {
    if (isTimeEstablished()) await attendance.set(running(attendance.get(), siteNow(), peers.alive().length === 0));
  };

  return {
    /** Its part of the state of this box. */
    state: (): { attendance?: Attendance } => {
      const own = attendance.get();
      const spanOf = ({ since, left }: Span): Span => ({
        since: Math.floor(since),
        left: left === null ? null : Math.floor(left),
      });
      return own === null ? {} : { attendance: { ran: spanOf(own.ran), met: own.met && spanOf(own.met) } };
    },

    /** The time up to which media of a peer count only if they are elsewhere too, ms since the epoch; 0: all count. */
    missedBy: (peer: LivePeer): number => missed(peer, true),

    /**
     * Compares the media of this box with those of peers whose lists are known, once the site's time is established.
     * @param offers the media of all peers, requested again
     * @returns whether files were moved to `.lost`, so that the folders have to be read again
     */
    async compare(
      own: ReadonlyMap<string, PeerMedium>,
      known: readonly LivePeer[],
      offers: () => Promise<Offer[]>,
    ): Promise<boolean> {
      if (!isTimeEstablished()) return false;
      // A gap that the clock shows only now is found before it is judged.
      await note();
      const until = Math.max(0, ...known.map((peer) => missed(peer, false)));
      if (until > 0) {
        // A box whose clock is not set waits until it has the time of the others.
        if (!isTrusted(siteNow()) || monotonicNow() < retryAt) return false;
        retryAt = monotonicNow() + RETRY_MS;
        const there = await offers();
        const isThere = ({ name, sha256 }: PeerMedium): boolean =>
          there.some(({ find }) => find(name)?.sha256 === sha256);
        const gone = [...own.values()].filter((each) => Date.parse(each.modifiedAt) <= until && !isThere(each));
        let moved = 0;
        try {
          for (const { name, sha256 } of gone) if (await media.setAside(name, sha256)) moved += 1;
          fault = null;
        } catch (error) {
          fault = (error as Error).message;
          logs('media of peers').warn({ err: error }, 'media that the site does not have could not be moved to .lost');
          return false;
        }
        const days = Math.floor((siteNow() - until) / DAY_MS);
        const message =
          'this box was away for longer than deletions are known, and takes the list of media of the site';
        logs('media of peers').warn({ days, moved }, message);
        retryAt = 0;
        // A file that lay under another one of its name is found by the next scan.
        if (moved > 0) return true;
      }
      let next = attendance.get();
      for (const peer of known) {
        const theirs = peer.state.attendance;
        if (next !== null && theirs !== undefined) next = met(next, theirs, siteNow(), agreedWith(peer));
      }
      await attendance.set(next);
      return false;
    },

    /** Sentences for `/healthz`. */
    issues: (): string[] =>
      fault === null
        ? []
        : [
            `This box was away for long, and media that the site does not have any more could not be moved to .lost (${fault}): free some space on its disk`,
          ],

    start: () => {
      timer = setInterval(() => void note(), NOTE_MS).unref();
    },
    close: () => clearInterval(timer),
  };
};
