/** Loads the page anew where it talks to another version of the service than the one that served it. */
import { leaveFor } from '../shared/leave.ts';

interface Moment {
  /** The version that served the page. */
  served: string;
  /** The version that answers it; null: not known. */
  answering: string | null;
  /** The versions for which pages of this tab have loaded themselves anew. */
  tried: readonly string[];
}

/** Once for each version: between the page and the service may be a cache, or several boxes. Pure. */
export const mustRenew = ({ served, answering, tried }: Moment): boolean =>
  answering !== null && answering !== served && !tried.includes(answering);

const KEY = 'signage.renewed';
const MOST_TRIED = 20;

/** Null: the browser denies its storage, so that nothing could prevent a loop. */
const readTried = (): string[] | null => {
  try {
    return JSON.parse(sessionStorage.getItem(KEY) ?? '[]') as string[];
  } catch {
    return null;
  }
};

const writeTried = (tried: readonly string[]): boolean => {
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
    /** A slide is over, or none is on. */
    boundary: async (): Promise<void> => {
      if (isLeaving || answering === null || answering === served || !isFree()) return;
      const tried = readTried();
      if (tried === null || !mustRenew({ served, answering, tried }) || !writeTried([...tried, answering])) return;
      isLeaving = true;
      isLeaving = await leaveFor(location.href);
      // A service that is just starting may answer at the next one.
      if (!isLeaving) writeTried(tried);
    },
  };
};
