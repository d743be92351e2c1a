import type { PageLook } from '../../../service/contract/kiosk.ts';
import { type Age, agedFrom } from '../../../service/domain/age.ts';
import { type ExternalPage, openExternal } from '../external.ts';
import { createView, mediaUrl, type SlideFactory, Unplayable } from './slide.ts';

/** A page that could not be loaded again is tried at most so often, in ms; another is loaded for its age at most so often. */
const RETRY_MS = 5_000;
const EAGER_MS = 1_000;
/** However often the slide wants it, a page is loaded again at most so often, in ms. */
const LEAST_MS = 5_000;
/** The fastest that a page moves, in pixels a second. */
const FASTEST = 2_000;
/** The longest that a timer can wait, in ms. */
const LONGEST_MS = 2 ** 31 - 1;

const withinLimits = ({ scroll, ...look }: PageLook): PageLook =>
  scroll === undefined ? look : { ...look, scroll: Math.min(FASTEST, Math.max(-FASTEST, scroll)) };

/** A web page. While it is on, it is loaded again before it is too old. */
export const createWeb: SlideFactory = ({ slide, credentials, now, fail }) => {
  const view = createView('web');
  const url = mediaUrl(slide);
  const { refresh_seconds: wanted = Number.POSITIVE_INFINITY, ...given } = (slide.content?.['web'] ??
    {}) as PageLook & {
    refresh_seconds?: number;
  };
  const refreshMs = Math.max(LEAST_MS, wanted * 1_000);
  const look = withinLimits(given);
  const parent = document.createElement('div');
  parent.className = 'page';
  view.element.append(parent);
  const gone = new AbortController();
  let page: ExternalPage | null = null;
  let age: Age | null = null;
  let isSilent = false;
  /** The reason if the page was lost before it was shown. */
  let lost: string | null = null;
  let shown: Promise<void> | undefined;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const open = async (isEarly: boolean, signal: AbortSignal): Promise<ExternalPage> => {
    let opened: ExternalPage | null = null;
    const onGone = (reason: string): void => {
      // A replaced page may end, and `open` itself reports one that does not load.
      if (opened !== page) return;
      lost = reason;
      fail(reason);
    };
    opened = await openExternal(url, { parent, headers: credentials(), isSilent, isEarly, look, onGone }, signal);
    return opened;
  };

  const renew = async (): Promise<void> => {
    try {
      const before = page;
      const wasSilent = isSilent;
      const next = await open(false, gone.signal);
      page = next;
      try {
        // It began to load before a command or a takeover covered or uncovered the slide.
        if (isSilent !== wasSilent) await next.mute(isSilent);
        await next.show();
      } catch (error) {
        next.close();
        // A slide that has ended has closed the one that it knew.
        if (gone.signal.aborted) before?.close();
        else page = before;
        throw error;
      }
      age = agedFrom(now(), slide);
      // It is no longer the page of the slide: nothing else would close it.
      before?.close();
      schedule();
    } catch (error) {
      if (error instanceof Unplayable) return fail(error.message);
      // The one that is on stays, and becomes older.
      if (!gone.signal.aborted) timer = setTimeout(() => void renew(), RETRY_MS);
    }
  };
  const schedule = (): void => {
    // At half of what is left, so that the next one is there before this one is too old.
    const half = age === null ? Number.POSITIVE_INFINITY : (age.oldAt - now()) / 2;
    timer = setTimeout(() => void renew(), Math.min(refreshMs, Math.max(EAGER_MS, half), LONGEST_MS));
  };

  return {
    ...view,
    async prepare(signal) {
      page = await open(true, signal);
      age = agedFrom(now(), slide);
    },
    age: () => age,
    start() {
      view.start();
      shown = page?.show();
      if (lost !== null) fail(lost);
      schedule();
    },
    presented: async () => shown,
    mute: (silent) => {
      isSilent = silent;
      return page?.mute(silent);
    },
    destroy() {
      gone.abort();
      clearTimeout(timer);
      page?.close();
      view.destroy();
    },
  };
};
