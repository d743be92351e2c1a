/** Pages of others, in frames, or in the kiosk over the page: looked at and not touched. */
import type { FrameVerdict } from '../../service/wire/frames.ts';
import { findKiosk } from '../shared/kiosk.ts';

/** Scripts, storage and forms of the page's own, so that dashboards work; no windows, no leaving, no downloads. */
const FOREIGN = 'allow-scripts allow-forms allow-same-origin';
/** A page of this very origin could take the sandbox off again: it runs as if it came from nowhere. */
const OWN = 'allow-scripts allow-forms';

const kiosk = findKiosk();

let lastId = 0;

/** A page over this one: no element of it, so that nothing can be above it but another. */
export interface Overlay {
  show(): void;
  hide(): void;
  close(): void;
}

/** Has the kiosk load a page in a view of its own, unseen. Rejects where it can't be loaded, or is not wanted any more. */
export const openOverlay = async (url: string, signal: AbortSignal): Promise<Overlay> => {
  lastId += 1;
  const id = lastId;
  const ask = (what: 'show' | 'hide' | 'close'): void => void kiosk?.foreign({ do: what, id }).catch(() => {});
  const overlay = { show: () => ask('show'), hide: () => ask('hide'), close: () => ask('close') };
  const aborted = new Promise<never>((_, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true });
  });
  try {
    await Promise.race([kiosk?.foreign({ do: 'open', id, url }), aborted]);
    return overlay;
  } catch (error) {
    overlay.close();
    throw signal.aborted ? error : new Error(`${url} could not be loaded`);
  }
};

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
 * Resolves where somebody answers at the address, to how the page there can be shown: `view` for one that won't be framed,
 * in the kiosk. Rejects with a sentence about one that can't be.
 * A frame says nothing of a page that can't be reached or won't be framed, and shows the browser's own error page; so it
 * is asked for first: by the page, which may reach it by another way than the service, and by the service, which sees
 * what the page may not.
 */
export const reach = async (
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<'frame' | 'view'> => {
  const abort = new AbortController();
  const refusal = refusalOf(url, headers, signal);
  await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([signal, abort.signal]) }).catch(
    () => {
      throw new Error(`${url} can't be reached`);
    },
  );
  abort.abort();
  const reason = await refusal;
  if (reason === null) return 'frame';
  if (kiosk === undefined) throw new Error(`${url} can't be shown: ${reason}`);
  return 'view';
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
