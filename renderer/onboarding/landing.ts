/** The landing page: shown until the device is bound to a screen. */
import type {
  claimHeader,
  HotspotShown,
  LandingMessage,
  MediaProgress,
  NetworkFault,
  OnboardingStatus,
} from '../../service/contract/onboarding.ts';
import type { LandingBoot } from '../../service/contract/page.ts';
import { isProvableId, shownClaim, shownDeviceId } from '../../service/contract/readable.ts';
import type { ServiceMessage } from '../../service/contract/socket.ts';
import { readBoot, requireTopLevel } from '../shared/boot.ts';
import { createDevice, type Device, helloOf } from '../shared/device.ts';
import { element, make } from '../shared/elements.ts';
import { createGreeting, type Greeting, passGreeting } from '../shared/greeting.ts';
import { startHeartbeat } from '../shared/heartbeat.ts';
import { readIdentity } from '../shared/identity.ts';
import { findKiosk } from '../shared/kiosk.ts';
import { createPageToken, type PageToken } from '../shared/page-token.ts';
import { leaveFor, waitMs } from '../shared/retry.ts';
import { loadTexts } from './texts.ts';
import { receive, setFormLink } from './visitor.ts';

// Typed by the contract, but not imported, so that a page does not load its schemas.
const codeHeader: typeof claimHeader = 'x-signage-claim';

interface Handlers {
  /** The claim code on the page, which lets its reader bind the device; null: there is no code. */
  onClaim(claim: string | null): void;
  onStatus(status: OnboardingStatus): void;
  /** The URL of the form; null: no other machine can reach this one. */
  onFormUrl(formUrl: string | null): void;
  onScreens(hasScreens: boolean): void;
  /** The progress of copying the media of the site. */
  onMedia(media: MediaProgress): void;
  onNetwork(fault: NetworkFault | undefined): void;
  /** The Wi-Fi of the box itself; undefined: it is not open. */
  onHotspot(hotspot: HotspotShown | undefined): void;
  /** The form was opened on a phone. */
  onOpened(): void;
  /** Whether the service answers. */
  onReach(isThere: boolean): void;
}

const CONNECT_MS = 10_000;
/** Polling without a message, which also finds dead sockets, and keeps the code of the page alive. */
const LOOK_MS = 20_000;

/** Follows the status of a device over a socket, or by polling without one. */
const follow = (device: Device, token: PageToken, handlers: Handlers): void => {
  let socket: WebSocket | null = null;
  let failures = 0;

  const look = async (): Promise<void> => {
    try {
      const path = `/api/onboarding/status?deviceId=${device.id}`;
      const { status, claim } = await device.fetch(path, token.header(), async (response) => {
        if (!response.ok) throw new Error(`the status answers ${response.status}`);
        const answer = (await response.json()) as OnboardingStatus;
        return { status: answer, claim: response.headers.get(codeHeader) };
      });
      handlers.onClaim(claim);
      handlers.onStatus(status);
      handlers.onReach(true);
    } catch {
      handlers.onReach(false);
      socket?.close();
    }
  };

  const hear = (message: LandingMessage): void => {
    if (message.type === 'opened') return handlers.onOpened();
    failures = 0;
    handlers.onReach(true);
    handlers.onFormUrl(message.formUrl);
    handlers.onScreens(message.hasScreens);
    handlers.onMedia(message.media);
    handlers.onNetwork(message.network);
    handlers.onHotspot(message.hotspot);
    handlers.onStatus(message);
  };

  void look();

  const connect = (): void => {
    const url = new URL(`/api/onboarding/socket?deviceId=${device.id}`, location.href);
    url.protocol = url.protocol.replace('http', 'ws');
    const opened = new WebSocket(url, token.protocols());
    const deadline = setTimeout(() => opened.close(), CONNECT_MS);
    let refused = true;
    socket = opened;
    opened.onopen = () => {
      clearTimeout(deadline);
      refused = false;
      // A service that has started again knows no code of before.
      void look();
    };
    opened.onmessage = ({ data }) => hear(JSON.parse(String(data)) as LandingMessage);
    opened.onclose = () => {
      clearTimeout(deadline);
      setTimeout(connect, waitMs(failures++));
      // A browser does not report why a socket was refused; it may be the token.
      if (refused) void token.renew();
      void look();
    };
  };

  connect();
  setInterval(look, LOOK_MS);
  addEventListener('online', look);
};

requireTopLevel();

