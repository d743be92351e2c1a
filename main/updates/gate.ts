/**
 * The health gate of updates: whether a version that was put in may stay. Pure functions of what was recorded, what
 * happens and the time, in ms.
 */

/** A version that was put in and has not passed yet. */
interface Trial {
  version: string;
  /** The version that is kept beside it. */
  from: string;
  /** When it was started, within the last window; since the epoch, as far as the clock was right. */
  starts: number[];
}

/** What is recorded across restarts. */
export interface GateState {
  trial: Trial | null;
  /** Versions that failed here; they are not tried again. */
  failed: string[];
}

export const emptyState: GateState = { trial: null, failed: [] };

const MINUTE_MS = 60_000;
/** For how long a version must be well, without a break. */
export const PASS_MS = 5 * MINUTE_MS;
/** By when it must have passed. */
export const DEADLINE_MS = 20 * MINUTE_MS;
/** A version that is started this often within the window, without passing in between, crashes in a loop. */
const MOST_STARTS = 3;
const STARTS_WINDOW_MS = 10 * MINUTE_MS;
/** An installation that has not restarted the program by then never will. */
const INSTALL_MS = 30 * MINUTE_MS;

/** Enough to remember; older ones are older than what runs, and never offered again. */
const MOST_FAILED = 20;

const fail = ({ failed }: GateState, version: string): GateState => ({
  trial: null,
  failed: [...failed.filter((other) => other !== version), version].slice(-MOST_FAILED),
});

/** A version is about to be put in. */
export const begin = ({ failed }: GateState, version: string, from: string): GateState => ({
  trial: { version, from, starts: [] },
  failed,
});

/** It could not be put in; it may be tried again. */
export const abandon = ({ failed }: GateState): GateState => ({ trial: null, failed });

/** What a start leads to: nothing to judge; a version to watch; one that must go. */
export interface Start {
  state: GateState;
  verdict: 'settled' | 'watch' | 'roll back';
}

/** A version starts. */
export const start = (state: GateState, running: string, now: number): Start => {
  const { trial } = state;
  if (trial === null) return { state, verdict: 'settled' };
  // Another one runs: it was rolled back from outside, because it could not even come this far.
  if (trial.version !== running) return { state: fail(state, trial.version), verdict: 'settled' };
  // Either way: the clock of a box without a battery begins at the same moment each time.
  const starts = [...trial.starts.filter((at) => Math.abs(now - at) < STARTS_WINDOW_MS), now];
  if (starts.length >= MOST_STARTS) return { state: fail(state, running), verdict: 'roll back' };
  return { state: { ...state, trial: { ...trial, starts } }, verdict: 'watch' };
};

/** How a version on trial does; its times are by a steady clock. */
export interface Watch {
  startedAt: number;
  /** Since when it has been well without a break; null: it is not. */
  wellSince: number | null;
}

export const beginWatch = (now: number): Watch => ({ startedAt: now, wellSince: null });

/** One look at a version on trial. */
export const look = (watch: Watch, isWell: boolean, now: number): Watch | 'passed' | 'failed' => {
  const wellSince = isWell ? (watch.wellSince ?? now) : null;
  if (wellSince !== null && now - wellSince >= PASS_MS) return 'passed';
  if (now - watch.startedAt >= DEADLINE_MS) return 'failed';
  return { ...watch, wellSince };
};

/** The version on trial stays. */
export const pass = ({ failed }: GateState): GateState => ({ trial: null, failed });

/** The version on trial goes. */
export const refuse = (state: GateState): GateState =>
  state.trial === null ? state : fail(state, state.trial.version);

/** Whether an installation that this process has ordered has come to nothing; both times are by a steady clock. */
export const isOverdue = (orderedAt: number, now: number): boolean => now - orderedAt >= INSTALL_MS;

/** Whether a version may be put in. */
export const mayTry = ({ trial, failed }: GateState, version: string): boolean =>
  trial === null && !failed.includes(version);
