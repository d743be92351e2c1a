import type { Command } from '../../service/contract/commands.ts';
import type { OnboardingStatus } from '../../service/contract/onboarding.ts';
import type { PlayerBoot } from '../../service/contract/page.ts';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { redirectTarget } from '../../service/domain/redirect.ts';
import { readBoot } from '../shared/boot.ts';
import { deviceHeaders } from '../shared/device.ts';
import { resumeGreeting } from '../shared/greeting.ts';
import { startPulse } from '../shared/heartbeat.ts';
import { readIdentity, rememberName } from '../shared/identity.ts';
import { leaveFor } from '../shared/leave.ts';
import { createPageToken } from '../shared/page-token.ts';
import { patientFetch } from '../shared/patience.ts';
import { requireTopLevel } from '../shared/top-level.ts';
import { createClock } from './clock.ts';
import { createIdle, type Note } from './idle.ts';
import { createLink, type Report } from './link.ts';
import { createShelf } from './media-cache.ts';
import { createPlayer } from './player.ts';
import { createRedirect } from './redirect.ts';
import { watchGlyphs } from './slides/glyphs.ts';
import { createSlide } from './slides/index.ts';
import { createStage } from './stage.ts';
import { createSite } from './sync-clock.ts';
import { textsFor } from './texts.ts';

requireTopLevel();

const element = (id: string): HTMLElement => {
  const found = document.getElementById(id);
  if (found === null) throw new Error(`the page has no #${id}`);
  return found;
};

const { slug, timeZone, pageToken } = readBoot<PlayerBoot>(document);
const endGreeting = resumeGreeting(document.body, slug);
const token = createPageToken(pageToken, location.pathname);
const identity = readIdentity(location.search);
const builtAt = Date.parse(document.querySelector<HTMLMetaElement>('meta[name=built]')?.content ?? '');
const clock = createClock(builtAt);
const shelf = createShelf();
const redirect = createRedirect({
  parent: document.body,
  createSlide,
  context: { timeZone, now: clock.now, media: shelf.take, credentials: token.header },
  onEnd: (reason) => {
    link.fault(null, reason);
    change({ page: location.pathname });
  },
});

const state: Report = {
  page: location.pathname,
  currentSlide: null,
  currentSlideId: null,
  currentSlideTitle: null,
  paused: false,
  blackout: false,
};

let isReady = false;
const beat = startPulse(() => ({ ready: isReady, slide: state.currentSlideId }));

/** Until then the screen stays black: a page in a frame, which is left while it is, loads anew. */
let seen: Promise<unknown> = Promise.resolve();
const lighten = (): void => {
  element('blackout').hidden = !state.blackout;
};

const change = (changed: Partial<Report>): void => {
  Object.assign(state, changed);
  if (state.blackout) element('blackout').hidden = false;
  const isCovered = state.blackout || redirect.url !== null;
  const hushed = redirect.hush(state.blackout);
  seen = Promise.all([seen, hushed, player.halt(state.paused || isCovered, isCovered)]).then(lighten);
  link.report({ ...state });
};

/** As the service checks it; one that is older lets other paths through. */
const go = async (url: string): Promise<void> => {
  const target = redirectTarget(url, ({ origin }) => origin === location.origin);
  if (target === null) throw new Error(`${url} is no page that a screen can show`);
  if (target.kind !== 'screen') {
    if (await redirect.show(target.url)) change({ page: target.url });
  } else if (!(await leaveFor(target.url)))
    throw new Error(`${target.url} can't be reached, or there is no such screen`);
};

const obey = (command: Command): void => {
  switch (command.command) {
    case 'refresh':
      player.retry();
      return link.refresh();
    case 'reload':
      return void leaveFor(location.href);
    case 'pause':
      return change({ paused: !state.paused });
    case 'blackout':
      return change({ blackout: command.blackout ?? !state.blackout });
    case 'previous':
      return player.step(-1);
    case 'next':
      return player.step(1);
    case 'left':
      return player.turn(-1);
    case 'right':
      return player.turn(1);
    case 'redirect':
      return void go(command.url).catch((error: Error) => link.fault(null, error.message));
    case 'setclientname':
      identity.clientName = command.clientName;
      return rememberName(command.clientName);
  }
};

/** Where the screen is gone no socket is left to be called by; the device may have been bound to another meanwhile. */
const lookForScreen = async (): Promise<void> => {
  const path = `/api/onboarding/status?deviceId=${identity.deviceId}`;
  const headers = { ...token.header(), ...deviceHeaders(identity.deviceId) };
  const status = await patientFetch(path, { headers }, (response) => response.json());
  const { onboarded, screenSlug } = status as OnboardingStatus;
  if (onboarded && screenSlug !== slug) await leaveFor(`/screen/${screenSlug}`);
};

const texts = textsFor(navigator.languages);
/** An address can be longer than any slug. */
const shorten = (text: string): string => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
/** The name of the screen as it was last; null: it has never been there. */
let knownName: string | null = null;
let isMissing = false;
const load = (payload: PlaylistPayload | null, isInStep: boolean): void => {
  site.follow(isInStep);
  // First, since the idle screen may come on at once, and says so.
  isMissing = payload === null;
  player.load(payload, isInStep);
  // A page may also have been opened before its screen is there, and then it waits.
  if (payload === null && knownName !== null) lookForScreen().catch(() => {});
  knownName = payload?.screen.name ?? knownName;
};

const noteOf = (): Note | null => {
  if (!isMissing) return null;
  const words = knownName === null ? texts.noScreen(shorten(slug)) : texts.screenGone(knownName);
  return { ...words, language: texts.tag };
};

const site = createSite(clock, (message) => link.say(message));
const player = createPlayer(
  {
    clock,
    site,
    stage: createStage(element('stage')),
    shelf,
    credentials: token.header,
    createSlide: watchGlyphs(createSlide, (slideId, characters) => link.say({ type: 'glyphs', slideId, characters })),
    createIdle: () =>
      createIdle({
        timeZone,
        now: () => (clock.state() === 'unset' ? null : clock.now()),
        note: noteOf,
      }),
    onReport: (report) => {
      isReady = true;
      endGreeting();
      change(report);
      beat();
    },
    onFault: (slideId, reason) => link.fault(slideId, reason),
    onSwap: (slideId, gapMs) => link.swapped(slideId, gapMs),
  },
  { timeZone },
);
const link = createLink(slug, identity, {
  clock,
  token,
  onPlaylist: load,
  onCommand: obey,
  onTime: (message) => {
    site.answer(message);
    player.look();
  },
  onTimeSet: player.look,
});

for (const gesture of ['contextmenu', 'dragstart', 'selectstart']) {
  addEventListener(gesture, (event) => event.preventDefault());
}