/** How long the greeting takes to appear; then the player page is loaded behind it. */
const GREETING_MS = 600;
/** How long the greeting is shown; the first slide appears within two seconds. */
const READING_MS = 1_200;
const RETRY_MS = 1_000;
/** After this time an opened form counts as abandoned. */
const OPENED_MS = 3 * 60_000;
/** How long a device that is bound shows its code. */
const SHOWN_MS = 10 * 60_000;

const boot = readBoot<LandingBoot>(document);
const identity = readIdentity(location.search);
const { deviceId } = identity;
const device = createDevice(deviceId, boot);
/** An operator lets the page of a device that is bound show a code, so that a phone can bind it again. */
const isShowingCode = new URLSearchParams(location.search).get('show') === 'code';
const token = createPageToken(boot.pageToken, location.href);
const texts = loadTexts(document, navigator.languages);

const page = element('landing');
let formUrl: string | null | undefined;
let claim: string | null = null;
let hasScreens = true;
/** The slug of the screen that the device is bound to; null: none; undefined: not known yet. */
let bound: string | null | undefined;
/** The slug of the screen to navigate to: that one, or the one that a command names. */
let destination: typeof bound;
let greeting: Greeting | null = null;
let hotspot: HotspotShown | undefined;
let openedTimer: ReturnType<typeof setTimeout> | undefined;

const sendHeartbeat = startHeartbeat(() => ({ ready: page.dataset.state !== 'quiet', slide: null, free: true }));

const say = (state: 'waiting' | 'opened' | 'away'): void => {
  page.dataset.state = state;
  element('state').textContent = texts[hotspot?.joined === true && state === 'waiting' ? 'opened' : state];
  sendHeartbeat();
};

const settle = (): void => {
  clearTimeout(openedTimer);
  say('waiting');
};

/** Where boxes have a secret, an id that is not derived from the key of a page gets no code. */
const isBoundByOthers = boot.pageToken !== null && !isProvableId(deviceId);

/** Without a reachable address there is no code to scan, and without screens nothing to choose. */
const sayWhatLacks = (): void => {
  const unreachableReason = boot.localFormUrl === null ? 'network' : 'reach';
  if (hotspot !== undefined) page.dataset.lack = 'wifi';
  else if (isBoundByOthers) page.dataset.lack = 'code';
  else page.dataset.lack = formUrl === null ? unreachableReason : hasScreens ? 'nothing' : 'screens';
};

const drawCode = async (url: string, shown: string | null): Promise<void> => {
  const isWanted = (): boolean => url === formUrl && shown === claim;
  try {
    const svg = await device.fetch(`/api/onboarding/qr?deviceId=${deviceId}`, token.header(), (response) => {
      if (!response.ok) throw new Error(`the code answers ${response.status}`);
      return response.text();
    });
    const picture = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', texts.code({ address: url }));
    if (isWanted()) element('code').replaceChildren(document.adoptNode(picture));
  } catch {
    setTimeout(() => isWanted() && drawCode(url, shown), RETRY_MS);
  }
};

const showAddress = (next: string | null): void => {
  if (next === formUrl) return;
  formUrl = next;
  sayWhatLacks();
  const [scheme = '', rest = ''] = (next ?? boot.localFormUrl)?.split(/(?<=:\/\/)/) ?? [];
  element('scheme').textContent = scheme;
  element('address').textContent = rest;
  if (next !== null) void drawCode(next, claim);
};

/** Shows other ids without separators in groups of four, without changing what is copied. */
const showDevice = (): void => {
  const isPlain = !isProvableId(deviceId) && /^[A-Za-z0-9]{9,}$/.test(deviceId);
  const groups = isPlain ? (deviceId.match(/.{1,4}/g) ?? []) : [shownDeviceId(deviceId)];
  element('device').replaceChildren(...groups.map((group) => make('span', '', group)));
};

const showClaim = (next: string | null): void => {
  if (next === claim) return;
  claim = next;
  element('claim').textContent = claim === null ? '' : shownClaim(claim);
  element('claim-way').hidden = claim === null;
  setFormLink(deviceId, claim);
  if (formUrl != null) void drawCode(formUrl, claim);
};

/** Shows the progress while media are copied from other boxes. */
const showMedia = (media: MediaProgress): void => {
  element('arriving').hidden = media === null;
  if (media === null) return;
  element('arriving-text').textContent = texts.arriving({ here: media.here, there: media.there });
  const bar = element<HTMLProgressElement>('arriving-bar');
  bar.max = media.there;
  bar.value = media.here;
};

/** Shows why the configured network is not used, and whether the previous one is. */
const showNetwork = (fault: NetworkFault | undefined): void => {
  element('network').hidden = fault === undefined;
  if (fault === undefined) return;
  const sentence = texts.network[fault.reason](fault);
  element('network').textContent = formUrl === null ? sentence : `${sentence} ${texts.networkBefore}`;
};

