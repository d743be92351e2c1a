/** The player page: creates its parts and connects them. */
import { languages, type Texts } from 'virtual:texts/player';
import type { OnboardingStatus } from '../../service/contract/onboarding.ts';
import type { PlayerBoot } from '../../service/contract/page.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { fetchBoot, readBoot, requireTopLevel } from '../shared/boot.ts';
import { createDevice } from '../shared/device.ts';
import { element } from '../shared/elements.ts';
import { resumeGreeting } from '../shared/greeting.ts';
import { startHeartbeat } from '../shared/heartbeat.ts';
import { createIdentify } from '../shared/identify.ts';
import { readIdentity } from '../shared/identity.ts';
import { createPageToken } from '../shared/page-token.ts';
import { leaveFor } from '../shared/retry.ts';
import { recall, remember } from '../shared/storage.ts';
import { textsFor } from '../texts/messages.ts';
import { createClock, createSyncClock } from './clock.ts';
import { runCommand } from './commands.ts';
import { createCovers } from './covers.ts';
import { watchFrames } from './frames.ts';
import { createHouseStyle } from './house-style.ts';
import { createIdle, createNothing, type Note } from './idle.ts';
import { createLink, type Report } from './link.ts';
import { createMediaCache } from './media-cache.ts';
import { createPlayer } from './player.ts';
import { createPlays } from './plays/index.ts';
import { createRedirect } from './redirect.ts';
import { createRenewal } from './renewal.ts';
import { watchGlyphs } from './slides/glyphs.ts';
import { createSlide } from './slides/index.ts';
import type { SlideFactory } from './slides/slide.ts';
import { createTakeover } from './slides/takeover.ts';
import { createStage } from './stage.ts';
import { createTakeovers, endOf } from './takeovers.ts';
import { createZones } from './zones.ts';

requireTopLevel();

const boot = readBoot<PlayerBoot>(document);
const { slug, timeZone, pageToken, isBaseline = false } = boot;
const endGreeting = resumeGreeting(document.body, slug);
const token = createPageToken(pageToken, location.pathname, !isBaseline);
const identity = readIdentity(location.search);
const device = createDevice(identity.deviceId, boot);
const builtAt = Date.parse(document.querySelector<HTMLMetaElement>('meta[name=built]')?.content ?? '');
const clock = createClock(builtAt);
const mediaCache = createMediaCache(() => houseStyle.logo);
const houseStyle = createHouseStyle(document.documentElement, mediaCache);
const countFrames = watchFrames((frames) => void link.sendNow({ type: 'video', ...frames }));
const redirect = createRedirect({
  parent: document.body,
  createSlide: mediaCache.holding(createSlide),
  context: {
    timeZone,
    now: clock.now,
    media: mediaCache.resolve,
    credentials: token.header,
    refused: token.refused,
    countFrames,
  },
  onEnd: (reason) => {
    link.reportError(null, reason);
    change({ page: location.pathname });
  },
});

/** The reported state: of commands, and of the playlist. */
const state: Report = {
  page: location.pathname,
  currentSlide: null,
  currentSlideId: null,
  currentSlideTitle: null,
  paused: false,
  blackout: false,
};

let isReady = false;
const currentOf = (index: number | null, slide: Slide | null) => ({
  currentSlide: index,
  currentSlideId: slide?.id ?? null,
  currentSlideTitle: slide?.title ?? null,
});
const currentReport = (): Report => {
  const { shown } = takeovers;
  return shown === null ? { ...state } : { ...state, ...currentOf(shown.index, shown.slide) };
};
/** Whether the playlist alone is on: a new page would know of nothing else. */
const isFree = (): boolean =>
  takeovers.shown === null && state.page === location.pathname && !state.paused && !state.blackout;
const sendHeartbeat = startHeartbeat(() => ({
  ready: isReady,
  slide: currentReport().currentSlideId,
  free: isFree(),
}));

