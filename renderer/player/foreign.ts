/** Pages of others, in frames: looked at and not touched. */
import type { FrameVerdict } from '../../service/wire.ts';

/** Scripts, storage and forms of the page's own, so that dashboards work; no windows, no leaving, no downloads. */
const FOREIGN = 'allow-scripts allow-forms allow-same-origin';
/** A page of this very origin could take the sandbox off again: it runs as if it came from nowhere. */
const OWN = 'allow-scripts allow-forms';

/** Why the page at an address would not show itself in a frame; null where it would, or where nobody can say. */
const refusalOf = async (url: string, headers: Record<string, string>, signal: AbortSignal): Promise<string | null> => {
  const query = new URLSearchParams({ url, origin: location.origin });
  try {
    const response = await fetch(`/api/frames?${query}`, { headers, cache: 'no-store', signal });
    return response.ok ? ((await response.json()) as FrameVerdict).reason : null;
  } catch {
    return null;
  }
};

/**
 * Resolves where somebody answers at the address with a page that can be framed; rejects with a sentence about it.
 * A frame says nothing of a page that can't be reached or won't be framed, and shows the browser's own error page; so it
 * is asked for first: by the page, which may reach it by another way than the service, and by the service, which sees
 * what the page may not.
 */
export const reach = async (url: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> => {
  const abort = new AbortController();
  const refusal = refusalOf(url, headers, signal);
  await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([signal, abort.signal]) }).catch(
    () => {
      throw new Error(`${url} can't be reached`);
    },
  );
  abort.abort();
  const reason = await refusal;
  if (reason !== null) throw new Error(`${url} can't be shown: ${reason}`);
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
