/**
 * Pages of others: looked at and not touched, and not heard before they are shown. In the kiosk each has a view over the
 * page, which has a process of its own and can be muted. In browsers it has a frame, and no page can mute a frame: where
 * the browser lets pages play unasked, the frame is left empty until it is shown.
 */

import type { FrameVerdict } from '../../service/contract/frames.ts';
import { mayBeFramed } from '../../service/domain/framing.ts';
import { findKiosk } from '../shared/kiosk.ts';
import { within } from './abort.ts';

/** Scripts, storage and forms of the page's own, so that dashboards work; no windows, no leaving, no downloads. */
const FOREIGN = 'allow-scripts allow-forms allow-same-origin';
/** A page of this very origin could take the sandbox off again: it runs as if it came from nowhere. */
const OWN = 'allow-scripts allow-forms';

const kiosk = findKiosk();

/** How long a page may take to load. */
const LOAD_MS = 15_000;
/** How long a frame that loads on the screen is hidden at most; then as much of it is seen as there is. */
const REVEAL_MS = 3_000;
/** How long at most the screen stays black for a page that has to be loaded again. */
const RELOAD_MS = 1_000;
/** What a frame takes to be painted again once it is rendered again. */
const REPAINT_MS = 100;
/** Pauses all media of a frame while it is not rendered, Web Audio too (Permissions Policy). */
const PAUSE_UNSEEN = 'media-playback-while-not-visible';

const lateReason = (url: string): string => `${url} did not load within ${LOAD_MS / 1000} s`;

/** A page of others, loaded and not yet seen. */
export interface ForeignPage {
  /** From now on it is on the screen, as far as what it lies in is. Resolves once there is something to see. */
  show(): Promise<void>;
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
 * Rejects with a sentence about a page that can't be shown in a frame. A frame says nothing of a page that can't be reached
 * or won't be framed, and shows the browser's own error page; so it is asked for first: by the page, which may reach it by
 * another way than the service, and by the service, which sees what the page may not.
 */
const requireFramable = async (url: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> => {
  const refusal = refusalOf(url, headers, signal);
  await reach(url, signal);
  const reason = await refusal;
  signal.throwIfAborted();
  if (reason !== null) throw new Error(`${url} can't be shown: ${reason}`);
};

/** Half a millisecond of silence: one channel, 8 kHz, 8 bits. */
const SILENCE = 'data:audio/wav;base64,UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA';

/** Whether this browser lets a page be heard that nobody has touched, and with it the pages in its frames. */
const playsUnasked = (): Promise<boolean> =>
  new Audio(SILENCE).play().then(
    () => true,
    (error: Error) => error.name !== 'NotAllowedError',
  );

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
  { parent, isSilent, isEarly, onGone }: Omit<Opening, 'headers'>,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  const pausesUnseen = canPauseUnseen();

  /** Loads the page under what is there. */
  const load = async (isHidden: boolean, wanted: AbortSignal): Promise<HTMLIFrameElement> => {
    const frame = createFrame(url);
    frame.hidden = isHidden;
    // An empty frame is white.
    frame.style.opacity = '0';
    const reveal = (): void => {
      frame.style.opacity = '';
    };
    setTimeout(reveal, REVEAL_MS);
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    frame.src = isHidden && !pausesUnseen ? 'about:blank' : url;
    parent.prepend(frame);
    await within(wanted, loaded).catch((error: unknown) => {
      frame.remove();
      throw error;
    });
    reveal();
    return frame;
  };

  // The policy does not silence what is loaded unseen from the first: such a page is loaded when it is shown.
  const isLate = isEarly && (await playsUnasked());
  let isOn = !isLate;
  let frame = isLate ? null : await load(isSilent, signal);
  let renewal = new AbortController();

  const renew = async (wanted: AbortSignal): Promise<void> => {
    await reach(url, wanted);
    const fresh = await load(false, wanted);
    await pause(REPAINT_MS);
    if (wanted.aborted) return fresh.remove();
    frame?.remove();
    frame = fresh;
  };

  const appear = async (): Promise<void> => {
    const { signal: wanted } = renewal;
    const patience = AbortSignal.timeout(LOAD_MS);
    await renew(AbortSignal.any([wanted, patience])).catch((error: Error) => {
      if (!wanted.aborted) onGone(patience.aborted ? lateReason(url) : error.message);
    });
  };

  return {
    show: async () => {
      if (isOn) return;
      isOn = true;
      if (!isSilent) await appear();
    },
    hush: async (silent) => {
      renewal.abort();
      renewal = new AbortController();
      isSilent = silent;
      if (frame === null) {
        if (isOn && !silent) await Promise.race([appear(), pause(RELOAD_MS)]);
        return;
      }
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
      frame?.remove();
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
    show: async () => {
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
  /** Whether it is opened before its time: then it must not be heard until it is shown. */
  isEarly: boolean;
  /**
   * The page was lost after it had been opened: its process is gone, which only the kiosk can tell, or it could not be
   * loaded when it was shown.
   */
  onGone(reason: string): void;
}

/** Loads a page, unseen. Rejects with a sentence about one that can't be shown, and where it is not wanted any more. */
export const openForeign = async (
  url: string,
  { headers, ...opening }: Opening,
  signal: AbortSignal,
): Promise<ForeignPage> => {
  const { origin, pathname } = new URL(url, location.href);
  const isOwn = origin === location.origin;
  if (isOwn && !mayBeFramed(pathname)) throw new Error(`${url} is a page of this player, which no frame may hold`);
  const patience = AbortSignal.timeout(LOAD_MS);
  const either = AbortSignal.any([signal, patience]);
  try {
    if (kiosk !== undefined && !isOwn) return await openView(url, opening, either);
    await requireFramable(url, headers, either);
    return await openFrame(url, opening, either);
  } catch (error) {
    throw patience.aborted && !signal.aborted ? new Error(lateReason(url)) : error;
  }
};
