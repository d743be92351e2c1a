/** Pages of others, in frames: looked at and not touched. */

/** Scripts, storage and forms of the page's own, so that dashboards work; no windows, no leaving, no downloads. */
const FOREIGN = 'allow-scripts allow-forms allow-same-origin';
/** A page of this very origin could take the sandbox off again: it runs as if it came from nowhere. */
const OWN = 'allow-scripts allow-forms';

/**
 * Resolves where somebody answers at the address. A frame says nothing of a page that can't be reached, and shows the
 * browser's own error page; so it is asked for first.
 */
export const reach = async (url: string, signal: AbortSignal): Promise<void> => {
  const abort = new AbortController();
  await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([signal, abort.signal]) });
  abort.abort();
};

/** A frame for a page; it loads nothing before it has its `src`. */
export const createFrame = (url: string): HTMLIFrameElement => {
  const frame = document.createElement('iframe');
  frame.tabIndex = -1;
  frame.inert = true;
  frame.referrerPolicy = 'strict-origin';
  frame.sandbox.value = new URL(url, location.href).origin === location.origin ? OWN : FOREIGN;
  return frame;
};

/** Silences a frame in the one way that there is across origins: its page is left, and loaded anew afterwards. */
export const hushFrame = (frame: HTMLIFrameElement, url: string, silent: boolean): void => {
  frame.src = silent ? 'about:blank' : url;
};
