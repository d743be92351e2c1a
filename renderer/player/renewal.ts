/** Reloads the page when version or time zone of the service have changed, or when a part of the page is missing. */
import { leaveFor } from '../shared/retry.ts';

/** A version is that of the service together with its time zone. */
interface Moment {
  /** The version that served the page. */
  served: string;
  /** The version that answers it; null: not known. */
  answering: string | null;
  /** Whether a part of the page could not be loaded. */
  isIncomplete: boolean;
  /** Why and when this tab has reloaded. */
  tried: readonly Trial[];
  /** ms since the epoch */
  time: number;
}

interface Trial {
  /** The version that answered, or {@link INCOMPLETE}. */
  version: string;
  /** ms since the epoch */
  at: number;
}

const INCOMPLETE = 'incomplete';
/** After an update, a return to the version before and the update again, the version is a new one. */
const TRIAL_MS = 3_600_000;
/** A browser may be too old for a part, which no reload mends. */
const INCOMPLETE_MS = 86_400_000;

/**
 * Why the page must reload; null: it must not. Once an hour for each version: between the page and the service may be a
 * cache, or several boxes. Also after the clock was set back. Pure.
 */
export const renewalFor = ({ served, answering, isIncomplete, tried, time }: Moment): string | null => {
  const isDue = (reason: string, ms: number): boolean =>
    !tried.some(({ version, at }) => version === reason && Math.abs(time - at) < ms);
  if (answering !== null && answering !== served && isDue(answering, TRIAL_MS)) return answering;
  return isIncomplete && isDue(INCOMPLETE, INCOMPLETE_MS) ? INCOMPLETE : null;
};

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

/** @param isFree whether a reload loses nothing */
export const createRenewal = (served: string, isFree: () => boolean) => {
  let answering: string | null = null;
  let isIncomplete = false;
  let isLeaving = false;
  return {
    /** Called with the version of the service, whenever it answers. */
    onVersion: (version: string): void => {
      answering = version;
    },
    /** Called when a part of the page could not be loaded: not every browser asks for it again. */
    onIncomplete: (): void => {
      isIncomplete = true;
    },
    /** Called at the end of each slide, and when there is none. */
    boundary: async (): Promise<void> => {
      if (isLeaving || !isFree()) return;
      const [tried, time] = [readTried(), Date.now()];
      const version = tried && renewalFor({ served, answering, isIncomplete, tried, time });
      if (tried === null || version === null || !writeTried([...tried, { version, at: time }])) return;
      isLeaving = true;
      isLeaving = await leaveFor(location.href);
      // A service that is just starting may answer at the next one.
      if (!isLeaving) writeTried(tried);
    },
  };
};
