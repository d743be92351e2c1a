/**
 * External pages: shown without interaction, and silent before they are shown. In the kiosk each has a view over the page,
 * with its own process, which can be muted. In browsers it has an iframe, which no page can mute: if the browser allows
 * autoplay with sound, the frame stays empty until it is shown.
 */
import type { FrameVerdict } from '../../service/contract/frames.ts';
import type { PageLook, ViewArea } from '../../service/contract/kiosk.ts';
import type { PageBoot } from '../../service/contract/page.ts';
import { mayBeFramed } from '../../service/domain/framing.ts';
import { readBoot } from '../shared/boot.ts';
import { findKiosk } from '../shared/kiosk.ts';
import { within } from './abort.ts';
import { requireLoadable } from './plain-http.ts';
import { Unplayable } from './slides/slide.ts';

/** Allows scripts, storage and forms, so that dashboards work; no windows, navigation of this page, or downloads. */
const EXTERNAL_SANDBOX = 'allow-scripts allow-forms allow-same-origin';
/** A page of this origin could remove the sandbox, so it runs with an opaque origin. */
const SAME_ORIGIN_SANDBOX = 'allow-scripts allow-forms';

const kiosk = findKiosk();

/** How long a page may take to load. */
const LOAD_MS = 15_000;
/** How long a frame that loads on the screen stays hidden at most; then it is shown partly loaded. */
const REVEAL_MS = 3_000;
/** How long the screen stays black at most for a page that has to reload. */
const RELOAD_MS = 1_000;
/** How long a frame takes to be painted after it is rendered again. */
const REPAINT_MS = 100;
/** Pauses all media of a frame while it is not rendered, Web Audio too (Permissions Policy). */
const PAUSE_WHEN_HIDDEN = 'media-playback-while-not-visible';

const signedOutReason = (url: string): string => `${url} is signed out: sign in on the maintenance page of this box`;
const lateReason = (url: string): string => `${url} did not load within ${LOAD_MS / 1000} s`;

/** An external page, loaded and still hidden. */
export interface ExternalPage {
  /** Shows the page, as far as its parent is visible. Resolves once it has a picture. */
  show(): Promise<void>;
  /**
   * Mutes or unmutes the page for a blackout; while muted it is also hidden. Resolves once it has a picture again, or
   * after a time limit.
   */
  mute(silent: boolean): Promise<void>;
  close(): void;
}

/** Why the page at `url` refuses to be framed; null: it does not, or the service does not know, as that of the baseline. */
const refusalOf = async (url: string, headers: Record<string, string>, signal: AbortSignal): Promise<string | null> => {
  if (readBoot<PageBoot>(document).isBaseline) return null;
  const query = new URLSearchParams({ url, origin: location.origin });
  try {
    const response = await fetch(`/api/frames?${query}`, { headers, cache: 'no-store', signal });
    return response.ok ? ((await response.json()) as FrameVerdict).reason : null;
  } catch {
    return null;
  }
};

/** @throws Error if the address is not reachable */
const requireReachable = async (url: string, signal: AbortSignal): Promise<void> => {
  const enough = new AbortController();
  await fetch(url, { mode: 'no-cors', cache: 'no-store', signal: AbortSignal.any([signal, enough.signal]) }).catch(
    () => {
      signal.throwIfAborted();
      throw new Error(`${url} cannot be reached`);
    },
  );
  enough.abort();
};

/**
 * Rejects with the reason why a page can't be shown in a frame. A frame does not report that a page is unreachable or
 * refuses to be framed, and shows the browser's error page. So the page is requested first: by this page, whose network
 * can differ from the service's, and by the service, which can read the response headers.
 */
const requireFramable = async (url: string, headers: Record<string, string>, signal: AbortSignal): Promise<void> => {
  const refusal = refusalOf(url, headers, signal);
  await requireReachable(url, signal);
  const reason = await refusal;
  signal.throwIfAborted();
  if (reason !== null) throw new Error(`${url} cannot be shown: ${reason}`);
};