/** Shows how a phone joins the Wi-Fi of the box itself. */
const showHotspot = (next: HotspotShown | undefined): void => {
  if (JSON.stringify(next) === JSON.stringify(hotspot)) return;
  hotspot = next;
  sayWhatLacks();
  settle();
  if (next === undefined) return;
  element('wifi-name').textContent = next.ssid;
  element('wifi-password').textContent = next.password;
  element('wifi-address').textContent = next.address;
  // Boxes with a cable never need it.
  void import('../player/slides/qr-code.ts').then(({ qrPicture }) => {
    element<HTMLImageElement>('wifi-code').src = qrPicture(next.code);
  });
};

/** Stays on this origin, because the device id is stored per origin. */
const goTo = async (slug: string): Promise<void> => {
  const isWanted = (): boolean => {
    if (destination === slug && greeting?.slug === slug) passGreeting(greeting);
    return destination === slug;
  };
  if (destination !== slug || (await leaveFor(`/screen/${slug}`, isWanted)) || destination !== slug) return;
  // A command may name a screen that there is not.
  if (bound != null) destination = bound;
  setTimeout(() => destination != null && void goTo(destination), RETRY_MS);
};

/** Shows the greeting for a binding that was made while the page was open. */
const greet = (slug: string, name: string): void => {
  const until = Date.now() + READING_MS;
  greeting = { slug, name, welcome: texts.welcome, language: texts.tag, since: performance.timeOrigin, until };
  page.append(createGreeting(greeting));
  page.dataset.state = 'bound';
};

/**
 * Holds the socket of the player, so that commands reach the page; any command, and some time, end the code. A binding to
 * another screen names the device, and then moves its pages.
 */
const showCodeOf = (slug: string): void => {
  const url = new URL(`/api/screens/${slug}/socket`, location.href);
  url.protocol = url.protocol.replace('http', 'ws');
  const end = (): void => void goTo(slug);
  const connect = (): void => {
    if (destination !== slug) return;
    const socket = new WebSocket(url, token.protocols());
    socket.onopen = async () => socket.send(JSON.stringify(await helloOf(identity, device)));
    socket.onmessage = ({ data }) => {
      const message = JSON.parse(String(data)) as ServiceMessage;
      if (message.type !== 'command' || destination !== slug) return;
      if (message.command === 'setclientname') return void setTimeout(end, GREETING_MS);
      if (message.command === 'redirect') destination = /^\/screen\/([\w-]+)/.exec(message.url)?.[1] ?? slug;
      void goTo(destination);
    };
    socket.onclose = () => setTimeout(connect, waitMs(0));
  };
  connect();
  setTimeout(end, SHOWN_MS);
};

element('no-code-task').textContent = texts.noCodeTask({ deviceId });
showDevice();
showAddress(boot.formUrl);

follow(device, token, {
  onClaim: showClaim,
  onStatus: ({ screenSlug, screenName }) => {
    if (screenSlug === bound) return;
    const greets = bound !== undefined;
    bound = screenSlug;
    destination = screenSlug;
    if (isShowingCode && !greets && screenSlug !== null) {
      showCodeOf(screenSlug);
      return settle();
    }
    greeting = null;
    clearTimeout(openedTimer);
    page.querySelector('.greeting')?.remove();
    if (screenSlug === null || screenName === null) return settle();
    if (greets) greet(screenSlug, screenName);
    setTimeout(() => void goTo(screenSlug), greets ? GREETING_MS : 0);
  },
  onFormUrl: showAddress,
  onScreens: (has) => {
    hasScreens = has;
    sayWhatLacks();
  },
  onMedia: showMedia,
  onNetwork: showNetwork,
  onHotspot: showHotspot,
  onOpened: () => {
    if (destination !== null && !isShowingCode) return;
    clearTimeout(openedTimer);
    openedTimer = setTimeout(settle, OPENED_MS);
    say('opened');
  },
  onReach: (isThere) => {
    // Without a response an unknown status counts as unbound, so that the page shows a message.
    const isWaiting = destination == null || isShowingCode;
    if (!isThere && isWaiting) say('away');
    else if (isThere && destination !== undefined && isWaiting && page.dataset.state === 'away') settle();
  },
});

if (findKiosk() === undefined) receive(page, deviceId);
else
  for (const gesture of ['contextmenu', 'dragstart', 'selectstart'])
    addEventListener(gesture, (event) => event.preventDefault());
