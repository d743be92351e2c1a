import { createFrame, hushFrame, type Overlay, openOverlay, reach } from './foreign.ts';

/** A page of the operator's choice over the player, which stays alive underneath. */
export interface Redirect {
  /** The address that is shown; null: none. */
  readonly url: string | null;
  /** Shows an http(s) address full screen, in place of the one before. Rejects where nobody answers there with a page that can be shown. */
  show(url: string): Promise<void>;
  /** While silent, nothing is heard of it; nor seen, since the screen is black. */
  hush(silent: boolean): void;
}

const ANSWER_MS = 10_000;

export const createRedirect = (parent: HTMLElement, credentials: () => Record<string, string>): Redirect => {
  let frame: HTMLIFrameElement | null = null;
  let overlay: Overlay | null = null;
  let url: string | null = null;
  let isSilent = false;
  return {
    get url() {
      return url;
    },
    show: async (next) => {
      const within = AbortSignal.timeout(ANSWER_MS);
      const opened = (await reach(next, credentials(), within)) === 'view' ? await openOverlay(next, within) : null;
      frame?.remove();
      frame = null;
      overlay?.close();
      overlay = opened;
      url = next;
      if (opened !== null) {
        if (!isSilent) opened.show();
        return;
      }
      frame = createFrame(next);
      frame.className = 'redirect';
      hushFrame(frame, next, isSilent);
      parent.append(frame);
    },
    hush: (silent) => {
      if (silent === isSilent) return;
      isSilent = silent;
      if (frame !== null && url !== null) hushFrame(frame, url, silent);
      if (silent) overlay?.hide();
      else overlay?.show();
    },
  };
};
