/** The link to the service: the playlist, the socket, and patience while either is away. */
import type { Command } from '../../service/contract/commands.ts';
import type { PlaylistPayload, syncHeader } from '../../service/contract/playlist.ts';
import type { ClockState, ServiceMessage } from '../../service/contract/socket.ts';
import type { Identity } from '../shared/identity.ts';
import type { PageToken } from '../shared/page-token.ts';
import { patientFetch, waitMs } from '../shared/patience.ts';
import type { Clock } from './clock.ts';
import { createOutbox } from './outbox.ts';

type TimeMessage = Extract<ServiceMessage, { type: 'time' }>;

/** What the page shows, as it is reported. */
export interface Report {
  page: string;
  currentSlide: number | null;
  currentSlideId: string | null;
  currentSlideTitle: string | null;
  paused: boolean;
  blackout: boolean;
}

interface Dependencies {
  clock: Clock;
  token: PageToken;
  /** A new playlist, and whether all show it at the same time; null: the screen does not exist (any more). */
  onPlaylist(payload: PlaylistPayload | null, isInStep: boolean): void;
  onCommand(command: Command): void;
  /** The service has told the time of the site. */
  onTime(message: TimeMessage): void;
  /** The time of day was set on or back. */
  onTimeSet(): void;
}

/** A playlist as the service has answered it. */
interface Delivery {
  /** Null: the screen does not exist. */
  payload: PlaylistPayload | null;
  etag: string | null;
  isInStep: boolean;
}

export interface Link {
  /** Fetches the playlist where it has changed. */
  refresh(): void;
  /** Sends what the page shows, where that is not what was sent last. */
  report(report: Report): void;
  /** Tells the service of a slide that was skipped; null: of a redirect or a playlist that could not be shown. */
  fault(slideId: string | null, reason: string): void;
  /** Tells the service how long no intended picture was on the screen as a slide came on; null: the idle screen. */
  swapped(slideId: string | null, gapMs: number): void;
  /** Says something now or not at all. */
  say(message: object): void;
}

// By its type the same as in the vocabulary.
const inStepHeader: typeof syncHeader = 'x-signage-sync';

const OPEN_MS = 10_000;
/** A look at the playlist that no message asked for. Where the service does not answer, the socket is dead too. */
const POLL_MS = 60_000;
/** A service that sends heartbeats sends one every 15 s: a socket that is silent for longer than this is dead. */
const SILENCE_MS = 40_000;
/** Clocks run apart by less than this between two looks; more is a clock that was set. */
const STEP_MS = 1_000;
/** Characters of a title that are reported: a message has its limits, and nobody reads more. */
const LONGEST_TITLE = 500;
/** The service's Date header is in whole seconds. */
const DATE_TOLERANCE_MS = 2_000;

