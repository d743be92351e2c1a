/** The recovery policy of one display window: a pure function from events and their times to actions. */
import type { Heartbeat } from '../../service/public.ts';
/** The events of a display window. */
export type RecoveryEvent =
  /** A page is being opened in a window of its own. */
  | { type: 'opened' }
  | { type: 'heartbeat'; heartbeat: Heartbeat }
  /** The page's process ended, or the page could not be loaded. */
  | { type: 'lost'; reason: string }
  /** The memory of the page's process, in bytes. */
  | { type: 'memory'; bytes: number }
  /** Sent regularly, so that missing heartbeats are noticed. */
  | { type: 'tick' };

/** The action and its reason. `page` opens the screen's page; `reload` does too, but the page had not failed. */
export type RecoveryStep =
  | { to: 'recreate' | 'reload' | 'relaunch'; reason: string }
  /** The local page, for this time; then `recreate`. */
  | { to: 'fallback'; reason: string; ms: number };

/** Times are ms of a monotonic clock. */
export interface RecoveryState {
  openedAt: number;
  /** The deadline of the open page's first heartbeat, in ms: longer for a box that has proved to be slow. */
  startMs: number;
  tickedAt: number;
  /** The last heartbeat of the open page; null: none yet. */
  last: Heartbeat | null;
  heartbeatAt: number;
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
  heartbeatMs: 3_000,
  /** The number of heartbeats that may be missing; more where a page needs longer than the first deadline to start. */
  missingHeartbeats: 3,
  /** The deadline for the first heartbeat, in ms; doubled after each page that missed it, up to the longest. */
  firstHeartbeatMs: 30_000,
  longestFirstHeartbeatMs: 4 * 60_000,
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
  /** A page that uses too much memory is reloaded at the end of its slide, or after this time in ms, if it is free. */
  longestSlideMs: 5 * 60_000,
} as const;

/** Above `soft` bytes a free page is reloaded between two slides, above `hard` bytes any immediately; by the machine's memory. */
export const memoryBudget = (machineBytes: number): { soft: number; hard: number } => {
  const soft = Math.min(1024 ** 3, machineBytes / 4);
  return { soft, hard: soft * 1.75 };
};

export const initialRecoveryState = (now: number): RecoveryState => ({
  openedAt: now,
  startMs: limits.firstHeartbeatMs,
  tickedAt: now,
  last: null,
  heartbeatAt: now,
  movedAt: now,
  failures: [],
  fallbacks: [],
  fallbackUntil: null,
  heavySince: null,
});

const within = (moments: readonly number[], now: number, ms: number): number[] =>
  moments.filter((moment) => now - moment < ms);

/** Whether the picture moved between two heartbeats, if it should have. */
const hasMoved = (heartbeat: Heartbeat, before: Heartbeat | null): boolean => {
  if (heartbeat.hidden) return true;
  if (heartbeat.frames === 0) return false;
  if (heartbeat.video === null || before?.video == null || before.slide !== heartbeat.slide) return true;
  return heartbeat.video.frames > 0 && heartbeat.video.time !== before.video.time;
};

/** A page that starts slowly starts slowly again, and one that is ended before it has started never does. */
const startMsAfter = (tookMs: number): number =>
  Math.min(limits.longestFirstHeartbeatMs, Math.max(limits.firstHeartbeatMs, 2 * tookMs));

const fail = (state: RecoveryState, reason: string, now: number): [RecoveryState, RecoveryStep] => {
  const failures = [...within(state.failures, now, limits.failuresWithinMs), now];
  if (failures.length < limits.failures)
    return [
      { ...state, failures },
      { to: 'recreate', reason },
    ];
  const fallbacks = [...within(state.fallbacks, now, limits.fallbacksWithinMs), now];
  if (fallbacks.length >= limits.fallbacks) {
    return [
      { ...state, failures: [], fallbacks: [] },
      { to: 'relaunch', reason },
    ];
  }
  const ms = Math.min(limits.longestFallbackMs, limits.shortestFallbackMs * 3 ** (fallbacks.length - 1));
  return [
    { ...state, failures: [], fallbacks, fallbackUntil: now + ms },
    { to: 'fallback', reason, ms },
  ];
};

