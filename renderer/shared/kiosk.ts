import type { KioskBridge, PageCover } from '../../service/contract/kiosk.ts';

/** The API of the kiosk; undefined in a browser. */
export const findKiosk = (): KioskBridge | undefined => (globalThis as { kiosk?: KioskBridge }).kiosk;

/** A page that is replaced gets no answer. */
const RETRY_MS = 5_000;

/** Calls `listener` each time that the kiosk covers or uncovers the page; never in a browser. */
export const watchCover = (listener: (cover: PageCover) => void): void => {
  const kiosk = findKiosk();
  const follow = async ({ cover }: KioskBridge): Promise<never> => {
    // A page loads under another one; the kiosk answers immediately if no page is loading.
    listener('hidden');
    for (let known: PageCover = 'hidden'; ; ) {
      const current: PageCover = await cover(known).catch(() => known);
      if (current === known) await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      else listener(current);
      known = current;
    }
  };
  if (kiosk !== undefined) void follow(kiosk);
};
