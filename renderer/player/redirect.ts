/** A page of the operator's choice over the player, which stays alive underneath. */
export interface Redirect {
  /** The address that is shown; null: none. */
  readonly url: string | null;
  /** Shows an http(s) address full screen, in place of the one before. */
  show(url: string): void;
}

export const createRedirect = (parent: HTMLElement): Redirect => {
  let frame: HTMLIFrameElement | null = null;
  let url: string | null = null;
  return {
    get url() {
      return url;
    },
    show: (next) => {
      frame?.remove();
      url = next;
      frame = document.createElement('iframe');
      frame.className = 'redirect';
      frame.tabIndex = -1;
      frame.sandbox.value = 'allow-scripts allow-same-origin allow-forms';
      frame.referrerPolicy = 'no-referrer';
      frame.src = next;
      parent.append(frame);
    },
  };
};
