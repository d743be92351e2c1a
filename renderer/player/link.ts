/** The link to the service: fetches the playlist, holds the socket open, and retries both. */
import type { Command } from '../../service/contract/commands.ts';
import type { Reported } from '../../service/contract/connections.ts';
import type { PlaylistPayload, syncHeader, versionHeader, zoneHeader } from '../../service/contract/playlist.ts';
import { isProvableId } from '../../service/contract/readable.ts';
import type { ClockState, Identify, ServiceMessage } from '../../service/contract/socket.ts';
import type { ProofNeeds } from '../../service/domain/device-proof.ts';
import { type Device, helloOf } from '../shared/device.ts';
import type { Identity } from '../shared/identity.ts';
import type { PageToken } from '../shared/page-token.ts';
import { patientFetch, waitMs } from '../shared/retry.ts';
import type { Clock } from './clock.ts';
import { createOutbox } from './outbox.ts';
import type { Plays } from './plays/index.ts';

type TimeMessage = Extract<ServiceMessage, { type: 'time' }>;

/** What the page shows, as reported to the service. */
export type Report = Omit<Reported, 'viewport'>;

interface Dependencies {
  clock: Clock;
  token: PageToken;
  device: Device;
  /** Called with a changed playlist, and whether pages of the screen are synchronized; null: the screen does not exist. */
  onPlaylist(payload: PlaylistPayload | null, isSynchronized: boolean): void;
  /** Called with version and time zone of the service, where its answer to a request for the playlist names them. */
  onService(version: string, timeZone: string): void;
  /** Called when the service has greeted the page on a new socket. */
  onWelcome(): Promise<void>;
  /** Called with the revision of a playlist that the page plays on with by its programme, without fetching it. */
  onRevision(revision: string): void;
  onCommand(command: Command): void;
  /** Called when the page is to go to a slide. */
  onShow(slideId: string): void;
  /** Called when the page is to show which box and display it is. */
  onIdentify(message: Identify): void;
  /** Called when media arrived at the service. */
  onMedia(): void;
  /** Called with the service's answer to a `time` message; returns by how much the time of day was set, in ms. */
  onTime(message: TimeMessage): number;
  /** Called when the clock was set. */
  onTimeSet(): void;
  plays: Plays['delivery'];
}

interface Delivery {
  /** Null: the screen does not exist. */
  payload: PlaylistPayload | null;
  etag: string | null;
  isSynchronized: boolean;
}

export type Link = ReturnType<typeof createLink>;

// Typed by the contract's constant, without importing its schemas.
const synchronizedHeader: typeof syncHeader = 'x-signage-sync';
const serviceHeader: typeof versionHeader = 'x-signage-version';
const placeHeader: typeof zoneHeader = 'x-signage-time-zone';

const OPEN_MS = 10_000;
/** After this time a kiosk that did not prove its page is asked again. */
const PROVE_MS = 5_000;
/** Interval of the playlist requests that no message asked for. If they fail, the socket is dead too. */
const POLL_MS = 60_000;
/** The service sends a heartbeat every 15 s: a socket that is silent for longer than this is dead. */
const SILENCE_MS = 40_000;
/** Clocks drift by less than this between two readings; more means that a clock was set. */
const STEP_MS = 1_000;
/** Characters of a title that are reported; messages have a size limit. */
const MAX_TITLE_LENGTH = 500;
/** WebSocket close code of a service that refuses a message. */
const POLICY_VIOLATION = 1008;
/** The service's Date header is in whole seconds. */
const DATE_TOLERANCE_MS = 2_000;

