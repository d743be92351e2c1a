import { type ForeignPage, type Opening, openForeign } from './external.ts';
import { type MediumContext, openMedium } from './medium.ts';
import type { SlideFactory } from './slides/slide.ts';

/** A page or a file of the operator's choice over the player, which stays alive underneath. */
export interface Redirect {
  /** The address that is shown; null: none. */
  readonly url: string | null;
  /**
   * Shows an http(s) address, or the path of a file of this service, full screen, in place of the one before, once it is
   * loaded. Resolves to whether it does: not where another was asked for meanwhile. Rejects with a sentence about one that
   * can't be shown.
   */
  show(url: string): Promise<boolean>;
  /**
   * While silent, nothing is heard of it; nor seen, since the screen is black. Resolves once it can be seen again, or takes
   * too long.
   */
  hush(silent: boolean): Promise<void> | undefined;
}

interface Dependencies {
  parent: HTMLElement;
  createSlide: SlideFactory;
  /** For a file. */
  context: MediumContext;
  /** What was shown is gone by itself, for this reason, and the player can be seen again. */
  onEnd(reason: string): void;
}

export const createRedirect = ({ parent, createSlide, context, onEnd }: Dependencies): Redirect => {
  let shown: { url: string; place: HTMLElement; page: ForeignPage } | null = null;
  let coming = new AbortController();
  let isSilent = false;

  const close = (): void => {
    shown?.page.close();
    shown?.place.remove();
    shown = null;
  };

  const open = (url: string, opening: Omit<Opening, 'headers'>, signal: AbortSignal): Promise<ForeignPage> =>
    url.startsWith('/')
      ? openMedium(url, opening, { createSlide, context }, signal)
      : openForeign(url, { ...opening, headers: context.credentials() }, signal);

  return {
    get url() {
      return shown?.url ?? null;
    },
    show: async (url) => {
      coming.abort(new Error('another page was asked for'));
      const mine = new AbortController();
      coming = mine;
      const place = document.createElement('div');
      place.className = 'redirect';
      parent.append(place);
      try {
        const wasSilent = isSilent;
        const onGone = (reason: string): void => {
          if (shown?.place !== place) return;
          close();
          onEnd(reason);
        };
        const page = await open(url, { parent: place, isSilent, isEarly: false, onGone }, mine.signal);
        if (isSilent !== wasSilent) void page.hush(isSilent);
        place.classList.add('on');
        void page.show();
        close();
        shown = { url, place, page };
        return true;
      } catch (error) {
        place.remove();
        if (mine.signal.aborted) return false;
        throw error;
      }
    },
    hush: (silent) => {
      if (silent === isSilent) return;
      isSilent = silent;
      return shown?.page.hush(silent);
    },
  };
};