/** Half a millisecond of silence: one channel, 8 kHz, 8 bits. */
const SILENCE = 'data:audio/wav;base64,UklGRigAAABXQVZFZm10IBAAAAABAAEAQB8AAEAfAAABAAgAZGF0YQQAAACAgICA';

/** Whether this browser allows autoplay with sound, in this page and in its frames. */
const allowsAutoplay = (): Promise<boolean> =>
  new Audio(SILENCE).play().then(
    () => true,
    (error: Error) => error.name !== 'NotAllowedError',
  );

interface PolicyDocument extends Document {
  /** Chromium's name of the API. */
  featurePolicy?: { features(): string[] };
}

const canPauseWhenHidden = (): boolean =>
  (document as PolicyDocument).featurePolicy?.features().includes(PAUSE_WHEN_HIDDEN) === true;

const createFrame = (url: string, zoom = 1): HTMLIFrameElement => {
  const frame = document.createElement('iframe');
  if (zoom !== 1) frame.style.zoom = String(zoom);
  frame.tabIndex = -1;
  frame.inert = true;
  frame.referrerPolicy = 'strict-origin';
  frame.allow = `${PAUSE_WHEN_HIDDEN} 'none'`;
  frame.sandbox.value = new URL(url, location.href).origin === location.origin ? SAME_ORIGIN_SANDBOX : EXTERNAL_SANDBOX;
  return frame;
};

const pause = (ms: number): Promise<void> => new Promise((resolve) => setTimeout(resolve, ms));

/**
 * A page in a frame; its parent decides whether it is visible. While muted, its media are paused, and only the page itself
 * could resume them; so when unmuted it is shown as it was, and replaced once a new copy has loaded.
 */
const openFrame = async (
  url: string,
  { parent, isSilent, isEarly, look, onGone }: Omit<Opening, 'headers'>,
  signal: AbortSignal,
): Promise<ExternalPage> => {
  const pausesWhenHidden = canPauseWhenHidden();

  /** Loads the page in a frame under the current one. */
  const load = async (isHidden: boolean, wanted: AbortSignal): Promise<HTMLIFrameElement> => {
    const frame = createFrame(url, look?.zoom);
    frame.hidden = isHidden;
    // An empty frame is white.
    frame.style.opacity = '0';
    const reveal = (): void => {
      frame.style.opacity = '';
    };
    setTimeout(reveal, REVEAL_MS);
    const loaded = new Promise((resolve) => frame.addEventListener('load', resolve, { once: true }));
    frame.src = isHidden && !pausesWhenHidden ? 'about:blank' : url;
    parent.prepend(frame);
    await within(wanted, loaded).catch((error: unknown) => {
      frame.remove();
      throw error;
    });
    reveal();
    return frame;
  };

  // The policy does not silence a frame that was never visible: such a page is loaded when it is shown.
  const isLate = isEarly && (await allowsAutoplay());
  let isOn = !isLate;
  let frame = isLate ? null : await load(isSilent, signal);
  let renewal = new AbortController();

  const renew = async (wanted: AbortSignal): Promise<void> => {
    await requireReachable(url, wanted);
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
    mute: async (silent) => {
      renewal.abort();
      renewal = new AbortController();
      isSilent = silent;
      if (frame === null) {
        if (isOn && !silent) await Promise.race([appear(), pause(RELOAD_MS)]);
        return;
      }
      frame.hidden = silent;
      if (silent) {
        if (!pausesWhenHidden) frame.src = 'about:blank';
        return;
      }
      // One that was unloaded has nothing to show until it has loaded again.
      const renewed = pausesWhenHidden ? renew(renewal.signal).catch(() => {}) : appear();
      await Promise.race([renewed, pause(pausesWhenHidden ? REPAINT_MS : RELOAD_MS)]);
    },
    close: () => {
      renewal.abort();
      frame?.remove();
    },
  };
};

let lastId = 0;

