/** Pages of others, in frames, or in the kiosk over the page: looked at and not touched. */
import type { FrameVerdict } from '../../service/wire/frames.ts';
import { findKiosk } from '../shared/kiosk.ts';
import { within } from './abort.ts';

/** Scripts, storage and forms of the page's own, so that dashboards work; no windows, no leaving, no downloads. */
const FOREIGN = 'allow-scripts allow-forms allow-same-origin';
/** A page of this very origin could take the sandbox off again: it runs as if it came from nowhere. */
const OWN = 'allow-scripts allow-forms';

const kiosk = findKiosk();

/** How long a page may take to load. */
const LOAD_MS = 15_000;
/** And how long at most the screen stays black for one that loads anew. */
const AGAIN_MS = 3_000;

/** A page of others, loaded and not yet seen. */
export interface ForeignPage {
  /** From now on it is on the screen, as far as what it lies in is. */
  show(): void;
  /**
   * While silent, nothing is heard of it; nor seen, since the screen is black. Resolves once it can be seen again, or takes
   * too long.
   */
  hush(silent: boolean): Promise<void>;
  close(): void;
}

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
 * How the page at an address can be shown: `view` for one that won't be framed, in the kiosk. Rejects with a sentence
 * about one that can't be.
 * A frame says nothing of a page that can't be reached or won't be framed, and shows the browser's own error page; so it
 * is asked for first: by the page, which may reach it by another way than the service, and by the service, which sees
 * what the page may not.
 */
const mannerOf = async (
  url: string,
  headers: Record<string, string>,
  signal: AbortSignal,
): Promise<'frame' | 'view'> => {
  const enough = new AbortController();
  const refusal = refusalOf(url, headers, signal);
  await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([signal, enough.signal]) }).catch(
    () => {
      signal.throwIfAborted();
      throw new Error(`${url} can't be reached`);
    },
  );
  enough.abort();
  const reason = await refusal;
  signal.throwIfAborted();
  if (reason === null) return 'frame';
  if (kiosk === undefined) throw new Error(`${url} can't be shown: ${reason}`);
  return 'view';
};

const createFrame = (url: string): HTMLIFrameElement => {
  const frame = document.createElement('iframe');
  frame.tabIndex = -1;
  frame.inert = true;
  frame.referrerPolicy = 'strict-origin';
  frame.sandbox.value = new URL(url, location.href).origin === location.origin ? OWN : FOREIGN;
  return frame;
};

/** A page in a frame: what the frame lies in says whether it is seen. */
const openFrame = async (
  url: string,
  { parent, isSilent }: Pick<Opening, 'parent' | 'isSilent'>,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  const frame = createFrame(url);
  const close = (): void => frame.remove();
  const load = (): Promise<unknown> => {
    frame.src = url;
    return new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
  };
  if (isSilent) parent.append(frame);
  else {
    const loaded = load();
    parent.append(frame);
    await within(signal, loaded).catch((error: unknown) => {
      close();
      throw error;
    });
  }
  return {
    show: () => {},
    // The one way that there is across origins: the page is left, and loaded anew afterwards.
    hush: async (silent) => {
      if (silent) frame.src = 'about:blank';
      else await within(AbortSignal.timeout(AGAIN_MS), load()).catch(() => {});
    },
    close,
  };
};

let lastId = 0;

/** A page in a view of the kiosk's: no element of this page, so that nothing can be above it but another. */
const openView = async (url: string, isSilent: boolean, signal: AbortSignal): Promise<ForeignPage> => {
  lastId += 1;
  const id = lastId;
  const ask = (what: 'show' | 'hide' | 'close'): void => void kiosk?.foreign({ do: what, id }).catch(() => {});
  const close = (): void => ask('close');
  await within(signal, kiosk?.foreign({ do: 'open', id, url })).catch((error: unknown) => {
    close();
    throw signal.aborted ? error : new Error(`${url} could not be loaded`);
  });
  let isOn = false;
  return {
    show: () => {
      isOn = true;
      if (!isSilent) ask('show');
    },
    hush: async (silent) => {
      isSilent = silent;
      if (isOn) ask(silent ? 'hide' : 'show');
    },
    close,
  };
};

interface Opening {
  /** What a frame is put into. */
  parent: HTMLElement;
  /** Of requests to the service. */
  headers: Record<string, string>;
  /** Whether it begins {@link ForeignPage.hush hushed}. */
  isSilent: boolean;
}

/** Loads a page, unseen. Rejects with a sentence about one that can't be shown, and where it is not wanted any more. */
export const openForeign = async (
  url: string,
  { parent, headers, isSilent }: Opening,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  const patience = AbortSignal.timeout(LOAD_MS);
  const either = AbortSignal.any([signal, patience]);
  try {
    return (await mannerOf(url, headers, either)) === 'view'
      ? await openView(url, isSilent, either)
      : await openFrame(url, { parent, isSilent }, either);
  } catch (error) {
    throw patience.aborted && !signal.aborted ? new Error(`${url} did not load within ${LOAD_MS / 1000} s`) : error;
  }
};
