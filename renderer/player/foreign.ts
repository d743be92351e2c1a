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
/** How long at most the screen stays black for a page that has to be loaded again. */
const RELOAD_MS = 1_000;
/** What a frame takes to be painted again once it is rendered again. */
const REPAINT_MS = 100;
/** Pauses all media of a frame while it is not rendered, Web Audio too (Permissions Policy). */
const PAUSE_UNSEEN = 'media-playback-while-not-visible';

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

/** @throws Error with a sentence where nothing answers at the address */
const reach = async (url: string, signal: AbortSignal): Promise<void> => {
  const enough = new AbortController();
  await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([signal, enough.signal]) }).catch(
    () => {
      signal.throwIfAborted();
      throw new Error(`${url} can't be reached`);
    },
  );
  enough.abort();
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
  const refusal = refusalOf(url, headers, signal);
  await reach(url, signal);
  const reason = await refusal;
  signal.throwIfAborted();
  if (reason === null) return 'frame';
  if (kiosk === undefined) throw new Error(`${url} can't be shown: ${reason}`);
  return 'view';
};

interface PolicyDocument extends Document {
  /** Chromium's name for it. */
  featurePolicy?: { features(): string[] };
}

const canPauseUnseen = (): boolean =>
  (document as PolicyDocument).featurePolicy?.features().includes(PAUSE_UNSEEN) === true;

const createFrame = (url: string): HTMLIFrameElement => {
  const frame = document.createElement('iframe');
  frame.tabIndex = -1;
  frame.inert = true;
  frame.referrerPolicy = 'strict-origin';
  frame.allow = `${PAUSE_UNSEEN} 'none'`;
  frame.sandbox.value = new URL(url, location.href).origin === location.origin ? OWN : FOREIGN;
  return frame;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A page in a frame: what the frame lies in says whether it is seen. While it is silent its media are paused, and nobody
 * but the page itself could start them again; so afterwards it is shown as it was left, until it has loaded once more.
 */
const openFrame = async (
  url: string,
  { parent, isSilent }: Pick<Opening, 'parent' | 'isSilent'>,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  const pausesUnseen = canPauseUnseen();

  /** Loads the page under what is there. */
  const load = async (isHidden: boolean, wanted: AbortSignal): Promise<HTMLIFrameElement> => {
    const frame = createFrame(url);
    frame.hidden = isHidden;
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    frame.src = isHidden && !pausesUnseen ? 'about:blank' : url;
    parent.prepend(frame);
    await within(wanted, loaded).catch((error: unknown) => {
      frame.remove();
      throw error;
    });
    return frame;
  };

  let frame = await load(isSilent, signal);
  let renewal = new AbortController();

  const renew = async (wanted: AbortSignal): Promise<void> => {
    await reach(url, wanted);
    const fresh = await load(false, wanted);
    await pause(REPAINT_MS);
    if (wanted.aborted) return fresh.remove();
    frame.remove();
    frame = fresh;
  };

  return {
    show: () => {},
    hush: async (silent) => {
      renewal.abort();
      renewal = new AbortController();
      frame.hidden = silent;
      if (silent) {
        if (!pausesUnseen) frame.src = 'about:blank';
        return;
      }
      const renewed = renew(renewal.signal).catch(() => {});
      await Promise.race([renewed, pause(pausesUnseen ? REPAINT_MS : RELOAD_MS)]);
    },
    close: () => {
      renewal.abort();
      frame.remove();
    },
  };
};

let lastId = 0;

/** A page in a view of the kiosk's: no element of this page, so that nothing can be above it but another. */
const openView = async (
  url: string,
  { isSilent: isSilentAtFirst, onGone }: Pick<Opening, 'isSilent' | 'onGone'>,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  lastId += 1;
  const id = lastId;
  let isSilent = isSilentAtFirst;
  let isClosed = false;
  const ask = (what: 'show' | 'hide' | 'close'): void => void kiosk?.foreign({ do: what, id }).catch(() => {});
  const close = (): void => {
    isClosed = true;
    ask('close');
  };
  await within(signal, kiosk?.foreign({ do: 'open', id, url })).catch((error: unknown) => {
    close();
    throw signal.aborted ? error : new Error(`${url} could not be loaded`);
  });
  void kiosk?.foreign({ do: 'awaitEnd', id }).then(
    () => isClosed || onGone(`${url} has crashed`),
    () => {},
  );
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

export interface Opening {
  /** What it is put into. */
  parent: HTMLElement;
  /** Of requests to the service. */
  headers: Record<string, string>;
  /** Whether it begins {@link ForeignPage.hush hushed}. */
  isSilent: boolean;
  /** The page was lost after it had loaded: its process is gone, which only the kiosk can tell. */
  onGone(reason: string): void;
}

/** Loads a page, unseen. Rejects with a sentence about one that can't be shown, and where it is not wanted any more. */
export const openForeign = async (
  url: string,
  { parent, headers, ...opening }: Opening,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  const patience = AbortSignal.timeout(LOAD_MS);
  const either = AbortSignal.any([signal, patience]);
  try {
    return (await mannerOf(url, headers, either)) === 'view'
      ? await openView(url, opening, either)
      : await openFrame(url, { parent, ...opening }, either);
  } catch (error) {
    throw patience.aborted && !signal.aborted ? new Error(`${url} did not load within ${LOAD_MS / 1000} s`) : error;
  }
};
