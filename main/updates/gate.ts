/**
 * The health gate of updates: decides whether an installed version is kept or rolled back. Pure functions of the recorded
 * state, events and the time in ms.
 */

/** An installed version that has not proved healthy yet. */
interface Trial {
  version: string;
  /** The previous version, which is kept for a rollback. */
  from: string;
  /** Its starts within the last window, in ms since the epoch; the clock may be wrong. */
  starts: number[];
  /** Whether a display was there to judge it by: at any of its starts, or not at the last one; absent: that got not so far. */
  display?: 'seen' | 'absent' | undefined;
}

/** The state that is stored across restarts. */
export interface GateState {
  trial: Trial | null;
  /** Versions that failed on this box and are not installed again. */
  failed: string[];
  /** A version whose trial ended without a start, where nothing else tells whether it was installed: a second time it has failed. */
  missed?: string | undefined;
}

export const emptyState: GateState = { trial: null, failed: [] };

const MINUTE_MS = 60_000;
/** How long a version must be healthy without interruption. */
export const PASS_MS = 5 * MINUTE_MS;
/** The deadline for that, from its start. */
export const DEADLINE_MS = 20 * MINUTE_MS;
/** A version that starts this often within the window without passing is in a crash loop. */
const MAX_STARTS = 3;
const STARTS_WINDOW_MS = 10 * MINUTE_MS;
/** An installation that has not restarted the app by then has failed. */
const INSTALL_MS = 30 * MINUTE_MS;

/** Older entries are older than the running version and never offered again. */
const MAX_FAILED = 20;

const fail = ({ failed }: GateState, version: string): GateState => ({
  trial: null,
  failed: [...failed.filter((other) => other !== version), version].slice(-MAX_FAILED),
});

/** A version is about to be installed. */
export const begin = (state: GateState, version: string, from: string): GateState => ({
  ...state,
  trial: { version, from, starts: [] },
});

/** The installation failed; it may be repeated. */
export const abandon = ({ failed }: GateState): GateState => ({ trial: null, failed });

/** The verdict on a start: no trial, a trial to watch, or a version to roll back. */
export interface Start {
  state: GateState;
  verdict: 'settled' | 'watch' | 'roll back';
}

/**
 * A version starts.
 * @param wasGivenUp whether one that does not run has failed, and was not merely never installed
 * @param isSystem whether it is a system of an image, which may use all three of its boots
 */
export const start = (state: GateState, running: string, now: number, wasGivenUp = true, isSystem = false): Start => {
  const { trial } = state;
  if (trial === null) return { state, verdict: 'settled' };
  // Another version runs: the trial was rolled back from outside, because it did not even get here, or had no display for days.
  if (trial.version !== running) {
    // A package is given up by its crashes alone, also before the next of its starts could be noted.
    const hasFailed = wasGivenUp && !(isSystem && trial.display === 'absent');
    return { state: hasFailed ? fail(state, trial.version) : abandon(state), verdict: 'settled' };
  }
  // In both directions: the clock of a box without a battery starts at the same time after each boot.
  const starts = [...trial.starts.filter((at) => Math.abs(now - at) < STARTS_WINDOW_MS), now];
  if (starts.length >= (isSystem ? MAX_STARTS + 1 : MAX_STARTS))
    return { state: fail(state, running), verdict: 'roll back' };
  const display = trial.display === 'seen' ? 'seen' : undefined;
  return { state: { ...state, trial: { ...trial, starts, display } }, verdict: 'watch' };
};

/**
 * Notes whether there is a display.
 * @param isHealthy as in {@link check}; false says nothing of it, because the service may not run yet
 * @returns the same state where that is known
 */
export const note = (state: GateState, isHealthy: boolean | null): GateState => {
  const { trial } = state;
  const display = isHealthy === null ? 'absent' : 'seen';
  if (trial === null || isHealthy === false || trial.display === 'seen' || trial.display === display) return state;
  return { ...state, trial: { ...trial, display } };
};

/** The health of a version on trial. Times are ms of a monotonic clock. */
export interface Watch {
  startedAt: number;
  /** Since when it has been healthy without interruption; null: it is not healthy. */
  healthySince: number | null;
}

export const beginWatch = (now: number): Watch => ({ startedAt: now, healthySince: null });

/** Checks a version on trial. @param isHealthy null: no display is there to tell by, so no time passes */
export const check = (watch: Watch, isHealthy: boolean | null, now: number): Watch | 'passed' | 'failed' => {
  if (isHealthy === null) return beginWatch(now);
  const healthySince = isHealthy ? (watch.healthySince ?? now) : null;
  if (healthySince !== null && now - healthySince >= PASS_MS) return 'passed';
  if (now - watch.startedAt >= DEADLINE_MS) return 'failed';
  return { ...watch, healthySince };
};

/** The version on trial is kept. */
export const pass = ({ failed }: GateState): GateState => ({ trial: null, failed });

/** The version on trial is rolled back. */
export const reject = (state: GateState): GateState =>
  state.trial === null ? state : fail(state, state.trial.version);

/** Whether an installation that this process ordered has failed. Times are ms of a monotonic clock. */
export const isOverdue = (orderedAt: number, now: number): boolean => now - orderedAt >= INSTALL_MS;

export const mayInstall = ({ trial, failed }: GateState, version: string): boolean =>
  trial === null && !failed.includes(version);
