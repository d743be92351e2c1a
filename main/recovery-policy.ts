/** The recovery policy of one screen: a pure function from events and their times to actions. */
import type { Beat } from './service-host.ts';

/** The events of a screen. */
export type Happening =
  /** A page is being opened in a window of its own. */
  | { type: 'opened' }
  | { type: 'beat'; beat: Beat }
  /** The page's process ended, or the page could not be loaded. */
  | { type: 'lost'; reason: string }
  /** The memory of the page's process, in bytes. */
  | { type: 'memory'; bytes: number }
  /** Sent regularly, so that missing heartbeats are noticed. */
  | { type: 'look' };

/** The action and its reason. `page` opens the screen's page; `reload` does too, but the page had not failed. */
export type Step =
  | { to: 'recreate' | 'reload' | 'relaunch'; reason: string }
  /** The local page, for so long; then `recreate`. */
  | { to: 'fallback'; reason: string; ms: number };

/** Times are ms of a monotonic clock. */
export interface Ladder {
  openedAt: number;
  lookedAt: number;
  /** The last heartbeat of the open page; null: none yet. */
  last: Beat | null;
  beatAt: number;
  /** When the picture last moved, or did not have to. */
  movedAt: number;
  /** The times of page failures in the last minute. */
  failures: readonly number[];
  /** The times at which the local page was opened in the last hour. */
  fallbacks: readonly number[];
  /** When the local page ends, while it is shown. */
  fallbackUntil: number | null;
  /** Since when the page uses too much memory and waits for the end of its slide. */
  heavySince: number | null;
}

export const limits = {
  /** The heartbeat interval of a page, in ms. */
  beatMs: 3_000,
  /** The number of heartbeats that may be missing. */
  missingBeats: 3,
  /** The deadline for the first heartbeat, in ms; long, because some boxes are slow. */
  firstBeatMs: 30_000,
  frozenMs: 20_000,
  failures: 3,
  failuresWithinMs: 60_000,
  fallbacks: 5,
  fallbacksWithinMs: 60 * 60_000,
  /** How long the local page stays, in ms; three times as long after each further failure. */
  shortestFallbackMs: 10_000,
  longestFallbackMs: 5 * 60_000,
  /** A longer gap between ticks, in ms, means that the machine slept or that this process was busy. */
  sleptMs: 5_000,
  /** A page that uses too much memory is reloaded at the end of its slide, or after this time in ms. */
  longestSlideMs: 5 * 60_000,
} as const;

/** Above `soft` bytes a page is reloaded between two slides, above `hard` bytes at once; by the machine's memory. */
export const memoryBudget = (machineBytes: number): { soft: number; hard: number } => {
  const soft = Math.min(1024 ** 3, machineBytes / 4);
  return { soft, hard: soft * 1.75 };
};

export const createLadder = (now: number): Ladder => ({
  openedAt: now,
  lookedAt: now,
  last: null,
  beatAt: now,
  movedAt: now,
  failures: [],
  fallbacks: [],
  fallbackUntil: null,
  heavySince: null,
});

const within = (moments: readonly number[], now: number, ms: number): number[] =>
  moments.filter((moment) => now - moment < ms);

/** Whether the picture moved between two heartbeats, if it should have. */
const hasMoved = (beat: Beat, before: Beat | null): boolean => {
  if (beat.hidden) return true;
  if (beat.frames === 0) return false;
  if (beat.video === null || before?.video == null || before.slide !== beat.slide) return true;
  return beat.video.frames > 0 && beat.video.time !== before.video.time;
};

const fail = (ladder: Ladder, reason: string, now: number): [Ladder, Step] => {
  const failures = [...within(ladder.failures, now, limits.failuresWithinMs), now];
  if (failures.length < limits.failures)
    return [
      { ...ladder, failures },
      { to: 'recreate', reason },
    ];
  const fallbacks = [...within(ladder.fallbacks, now, limits.fallbacksWithinMs), now];
  if (fallbacks.length >= limits.fallbacks) {
    return [
      { ...ladder, failures: [], fallbacks: [] },
      { to: 'relaunch', reason },
    ];
  }
  const ms = Math.min(limits.longestFallbackMs, limits.shortestFallbackMs * 3 ** (fallbacks.length - 1));
  return [
    { ...ladder, failures: [], fallbacks, fallbackUntil: now + ms },
    { to: 'fallback', reason, ms },
  ];
};

/** What is wrong with a page at a time; null: nothing. */
const faultOf = (ladder: Ladder, now: number): string | null => {
  if (ladder.last === null) {
    return now - ladder.openedAt > limits.firstBeatMs
      ? `the page did not come up in ${limits.firstBeatMs / 1000} s`
      : null;
  }
  const silentMs = (limits.missingBeats + 1) * limits.beatMs;
  if (now - ladder.beatAt > silentMs) return `the page has not answered for ${silentMs / 1000} s`;
  if (now - ladder.movedAt > limits.frozenMs) return `the picture has not moved for ${limits.frozenMs / 1000} s`;
  return null;
};

/** @param now ms of a monotonic clock */
export const climb = (
  ladder: Ladder,
  happening: Happening,
  now: number,
  budget: { soft: number; hard: number },
): [Ladder, Step | null] => {
  switch (happening.type) {
    case 'opened':
      return [{ ...ladder, openedAt: now, last: null, beatAt: now, movedAt: now, heavySince: null }, null];
    case 'lost':
      return ladder.fallbackUntil === null ? fail(ladder, happening.reason, now) : [ladder, null];
    case 'memory': {
      const { bytes } = happening;
      const reason = `the page takes ${Math.round(bytes / 1024 ** 2)} MiB`;
      if (ladder.fallbackUntil !== null) return [ladder, null];
      if (bytes > budget.hard) return [ladder, { to: 'recreate', reason }];
      return [{ ...ladder, heavySince: bytes > budget.soft ? (ladder.heavySince ?? now) : null }, null];
    }
    case 'beat': {
      const { beat } = happening;
      if (ladder.fallbackUntil !== null) return [ladder, null];
      const movedAt = hasMoved(beat, ladder.last) ? now : ladder.movedAt;
      const isBetween = ladder.last !== null && ladder.last.slide !== beat.slide;
      const next = { ...ladder, last: beat, beatAt: now, movedAt };
      return [
        next,
        ladder.heavySince !== null && isBetween ? { to: 'reload', reason: 'the page takes much memory' } : null,
      ];
    }
    case 'look': {
      const gap = now - ladder.lookedAt;
      const slept = gap > limits.sleptMs ? gap : 0;
      const next = {
        ...ladder,
        lookedAt: now,
        openedAt: ladder.openedAt + slept,
        beatAt: ladder.beatAt + slept,
        movedAt: ladder.movedAt + slept,
      };
      if (next.fallbackUntil !== null) {
        if (now < next.fallbackUntil) return [next, null];
        return [
          { ...next, fallbackUntil: null },
          { to: 'recreate', reason: 'the wait is over' },
        ];
      }
      const fault = faultOf(next, now);
      if (fault !== null) return fail(next, fault, now);
      const isOverdue = next.heavySince !== null && now - next.heavySince > limits.longestSlideMs;
      return [next, isOverdue ? { to: 'reload', reason: 'the page takes much memory' } : null];
    }
  }
};

/** Whether the GPU process crashed so often that the box continues without it: 3 times in 10 minutes. */
export const gpuLost = (losses: readonly number[], now: number): { losses: number[]; isUnfit: boolean } => {
  const recent = [...within(losses, now, 10 * 60_000), now];
  return { losses: recent, isUnfit: recent.length >= 3 };
};