export const createLink = (
  slug: string,
  identity: Identity,
  { clock, token, onPlaylist, onCommand, onTime, onTimeSet }: Dependencies,
): Link => {
  const base = `/api/screens/${encodeURIComponent(slug)}`;
  let socket: WebSocket | null = null;
  let failures = 0;
  /** The ETag of the playlist that was delivered last (null: it is fetched whatever it is), and whether it is in step. */
  let etag: string | null = null;
  let isInStep = false;
  let fetching: Promise<boolean> | null = null;
  let again = false;
  let report: Report | null = null;
  /** Leaves the socket, and connects again. */
  let reconnect = (): void => {};
  let clockTold: ClockState | null = null;

  const viewport = () => ({ width: innerWidth, height: innerHeight, devicePixelRatio });

  const isOpen = (): boolean => socket?.readyState === WebSocket.OPEN;

  const outbox = createOutbox({
    elapsed: clock.elapsed,
    send: (message) => {
      if (isOpen()) socket?.send(message);
      return isOpen();
    },
  });

  const fault = (slideId: string | null, reason: string): void =>
    outbox.note({ type: 'fault', slideId, reason: reason.slice(0, 500) });

  const setClock = (serverTime: number, tolerance: number): void => {
    const moved = Math.round(clock.set(serverTime, tolerance));
    const stepMs = Math.abs(moved) > STEP_MS ? moved : 0;
    const state = clock.state();
    if (stepMs === 0 && state === clockTold) return;
    clockTold = state;
    outbox.note({ type: 'clock', state, stepMs });
    onTimeSet();
  };

  const sendReport = (): void => {
    if (report !== null) outbox.state({ type: 'state', ...report, viewport: viewport() });
  };

  /** The playlist where it is another than the one that was delivered; else null. */
  const fetchPlaylist = (): Promise<Delivery | null> => {
    const condition: Record<string, string> = etag === null ? {} : { 'If-None-Match': etag };
    const headers = { ...token.header(), ...condition };
    return patientFetch(`${base}/playlist`, { headers }, async (response) => {
      const date = Date.parse(response.headers.get('Date') ?? '');
      if (!Number.isNaN(date)) setClock(date, DATE_TOLERANCE_MS);
      const inStep = response.headers.has(inStepHeader);
      if (response.status === 304) {
        if (inStep === isInStep) return null;
        // It alone has changed, so the payload is the one that is known.
        etag = null;
        again = true;
        return null;
      }
      if (response.status === 404) return { payload: null, etag: null, isInStep: inStep };
      if (!response.ok) throw new Error(`the playlist answers ${response.status}`);
      const payload = (await response.json()) as PlaylistPayload;
      return { payload, etag: response.headers.get('ETag'), isInStep: inStep };
    });
  };

  /** What could not be taken has not been delivered, and is fetched again with the next look. */
  const deliver = (delivery: Delivery): void => {
    etag = null;
    try {
      onPlaylist(delivery.payload, delivery.isInStep);
      ({ etag, isInStep } = delivery);
    } catch (error) {
      fault(null, `the playlist can't be shown: ${String(error)}`);
    }
  };

  const fetchUntilUnchanged = async (): Promise<boolean> => {
    while (again) {
      again = false;
      // At once, whatever becomes of the next one: the service would not send it a second time.
      const delivery = await fetchPlaylist().catch(() => undefined);
      if (delivery === undefined) {
        // A service that does not answer has no socket either, whatever the socket thinks.
        reconnect();
        return false;
      }
      if (delivery !== null) deliver(delivery);
    }
    return true;
  };

  /** Resolves to false where the service does not answer. */
  const fetchWhatChanged = (): Promise<boolean> => {
    again = true;
    if (fetching === null) {
      fetching = fetchUntilUnchanged().finally(() => {
        fetching = null;
      });
    }
    return fetching;
  };
  const refresh = (): void => void fetchWhatChanged();

  const handle = (message: ServiceMessage): void => {
    if (message.type === 'command') onCommand(message);
    else if (message.type === 'time') onTime(message);
    else {
      if (message.type === 'welcome') {
        failures = 0;
        clockTold = null;
        setClock(message.serverTime, 0);
        sendReport();
        outbox.open();
      }
      if (etag !== `"${message.revision}"`) refresh();
    }
  };

  const connect = (): void => {
    const url = new URL(`${base}/socket`, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const opening = new WebSocket(url, token.protocols());
    let isRefused = true;
    let isOver = false;
    let silence: ReturnType<typeof setTimeout> | undefined;
    socket = opening;

    const end = async (): Promise<void> => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      clearTimeout(silence);
      // A browser says that a dead socket is closed only when the other side has not answered for a minute.
      opening.close();
      try {
        // Where a socket is refused, the playlist says why: the screen is gone, or the service is. Else it is the token.
        const isThere = await fetchWhatChanged();
        if (isRefused && isThere) await token.renew();
      } finally {
        setTimeout(connect, waitMs(failures++));
      }
    };
    const deadline = setTimeout(end, OPEN_MS);
    reconnect = () => void end();

    let hasHeartbeat = false;
    opening.onopen = () => {
      clearTimeout(deadline);
      isRefused = false;
      opening.send(JSON.stringify({ type: 'hello', ...identity, page: location.pathname, viewport: viewport() }));
    };
    opening.onmessage = ({ data }) => {
      if (isOver) return;
      const message = JSON.parse(String(data)) as ServiceMessage;
      // An older service has no heartbeat, and may say nothing for hours.
      hasHeartbeat ||= message.type === 'heartbeat';
      clearTimeout(silence);
      if (hasHeartbeat) silence = setTimeout(end, SILENCE_MS);
      handle(message);
    };
    opening.onclose = end;
  };

  refresh();
  connect();
  setInterval(refresh, POLL_MS);
  addEventListener('resize', sendReport);
  addEventListener('online', refresh);

  return {
    refresh,
    report: (next) => {
      report = { ...next, currentSlideTitle: next.currentSlideTitle?.slice(0, LONGEST_TITLE) ?? null };
      sendReport();
    },
    fault,
    say: (message) => {
      if (isOpen()) socket?.send(JSON.stringify(message));
    },
    swapped: (slideId, gapMs) => outbox.note({ type: 'swap', slideId, gapMs }),
  };
};
