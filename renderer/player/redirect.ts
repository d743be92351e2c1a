import { type ExternalPage, type Opening, openExternal } from './external.ts';
import { type MediumContext, openMedium } from './medium.ts';
import type { SlideFactory } from './slides/slide.ts';

/** An external page or a file over the player, which keeps running underneath. */
export interface Redirect {
  /** The address that is shown; null: no redirect is shown. */
  readonly url: string | null;
  /**
   * Loads an http(s) address, or the path of a file of the service, and then shows it full screen in place of the previous
   * one. Resolves to false if another address was requested meanwhile. Rejects with a reason if it can't be shown.
   */
  show(url: string): Promise<boolean>;
  /**
   * Mutes or unmutes the page for a blackout; while muted it is also hidden. Resolves once it has a picture again, or
   * after a time limit.
   */
  mute(silent: boolean): Promise<void> | undefined;
}

interface Dependencies {
  parent: HTMLElement;
  createSlide: SlideFactory;
  /** Context for the slide that shows a file. */
  context: MediumContext;
  /** Called when the page has closed on its own; the player is visible again. */
  onEnd(reason: string): void;
}

export const createRedirect = ({ parent, createSlide, context, onEnd }: Dependencies): Redirect => {
  let shown: { url: string; place: HTMLElement; page: ExternalPage } | null = null;
  let loading = new AbortController();
  let isSilent = false;

  const close = (): void => {
    shown?.page.close();
    shown?.place.remove();
    shown = null;
  };

  const open = (url: string, opening: Omit<Opening, 'headers'>, signal: AbortSignal): Promise<ExternalPage> =>
    url.startsWith('/')
      ? openMedium(url, opening, { createSlide, context }, signal)
      : openExternal(url, { ...opening, headers: context.credentials() }, signal);

  return {
    get url() {
      return shown?.url ?? null;
    },
    show: async (url) => {
      loading.abort(new Error('another page was requested'));
      const mine = new AbortController();
      loading = mine;
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
        if (isSilent !== wasSilent) void page.mute(isSilent);
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
    mute: (silent) => {
      if (silent === isSilent) return;
      isSilent = silent;
      return shown?.page.mute(silent);
    },
  };
};