/** The part of the window that an element takes: that of the main zone, also on a display that is rotated. */
const areaOf = (element: HTMLElement): ViewArea => {
  const { left, top, right, bottom } = element.getBoundingClientRect();
  const within = (share: number): number => Math.min(1, Math.max(0, share));
  const [x, y] = [within(left / innerWidth), within(top / innerHeight)];
  // One that is not laid out yet gets its place when it is shown.
  if (right <= left || bottom <= top) return { x: 0, y: 0, width: 1, height: 1 };
  return { x, y, width: within(right / innerWidth) - x, height: within(bottom / innerHeight) - y };
};

/** A page in a view of the kiosk. It is no element of this page, so only another view can cover it. */
const openView = async (
  url: string,
  { parent, isSilent: isSilentAtFirst, look, onGone }: Pick<Opening, 'parent' | 'isSilent' | 'look' | 'onGone'>,
  signal: AbortSignal,
): Promise<ExternalPage> => {
  lastId += 1;
  const id = lastId;
  let isSilent = isSilentAtFirst;
  let isClosed = false;
  let isOn = false;
  const ask = (what: 'hide' | 'close'): void => void kiosk?.external({ do: what, id }).catch(() => {});
  const show = (): void => void kiosk?.external({ do: 'show', id, area: areaOf(parent) }).catch(() => {});
  // A zone beside it that empties leaves its room to it.
  const room = new ResizeObserver(() => isOn && !isSilent && show());
  const close = (): void => {
    isClosed = true;
    room.disconnect();
    ask('close');
  };
  const opening = kiosk?.external({ do: 'open', id, url, area: areaOf(parent), ...(look && { look }) });
  const opened = await within(signal, opening).catch((error: unknown) => {
    close();
    throw signal.aborted ? error : new Error(`${url} could not be loaded`);
  });
  if (opened === 'signed out') {
    close();
    throw new Unplayable(signedOutReason(url));
  }
  void kiosk?.external({ do: 'awaitEnd', id }).then(
    (end) =>
      isClosed ||
      onGone(end === 'signed out' ? signedOutReason(url) : `${url} has crashed, hangs, or failed to load again`),
    () => {},
  );
  room.observe(parent);
  return {
    show: async () => {
      isOn = true;
      if (!isSilent) show();
    },
    mute: async (silent) => {
      isSilent = silent;
      if (!isOn) return;
      if (silent) ask('hide');
      else show();
    },
    close,
  };
};

export interface Opening {
  /** The element that the page is put into. */
  parent: HTMLElement;
  /** Headers of requests to the service. */
  headers: Record<string, string>;
  /** Whether the page starts {@link ExternalPage.mute muted}. */
  isSilent: boolean;
  /** Whether the page is opened before it is shown: then it must stay silent until it is. */
  isEarly: boolean;
  /** How a kiosk shows it; absent: as it is. Browsers show its size alone. */
  look?: PageLook;
  /**
   * Called when an open page is lost: its process has crashed or hangs, it failed to reload or it is signed out, which
   * only the kiosk can detect, or it could not be loaded when it was shown.
   */
  onGone(reason: string): void;
}

/** Loads a page hidden. Rejects with the reason why it can't be shown, or with the reason of the signal. */
export const openExternal = async (
  url: string,
  { headers, ...opening }: Opening,
  signal: AbortSignal,
): Promise<ExternalPage> => {
  const { origin, pathname } = new URL(url, location.href);
  const isOwn = origin === location.origin;
  if (isOwn && !mayBeFramed(pathname)) throw new Error(`${url} is a page of this player, which no frame may hold`);
  const patience = AbortSignal.timeout(LOAD_MS);
  const either = AbortSignal.any([signal, patience]);
  try {
    if (kiosk !== undefined && !isOwn) return await openView(url, opening, either);
    if (opening.look?.headers !== undefined) throw new Error(`${url} needs the headers that only a kiosk adds`);
    if (opening.look?.session !== undefined) throw new Error(`${url} needs a session, which only a kiosk keeps`);
    requireLoadable(url);
    await requireFramable(url, headers, either);
    return await openFrame(url, opening, either);
  } catch (error) {
    throw patience.aborted && !signal.aborted ? new Error(lateReason(url)) : error;
  }
};
