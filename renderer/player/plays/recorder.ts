/** Makes a record of each slide that was seen: of what was painted, and only while nothing covered it. */
import { bytesToHex } from '@noble/hashes/utils.js';
import type { Slide } from '../../../service/contract/playlist.ts';
import type { MAX_PLAY_MS, PagePlay } from '../../../service/contract/plays.ts';
import type { Clock } from '../clock.ts';
import type { Ending } from '../playback-state.ts';
import { isLate } from '../timeline.ts';

/** Where a slide came from. */
export type PlaceOfPlay = Required<Pick<PagePlay, 'playlist_id' | 'programme_id'>>;

export type PlayRecorder = ReturnType<typeof createPlayRecorder>;

interface Dependencies {
  clock: Pick<Clock, 'elapsed' | 'now' | 'state'>;
  screen: string;
  /** The zone of its plays; absent: those of takeovers, which cover all zones. */
  zone?: PagePlay['zone'];
  /** The revision of the playlist. */
  revision(): string | null;
  onPlay(play: PagePlay): void;
}

/** What is on, whether it is seen or not. */
interface Current {
  slide: Slide;
  /** How long it is still to be seen, in ms. */
  expectedMs: number;
  place: PlaceOfPlay;
}

/** A play under way: the fields that are known when it begins. */
interface Begun {
  record: Omit<PagePlay, 'ended_at' | 'duration_ms' | 'result' | 'reason'>;
  /** Readings of the clocks, in ms. */
  elapsed: number;
  wall: number;
}

// Typed by the contract's constant, without importing its schemas.
const LONGEST_MS: typeof MAX_PLAY_MS = 86_400_000;

const randomId = (): string => bytesToHex(crypto.getRandomValues(new Uint8Array(16)));

/** A takeover is of no playlist. */
const nowhere: PlaceOfPlay = { playlist_id: null, programme_id: null };

export const createPlayRecorder = ({ clock, screen, zone = null, revision, onPlay }: Dependencies) => {
  let current: Current | null = null;
  let begun: Begun | null = null;
  let covered: string | null = null;

  const trust = (): PagePlay['clock'] => (['ok', 'page'].includes(clock.state()) ? 'synced' : 'untrusted');

  const open = ({ slide, expectedMs, place }: Current, elapsed = clock.elapsed(), wall = clock.now()): Begun => {
    const record = {
      play_id: randomId(),
      screen,
      slide_id: slide.id,
      slide_title: slide.title,
      kind: slide.kind,
      media_url: slide.media_url,
      revision: revision(),
      started_at: new Date(wall).toISOString(),
      expected_ms: Math.min(Math.round(expectedMs), LONGEST_MS),
      clock: trust(),
      ...place,
      zone,
    };
    return { record, elapsed, wall };
  };

  const close = ({ record, elapsed, wall }: Begun, ending: Ending | null, at = clock.elapsed()): PagePlay => {
    const duration = Math.max(0, Math.round(at - elapsed));
    const missing = record.expected_ms - duration;
    const isWhole = missing <= 0 || !isLate(missing, record.expected_ms);
    const result = ending?.isFailed ? 'failed' : isWhole ? 'played' : 'cut';
    return {
      ...record,
      ended_at: new Date(wall + duration).toISOString(),
      duration_ms: duration,
      result,
      // Without a reason another slide was due, as on a page that catches up with the others.
      reason: result === 'played' ? null : (ending?.reason ?? 'schedule'),
      clock: record.clock === 'synced' ? trust() : record.clock,
    };
  };

  const keep = (play: PagePlay): void => {
    if (current !== null) current.expectedMs = Math.max(0, current.expectedMs - play.duration_ms);
    onPlay(play);
  };

  /** Ends each piece of the play under way that is as long as a play can be; the rest goes on as another play. */
  const split = (): void => {
    while (begun !== null && current !== null && clock.elapsed() - begun.elapsed > LONGEST_MS) {
      const end = begun.elapsed + LONGEST_MS;
      keep(close(begun, null, end));
      begun = open(current, end, begun.wall + LONGEST_MS);
    }
  };

  /** Ends the play that is under way; its slide stays on. */
  const stop = (ending: Ending | null): void => {
    split();
    if (begun === null) return;
    const play = close(begun, ending);
    begun = null;
    keep(play);
  };

  const resume = (): void => {
    if (current !== null && covered === null) begun = open(current);
  };

  return {
    /** A slide became visible and is to be on for `expectedMs`. */
    begin: (slide: Slide, expectedMs: number, place: PlaceOfPlay = nowhere): void => {
      stop(null);
      current = { slide, expectedMs, place };
      resume();
    },
    /** Why it ended; null: its time is over. */
    end: (ending: Ending | null): void => {
      stop(ending);
      current = null;
    },
    /** A slide that was due could not be prepared. */
    skip: (
      slide: Slide,
      { expectedMs, reason, isFailed }: { expectedMs: number; reason: string; isFailed: boolean },
      place: PlaceOfPlay = nowhere,
    ): void => {
      if (covered !== null) return;
      onPlay({ ...close(open({ slide, expectedMs, place }), null), result: isFailed ? 'failed' : 'skipped', reason });
    },
    /** What covers the slides, or null: nothing does. A play ends when it is covered, and another one begins afterwards. */
    cover: (reason: string | null): void => {
      if (reason === covered) return;
      const wasCovered = covered !== null;
      covered = reason;
      if (reason !== null) stop({ isFailed: false, reason });
      else if (wasCovered) resume();
    },
    /** The play in progress, as if the page ended now; null: no slide is playing. */
    underWay: (): PagePlay | null => {
      split();
      return begun === null ? null : close(begun, { isFailed: false, reason: 'page_ended' });
    },
  };
};