/** Why the open page counts as failed; null: it does not. A machine that starts pages slowly is slow at the rest too. */
const failureOf = (state: RecoveryState, now: number): string | null => {
  if (state.last === null) {
    return now - state.openedAt > state.startMs
      ? `the page did not start within ${Math.round(state.startMs / 1000)} s`
      : null;
  }
  const slowness = state.startMs / limits.firstHeartbeatMs;
  const silentMs = slowness * (limits.missingHeartbeats + 1) * limits.heartbeatMs;
  if (now - state.heartbeatAt > silentMs) return `the page has not answered for ${Math.round(silentMs / 1000)} s`;
  const frozenMs = slowness * limits.frozenMs;
  if (now - state.movedAt > frozenMs) return `the picture has not moved for ${Math.round(frozenMs / 1000)} s`;
  return null;
};

/** @param now ms of a monotonic clock */
export const decideRecovery = (
  state: RecoveryState,
  event: RecoveryEvent,
  now: number,
  budget: { soft: number; hard: number },
): [RecoveryState, RecoveryStep | null] => {
  switch (event.type) {
    case 'opened':
      return [{ ...state, openedAt: now, last: null, heartbeatAt: now, movedAt: now, heavySince: null }, null];
    case 'lost':
      return state.fallbackUntil === null ? fail(state, event.reason, now) : [state, null];
    case 'memory': {
      const { bytes } = event;
      const reason = `the page uses ${Math.round(bytes / 1024 ** 2)} MiB`;
      if (state.fallbackUntil !== null) return [state, null];
      if (bytes > budget.hard) return [state, { to: 'recreate', reason }];
      return [{ ...state, heavySince: bytes > budget.soft ? (state.heavySince ?? now) : null }, null];
    }
    case 'heartbeat': {
      const { heartbeat } = event;
      if (state.fallbackUntil !== null) return [state, null];
      const movedAt = hasMoved(heartbeat, state.last) ? now : state.movedAt;
      const isBetween = state.last !== null && state.last.slide !== heartbeat.slide;
      const startMs = state.last === null ? startMsAfter(now - state.openedAt) : state.startMs;
      const next = { ...state, startMs, last: heartbeat, heartbeatAt: now, movedAt };
      const isDue = state.heavySince !== null && isBetween && heartbeat.free;
      return [next, isDue ? { to: 'reload', reason: 'the page uses too much memory' } : null];
    }
    case 'tick': {
      const gap = now - state.tickedAt;
      const slept = gap > limits.sleptMs ? gap : 0;
      // A new page would light up in a blackout: its slide counts from the end of that.
      const isHeld = state.heavySince !== null && state.last?.free === false;
      // Without a display the page may have been heard in the gap.
      const later = (at: number): number => Math.min(now, at + slept);
      const next = {
        ...state,
        heavySince: isHeld ? now : state.heavySince,
        tickedAt: now,
        openedAt: later(state.openedAt),
        heartbeatAt: later(state.heartbeatAt),
        movedAt: later(state.movedAt),
      };
      if (next.fallbackUntil !== null) {
        if (now < next.fallbackUntil) return [next, null];
        return [
          { ...next, fallbackUntil: null },
          { to: 'recreate', reason: 'the fallback page was shown long enough' },
        ];
      }
      const failure = failureOf(next, now);
      if (failure !== null) {
        // Another page of this process would not start either.
        if (next.last === null && next.startMs === limits.longestFirstHeartbeatMs)
          return [initialRecoveryState(now), { to: 'relaunch', reason: failure }];
        const startMs = next.last === null ? startMsAfter(next.startMs) : next.startMs;
        return fail({ ...next, startMs }, failure, now);
      }
      const isOverdue = next.heavySince !== null && now - next.heavySince > limits.longestSlideMs;
      return [next, isOverdue ? { to: 'reload', reason: 'the page uses too much memory' } : null];
    }
  }
};

/** Whether the GPU process crashed so often that the box continues without it: 3 times in 10 minutes. */
export const gpuLost = (losses: readonly number[], now: number): { losses: number[]; isUnfit: boolean } => {
  const recent = [...within(losses, now, 10 * 60_000), now];
  return { losses: recent, isUnfit: recent.length >= 3 };
};