export const createLink = (
  slug: string,
  identity: Identity,
  {
    clock,
    token,
    device,
    onPlaylist,
    onService,
    onWelcome,
    onRevision,
    onCommand,
    onShow,
    onIdentify,
    onMedia,
    onTime,
    onTimeSet,
    plays,
  }: Dependencies,
) => {
  const base = `/api/screens/${encodeURIComponent(slug)}`;
  const statusPath = `/api/onboarding/status?deviceId=${device.id}`;
  let socket: WebSocket | null = null;
  let failures = 0;
  /** ETag of the playlist that was delivered last; null: fetch unconditionally. */
  let etag: string | null = null;
  /** Revision of the programme that was delivered last; null: it had none. */
  let plan: string | null = null;
  let fetching: Promise<boolean> | null = null;
  let isStale = false;
  let report: Report | null = null;
  /** Signs once more, on the same socket, with what the service told. */
  let proveAgain = async (_: ProofNeeds): Promise<void> => {};
  /** Closes the socket and connects again. */
  let reconnect = (): void => {};
  let sentClockState: ClockState | null = null;

  const viewport = () => ({ width: innerWidth, height: innerHeight, devicePixelRatio });

  /** Whether the socket has said who the page is, before which the service takes nothing; a slow kiosk proves it late. */
  let hasGreeted = false;
  const isOpen = (): boolean => hasGreeted && socket?.readyState === WebSocket.OPEN;

  const outbox = createOutbox({
    elapsed: clock.elapsed,
    send: (message) => {
      if (isOpen()) socket?.send(message);
      return isOpen();
    },
  });

  const reportError = (slideId: string | null, reason: string): void =>
    outbox.note({ type: 'fault', slideId, reason: reason.slice(0, 500) });

  /** @param moved by how much the time of day was set, ms */
  const noteClock = (moved: number): void => {
    const stepMs = Math.abs(moved) > STEP_MS ? Math.round(moved) : 0;
    const state = clock.state();
    if (stepMs === 0 && state === sentClockState) return;
    sentClockState = state;
    outbox.note({ type: 'clock', state, stepMs });
    onTimeSet();
  };

  const sendReport = (): void => {
    if (report !== null) outbox.state({ type: 'state', ...report, viewport: viewport() });
  };

  /** Resolves to the playlist, or null if it is unchanged. */
  const fetchPlaylist = (): Promise<Delivery | null> => {
    const condition: Record<string, string> = etag === null ? {} : { 'If-None-Match': etag };
    const headers = { ...token.header(), ...condition };
    return patientFetch(`${base}/playlist`, { headers }, async (response, body) => {
      const date = Date.parse(response.headers.get('Date') ?? '');
      if (!Number.isNaN(date)) noteClock(clock.set(date, DATE_TOLERANCE_MS));
      const [version, timeZone] = [serviceHeader, placeHeader].map((name) => response.headers.get(name));
      if (version != null && timeZone != null) onService(version, timeZone);
      if (response.status === 304) return null;
      const isSynchronized = response.headers.has(synchronizedHeader);
      if (response.status === 404) return { payload: null, etag: null, isSynchronized };
      if (!response.ok) throw new Error(`the playlist request answers ${response.status}`);
      const payload = JSON.parse(await (await body()).text()) as PlaylistPayload;
      return { payload, etag: response.headers.get('ETag'), isSynchronized };
    });
  };

  /** A playlist that throws counts as not delivered, and is fetched again with the next poll. */
  const deliver = (delivery: Delivery): void => {
    etag = null;
    plan = null;
    try {
      onPlaylist(delivery.payload, delivery.isSynchronized);
      ({ etag } = delivery);
      plan = delivery.payload?.programme?.revision ?? null;
    } catch (error) {
      reportError(null, `the playlist cannot be shown: ${String(error)}`);
    }
  };

  const fetchUntilUnchanged = async (): Promise<boolean> => {
    while (isStale) {
      isStale = false;
      // Delivered before the next request: the service would not send it a second time.
      const leave = reconnect;
      const delivery = await fetchPlaylist().catch(() => undefined);
      if (delivery === undefined) {
        // If HTTP fails, the socket of then is dead too, even if it seems open.
        leave();
        return false;
      }
      if (delivery !== null) deliver(delivery);
    }
    return true;
  };

  /** Resolves to false if the service does not answer. */
  const fetchIfChanged = (): Promise<boolean> => {
    isStale = true;
    if (fetching === null) {
      fetching = fetchUntilUnchanged().finally(() => {
        fetching = null;
      });
    }
    return fetching;
  };
  const refresh = (): void => void fetchIfChanged();

  const handle = (message: ServiceMessage): void => {
    if (message.type === 'command') onCommand(message);
    else if (message.type === 'show') onShow(message.slideId);
    else if (message.type === 'time') noteClock(onTime(message));
    else if (message.type === 'identify') onIdentify(message);
    else if (message.type === 'media') onMedia();
    else if (message.type === 'ack') plays.onAck(message.play_ids);
    else {
      if (message.type === 'welcome') {
        failures = 0;
        if (message.proven === false) void proveAgain({ nodeId: message.nodeId, time: message.serverTime });
        sentClockState = null;
        noteClock(clock.set(message.serverTime, 0));
        sendReport();
        outbox.open();
        plays.onOpen();
        onWelcome().catch(() => {});
      }
      if (etag === `"${message.revision}"`) return;
      // At a boundary nothing but what is due has changed, which the programme of the page says too.
      if (plan === null || plan !== message.plan) return refresh();
      etag = `"${message.revision}"`;
      onRevision(message.revision);
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
    hasGreeted = false;

    const end = async (code?: number): Promise<void> => {
      if (isOver) return;
      isOver = true;
      clearTimeout(deadline);
      clearTimeout(silence);
      plays.onClose(code === POLICY_VIOLATION);
      // Browsers report a dead socket as closed only after a minute without an answer.
      opening.close();
      try {
        // The playlist request shows why a socket was refused: no screen or no service. Otherwise the token has expired.
        // A playlist that comes slowly keeps no socket away.
        const slow = new Promise<false>((resolve) => setTimeout(resolve, OPEN_MS, false));
        const isReachable = await Promise.race([fetchIfChanged(), slow]);
        if (isRefused && isReachable) await token.renew();
      } finally {
        setTimeout(connect, waitMs(failures++));
      }
    };
    const deadline = setTimeout(() => void end(), OPEN_MS);
    const hearSilence = (): void => {
      clearTimeout(silence);
      silence = setTimeout(() => void end(), SILENCE_MS);
    };
    reconnect = () => void end();

    const greet = async (): Promise<void> => {
      const hello = await helloOf(identity, device);
      if (opening.readyState !== WebSocket.OPEN) return;
      // Once more without a proof says nothing; a kiosk that is busy makes one later.
      if (attempts > 0 && hello.proof === null) return void setTimeout(() => void greet(), PROVE_MS);
      opening.send(JSON.stringify(hello));
      hasGreeted = true;
    };
    let attempts = 0;
    proveAgain = async (needs) => {
      attempts += 1;
      const hasSecret = token.protocols().length > 1;
      if (attempts === 1 && (hasSecret || isProvableId(device.id))) device.adopt(needs);
      // The clock of the box was set since its start: proofs are dated by the time that an answer to one names.
      else if (attempts === 2 && hasSecret)
        await device.fetch(statusPath, token.header(), () => null).catch(() => null);
      else return;
      await greet();
    };
    opening.onopen = () => {
      clearTimeout(deadline);
      isRefused = false;
      hearSilence();
      void greet();
    };
    opening.onmessage = ({ data }) => {
      if (isOver) return;
      const message = JSON.parse(String(data)) as ServiceMessage;
      hearSilence();
      handle(message);
    };
    opening.onclose = ({ code }) => void end(code);
  };

  refresh();
  connect();
  setInterval(refresh, POLL_MS);
  addEventListener('resize', sendReport);
  addEventListener('online', refresh);

  return {
    /** Fetches the playlist if it has changed. */
    refresh,
    /** Sends the state of the page if it has changed. */
    report: (next: Report): void => {
      report = { ...next, currentSlideTitle: next.currentSlideTitle?.slice(0, MAX_TITLE_LENGTH) ?? null };
      sendReport();
    },
    /** Reports a slide that was skipped; null: a redirect, the playlist or the plays. */
    reportError,
    /** Sends a message now, or drops it and returns false if the socket is not open. */
    sendNow: (message: object): boolean => {
      if (isOpen()) socket?.send(JSON.stringify(message));
      return isOpen();
    },
    /** Reports for how long the screen showed no intended picture when a slide came on; null: the idle screen. */
    reportSwap: (slideId: string | null, gapMs: number): void => outbox.note({ type: 'swap', slideId, gapMs }),
  };
};