const change = (changed: Partial<Report>): void => {
  Object.assign(state, changed);
  cover(state);
  link.report(currentReport());
};

/** A removed screen has no socket that could announce a new binding, so ask whether the device was bound to another one. */
const followNewBinding = async (): Promise<void> => {
  const path = `/api/onboarding/status?deviceId=${device.id}`;
  const { onboarded, screenSlug } = await device.fetch(
    path,
    token.header(),
    async (response) => (await response.json()) as OnboardingStatus,
  );
  if (onboarded && screenSlug !== slug) await leaveFor(`/screen/${screenSlug}`);
};

const texts = textsFor<Texts>(languages, navigator.languages);
/** The path of the page can hold text that is longer than any valid slug. */
const shorten = (text: string): string => (text.length > 64 ? `${text.slice(0, 64)}…` : text);
const nameKey = `signage.screen.${slug}`;
/** The last known name of the screen; null: this browser has never shown it. */
let knownName = recall(nameKey);
let isMissing = false;
const load = (payload: PlaylistPayload | null, isSynchronized: boolean): void => {
  // Before `player.load`, which can immediately show the idle screen, whose note depends on it.
  isMissing = payload === null;
  revision = payload?.revision ?? null;
  // Before the slides are laid out.
  houseStyle.load(payload);
  const playlist = takeovers.load(payload);
  // Programmes, takeovers and events of calendars begin on all screens of the site in the same frame.
  const isTimed =
    payload?.programme !== undefined ||
    payload?.zones !== undefined ||
    payload?.calendars !== undefined ||
    payload?.timetableGroups?.some(({ fetched_at }) => fetched_at !== undefined) === true ||
    takeovers.count > 0;
  if (!isBaseline) syncClock.ask();
  syncClock.setReporting(isSynchronized || isTimed);
  player.load(playlist, isSynchronized);
  zones.load(payload);
  // A page that was opened before its screen exists waits for it instead.
  if (payload === null && knownName !== null && !isBaseline) followNewBinding().catch(() => {});
  if (payload === null || payload.screen.name === knownName) return;
  knownName = payload.screen.name;
  remember(nameKey, knownName);
};

const noteOf = (): Note | null => {
  if (!isMissing) return null;
  const { noScreen, screenGone, tag: language } = texts;
  return knownName === null
    ? { title: noScreen.title({ slug: shorten(slug) }), task: noScreen.task, language }
    : { title: screenGone.title({ name: knownName }), task: screenGone.task, language };
};

let revision: string | null = null;
const plays = createPlays({
  clock,
  screen: slug,
  revision: () => revision,
  send: (records) => link.sendNow({ type: 'plays', plays: records }),
  onError: (reason) => link.reportError(null, reason),
});
const syncClock = createSyncClock(clock, (message) => void link.sendNow(message));
const views = {
  clock,
  syncClock,
  credentials: token.header,
  refused: token.refused,
  countFrames,
  onError: (slideId: string, reason: string) => link.reportError(slideId, reason),
  onSwap: (slideId: string | null, gapMs: number) => link.reportSwap(slideId, gapMs),
};
const watchText = (create: SlideFactory): SlideFactory =>
  watchGlyphs(create, (slideId, characters) => void link.sendNow({ type: 'glyphs', slideId, characters }));
