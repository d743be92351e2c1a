/**
 * The real player in a frame of the console, for content that is not published. It has no link to the service, and no
 * identity: a framed page must not act as the display of this browser.
 */
import type { PreviewBoot } from '../../../service/contract/page.ts';
import { createClock } from '../../player/clock.ts';
import { createHouseStyle } from '../../player/house-style.ts';
import { createIdle, createNothing } from '../../player/idle.ts';
import { createMediaCache } from '../../player/media-cache.ts';
import { createPlayer } from '../../player/player.ts';
import { createSlide } from '../../player/slides/index.ts';
import { createTakeover } from '../../player/slides/takeover.ts';
import { createStage } from '../../player/stage.ts';
import { createZones } from '../../player/zones.ts';
import { readBoot } from '../../shared/boot.ts';
import { createPageToken } from '../../shared/page-token.ts';
import type { PlayMessage, PreviewMessage } from '../ui/player-frame.tsx';

const { timeZone, pageToken } = readBoot<PreviewBoot>(document);
const builtAt = Date.parse(document.querySelector<HTMLMetaElement>('meta[name=built]')?.content ?? '');
const clock = createClock(builtAt);
const token = createPageToken(pageToken, location.pathname);

const say = (message: PreviewMessage): void => parent.postMessage(message, location.origin);
const onError = (slideId: string, reason: string): void => say({ type: 'failed', slideId, reason });
const createTakeoverSlide = createTakeover(onError);

const element = (id: string): HTMLElement => document.getElementById(id) as HTMLElement;
const mediaCache = createMediaCache();
const houseStyle = createHouseStyle(document.documentElement, mediaCache);
const shared = {
  clock,
  // A preview is not synchronized with other pages.
  syncClock: { at: clock.now, recordSwap: () => {}, recordVideoSkew: () => {} },
  mediaCache,
  credentials: token.header,
  refused: token.refused,
  onError,
  onSwap: () => {},
};
const player = createPlayer(
  {
    ...shared,
    stage: createStage(element('stage')),
    createSlide: (context) =>
      context.slide.content?.['takeover'] === undefined ? createSlide(context) : createTakeoverSlide(context),
    createIdle: () => createIdle({ timeZone, now: clock.now, note: () => null }),
    onReport: (_, slide) => say({ type: 'shown', slideId: slide?.id ?? null }),
  },
  { timeZone },
);
const sidebar = createPlayer(
  {
    ...shared,
    stage: createStage(element('sidebar')),
    createSlide,
    createIdle: createNothing,
    onReport: (_, slide) => zones.onReport(slide),
  },
  { timeZone },
);
const zones = createZones({ ...shared, timeZone, root: document.body, ticker: element('ticker'), sidebar });

addEventListener('message', ({ origin, source, data }: MessageEvent<PlayMessage>) => {
  if (origin !== location.origin || source !== parent || data.type !== 'play') return;
  houseStyle.load(data.payload);
  player.load(data.payload);
  zones.load(data.payload);
  for (const each of [player, zones]) void each.halt(data.isPaused, data.isSilent);
});
say({ type: 'ready' });
