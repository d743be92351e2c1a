/** Reloads the page when the version of the service differs from the one that served it. */
import { leaveFor } from '../shared/leave.ts';

interface Moment {
  /** The version that served the page. */
  served: string;
  /** The version that answers it; null: not known. */
  answering: string | null;
  /** The versions for which this tab has reloaded. */
  tried: readonly Trial[];
  /** ms since the epoch */
  time: number;
}

interface Trial {
  version: string;
  /** ms since the epoch */
  at: number;
}

/** After an update, a return to the version before and the update again, the version is a new one. */
const TRIAL_MS = 3_600_000;

/**
 * Once an hour for each version: between the page and the service may be a cache, or several boxes. Also after the clock was
 * set back. Pure.
 */
export const mustRenew = ({ served, answering, tried, time }: Moment): boolean =>
  answering !== null &&
  answering !== served &&
  !tried.some(({ version, at }) => version === answering && Math.abs(time - at) < TRIAL_MS);

const KEY = 'signage.renewals';
const MOST_TRIED = 20;

/** Null: the browser denies its storage, so that nothing could prevent a loop. */
const readTried = (): Trial[] | null => {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as Trial[];
  } catch {
    return null;
  }
};

const writeTried = (tried: readonly Trial[]): boolean => {
  try {
    sessionStorage.setItem(KEY, JSON.stringify(tried.slice(-MOST_TRIED)));
    return true;
  } catch {
    return false;
  }
};

/** @param isFree whether nothing but the playlist is on, which a new page would not know of */
export const createRenewal = (served: string, isFree: () => boolean) => {
  let answering: string | null = null;
  let isLeaving = false;
  return {
    /** Called with the version of the service, whenever it answers. */
    onVersion: (version: string): void => {
      answering = version;
    },
    /** Called at the end of each slide, and when there is none. */
    boundary: async (): Promise<void> => {
      if (isLeaving || answering === null || answering === served || !isFree()) return;
      const [tried, time] = [readTried(), Date.now()];
      if (tried === null || !mustRenew({ served, answering, tried, time })) return;
      if (!writeTried([...tried, { version: answering, at: time }])) return;
      isLeaving = true;
      isLeaving = await leaveFor(location.href);
      // A service that is just starting may answer at the next one.
      if (!isLeaving) writeTried(tried);
    },
  };
};