/** Called when something was painted. */
const onPainted = (changed: Partial<Report>): void => {
  isReady = true;
  endGreeting();
  change(changed);
  sendHeartbeat();
};
/** Identifies the service that served the page; the page reloads when this changes. */
const servedBy = (version: string, zone: string): string => `${version} ${zone}`;
const renewal = createRenewal(servedBy(boot.version, timeZone), isFree);
/** The idle screen has no end of its own. */
const renewIdle = (): void => {
  if (isReady && state.currentSlideId === null) void renewal.boundary();
};
const onService = (version: string, zone: string): void => {
  renewal.onVersion(servedBy(version, zone));
  renewIdle();
};
// Vite tells of each import() that fails.
addEventListener('vite:preloadError', () => {
  renewal.onIncomplete();
  renewIdle();
});
const player = createPlayer(
  {
    ...views,
    plays: {
      ...plays.playlist,
      end: (ending) => {
        plays.playlist.end(ending);
        void renewal.boundary();
      },
    },
    stage: createStage(element('stage')),
    mediaCache,
    createSlide: watchText(createSlide),
    createIdle: () =>
      createIdle({
        timeZone,
        now: () => (clock.state() === 'unset' ? null : clock.now()),
        note: noteOf,
      }),
    onReport: (index, slide) => onPainted(currentOf(index === null ? null : index + takeovers.count, slide)),
  },
  { timeZone },
);
const sidebar = createPlayer(
  {
    ...views,
    plays: plays.sidebar,
    stage: createStage(element('sidebar')),
    mediaCache,
    createSlide: watchText(createSlide),
    createIdle: createNothing,
    onReport: (_, slide) => zones.onReport(slide),
    onSwap: () => {},
  },
  { timeZone },
);
const zones = createZones({
  clock,
  syncClock,
  timeZone,
  root: document.body,
  ticker: element('ticker'),
  sidebar,
  plays: plays.ticker,
});
const takeoverPlayer = createPlayer(
  {
    ...views,
    // Plays of takeovers are recorded below, where their visibility is known.
    plays: { begin() {}, end() {}, skip: plays.takeover.skip },
    stage: createStage(element('takeover')),
    mediaCache: { ...mediaCache, resolve: mediaCache.resolveAtOnce },
    createSlide: watchText(createTakeover(views.onError)),
    createIdle: createNothing,
    onReport: (_, slide) => takeovers.onReport(slide),
    onSwap: () => {},
  },
  { timeZone, fadeMs: 0 },
);
const siteNow = (): number => syncClock.at(clock.elapsed());
const takeovers = createTakeovers({
  moment: () => ({ at: siteNow(), monotonic: clock.elapsed() }),
  timeZone,
  player: takeoverPlayer,
  mediaCache,
  onDue: () => change({}),
  onShow: (shown) => {
    plays.takeover.end({ isFailed: false, reason: shown === null ? 'ended' : 'takeover' });
    if (shown === null) return change({});
    // One without an end is planned for no time.
    const left = endOf(shown) - siteNow();
    plays.takeover.begin(shown.slide, Number.isNaN(left) ? 0 : Math.max(0, left));
    onPainted({});
  },
});
const cover = createCovers({
  player,
  zones,
  redirect,
  takeovers,
  plays,
  blackout: element('blackout'),
  takeover: element('takeover'),
});
const onMedia = (): void => {
  houseStyle.onMedia();
  player.retry();
  zones.onMedia();
  takeovers.onMedia();
};
const link = createLink(slug, identity, {
  clock,
  token,
  device,
  onPlaylist: load,
  onService,
  onWelcome: async () => {
    // Some may have arrived while nobody could tell.
    onMedia();
    if (!isBaseline) return;
    // Its playlists do not name the service.
    const answering = await fetchBoot<PlayerBoot>(location.pathname);
    onService(answering.version, answering.timeZone);
  },
  onRevision: (next) => {
    revision = next;
  },
  onCommand: (command) => runCommand(command, { player, link, redirect, identity, state, change }),
  onShow: player.goTo,
  onIdentify: createIdentify(() => void link.sendNow({ type: 'identified' })),
  onMedia,
  onTime: (message) => {
    const moved = syncClock.answer(message);
    player.onClockSet();
    zones.onClockSet();
    return moved;
  },
  onTimeSet: () => {
    player.onClockSet();
    zones.onClockSet();
    takeovers.onClockSet();
  },
  plays: plays.delivery,
});

document.addEventListener('visibilitychange', () => change({}));
for (const gesture of ['contextmenu', 'dragstart', 'selectstart']) {
  addEventListener(gesture, (event) => event.preventDefault());
}
