/** The state of a remote file that the content names, and its transitions. */
import type { FetchFault } from '../../platform/outbound/fault.ts';
import { isOutOfSpace } from '../download.ts';
import type { FetchHeld } from '../fetch-limits.ts';
import { retryAfter } from './freshness.ts';
import type { Named } from './named.ts';
import type { AwaitsPeer } from './storing.ts';

export interface MediumState extends Named {
  /** When it is next checked, ms since the epoch. */
  due: number;
  /** Consecutive failures. */
  failures: number;
  reason: string | null;
  /** The file is needed, and is not fetched at this time of day. */
  isHeld: boolean;
  /** The last attempt failed only for lack of space, so the address passed all network checks. */
  isOutOfSpace: boolean;
  /** Since when another box is to download the file, ms since the epoch; null: this one does. */
  waitsSince: number | null;
}

const faultless = { failures: 0, reason: null, isHeld: false } as const;

export const newState = (named: Named, due: number): MediumState => ({
  ...named,
  ...faultless,
  ...{ due, isOutOfSpace: false, waitsSince: null },
});

/** The copy is current. @param due when it is checked next */
export const noteDone = (state: MediumState, due: number): void => {
  Object.assign(state, faultless, { isOutOfSpace: false, due });
};

/**
 * The file is not fetched at this time of day.
 * @param isNeeded whether there is no copy; an update of a copy can wait
 * @param longest until it is checked again, ms
 */
export const noteHeld = (
  state: MediumState,
  { message, pause }: FetchHeld,
  isNeeded: boolean,
  longest: number,
): void => {
  state.due = Date.now() + Math.min(pause, longest);
  state.isHeld = isNeeded;
  state.waitsSince = null;
  if (isNeeded) state.reason = message;
};

/**
 * Another box downloads the file. An earlier error is kept until that succeeds, because the download may fall back to
 * this box.
 */
export const noteAwaited = (state: MediumState, { pause, isComing }: AwaitsPeer): void => {
  state.due = Date.now() + pause;
  if (isComing || state.isHeld) Object.assign(state, faultless);
};

export const noteFailed = (state: MediumState, fault: FetchFault): void => {
  state.isHeld = false;
  state.failures += 1;
  state.reason = fault.message;
  state.isOutOfSpace = isOutOfSpace(fault.cause);
  state.due = Date.now() + retryAfter(state.failures, fault, Math.random());
};
