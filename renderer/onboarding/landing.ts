/** The landing page: shown until the device is bound to a screen. */
import type { MediaProgress } from '../../service/contract/onboarding.ts';
import type { LandingBoot } from '../../service/contract/page.ts';
import { readBoot } from '../shared/boot.ts';
import { deviceHeaders } from '../shared/device.ts';
import { createGreeting, type Greeting, passGreeting, takeGreeting } from '../shared/greeting.ts';
import { startHeartbeat } from '../shared/heartbeat.ts';
import { readIdentity } from '../shared/identity.ts';
import { findKiosk } from '../shared/kiosk.ts';
import { leaveFor } from '../shared/leave.ts';
import { createPageToken } from '../shared/page-token.ts';
import { patientFetch } from '../shared/patience.ts';
import { requireTopLevel } from '../shared/top-level.ts';
import { element } from './element.ts';
import { follow } from './follow.ts';
import { loadTexts } from './texts.ts';
import { receive } from './visitor.ts';

requireTopLevel();

/** How long the greeting takes to appear; then the player page is loaded behind it. */
const GREETING_MS = 600;
/** How long the greeting is shown; the first slide appears within two seconds. */
const READING_MS = 1_200;
const RETRY_MS = 1_000;
/** After this time an opened form counts as abandoned. */
const OPENED_MS = 3 * 60_000;

const boot = readBoot<LandingBoot>(document);
const { deviceId } = readIdentity(location.search);
const token = createPageToken(boot.pageToken, location.href);
const texts = loadTexts(document, navigator.languages);

const page = element('landing');
let formUrl: string | null | undefined;
let hasScreens = true;
/** The slug of the screen to navigate to; null: none; undefined: not known yet. */
let destination: string | null | undefined;
let greeting: Greeting | null = null;
let openedTimer: ReturnType<typeof setTimeout> | undefined;

const sendHeartbeat = startHeartbeat(() => ({ ready: page.dataset.state !== 'quiet', slide: null }));

const say = (state: 'waiting' | 'opened' | 'away'): void => {
  page.dataset.state = state;
  element('state').textContent = texts[state];
  sendHeartbeat();
};

const settle = (): void => {
  clearTimeout(openedTimer);
  say('waiting');
};

/** Without a reachable address there is no code to scan, and without screens nothing to choose. */
const sayWhatLacks = (): void => {
  const unreachableReason = boot.localFormUrl === null ? 'network' : 'reach';
  page.dataset.lack = formUrl === null ? unreachableReason : hasScreens ? 'nothing' : 'screens';
};

const drawCode = async (url: string): Promise<void> => {
  try {
    const path = `/api/onboarding/qr?deviceId=${deviceId}`;
    const headers = { ...token.header(), ...deviceHeaders(deviceId) };
    const svg = await patientFetch(path, { headers }, (response) => {
      if (!response.ok) throw new Error(`the code answers ${response.status}`);
      return response.text();
    });
    const picture = new DOMParser().parseFromString(svg, 'image/svg+xml').documentElement;
    picture.setAttribute('role', 'img');
    picture.setAttribute('aria-label', texts.code({ address: url }));
    if (url === formUrl) element('code').replaceChildren(document.adoptNode(picture));
  } catch {
    setTimeout(() => url === formUrl && drawCode(url), RETRY_MS);
  }
};

const showAddress = (next: string | null): void => {
  if (next === formUrl) return;
  formUrl = next;
  sayWhatLacks();
  const [scheme = '', rest = ''] = (next ?? boot.localFormUrl)?.split(/(?<=:\/\/)/) ?? [];
  element('scheme').textContent = scheme;
  element('address').textContent = rest;
  if (next !== null) void drawCode(next);
};

/** Shows ids without separators in groups of four, without changing what is copied. */
const showDevice = (): void => {
  const groups = /^[A-Za-z0-9]{9,}$/.test(deviceId) ? (deviceId.match(/.{1,4}/g) ?? []) : [deviceId];
  element('device').replaceChildren(
    ...groups.map((group) => {
      const part = document.createElement('span');
      part.textContent = group;
      return part;
    }),
  );
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

/** Stays on this origin, because the device id is stored per origin. */
const goTo = async (slug: string): Promise<void> => {
  if (destination !== slug) return;
  if (greeting !== null) passGreeting(greeting);
  if (await leaveFor(`/screen/${slug}`)) return;
  takeGreeting();
  setTimeout(() => void goTo(slug), RETRY_MS);
};

/** Shows the greeting for a binding that was made while the page was open. */
const greet = (slug: string, name: string): void => {
  const until = Date.now() + READING_MS;
  greeting = { slug, name, welcome: texts.welcome, language: texts.tag, since: performance.timeOrigin, until };
  page.append(createGreeting(greeting));
  page.dataset.state = 'bound';
};

showDevice();
showAddress(boot.formUrl);

follow(deviceId, token, {
  onStatus: ({ screenSlug, screenName }) => {
    if (screenSlug === destination) return;
    const greets = destination !== undefined;
    destination = screenSlug;
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
  onOpened: () => {
    if (destination !== null) return;
    clearTimeout(openedTimer);
    openedTimer = setTimeout(settle, OPENED_MS);
    say('opened');
  },
  onReach: (isThere) => {
    // Without a response an unknown status counts as unbound, so that the page shows a message.
    if (!isThere && destination == null) say('away');
    else if (isThere && destination === null && page.dataset.state === 'away') settle();
  },
});

if (findKiosk() === undefined) receive(page, deviceId);
else
  for (const gesture of ['contextmenu', 'dragstart', 'selectstart'])
    addEventListener(gesture, (event) => event.preventDefault());
