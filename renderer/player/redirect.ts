import { type ForeignPage, openForeign } from './foreign.ts';

/** A page of the operator's choice over the player, which stays alive underneath. */
export interface Redirect {
  /** The address that is shown; null: none. */
  readonly url: string | null;
  /**
   * Shows an http(s) address full screen, in place of the one before, once it is loaded. Resolves to whether it does:
   * not where another was asked for meanwhile. Rejects with a sentence about a page that can't be shown.
   */
  show(url: string): Promise<boolean>;
  /**
   * While silent, nothing is heard of it; nor seen, since the screen is black. Resolves once it can be seen again, or takes
   * too long.
   */
  hush(silent: boolean): Promise<void> | undefined;
}

export const createRedirect = (parent: HTMLElement, credentials: () => Record<string, string>): Redirect => {
  let shown: { url: string; place: HTMLElement; page: ForeignPage } | null = null;
  let coming = new AbortController();
  let isSilent = false;
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
        const page = await openForeign(url, { parent: place, headers: credentials(), isSilent }, mine.signal);
        if (isSilent !== wasSilent) void page.hush(isSilent);
        place.classList.add('on');
        page.show();
        shown?.page.close();
        shown?.place.remove();
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
