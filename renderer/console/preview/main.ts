/**
 * The real player in a frame of the console, for content that is not published. It has no link to the service, and no
 * identity: a framed page must not act as the display of this browser.
 */
import type { PreviewBoot } from '../../../service/contract/page.ts';
import { createClock } from '../../player/clock.ts';
import { createIdle } from '../../player/idle.ts';
import { createMediaCache } from '../../player/media-cache.ts';
import { createPlayer } from '../../player/player.ts';
import { createSlide } from '../../player/slides/index.ts';
import { createTakeover } from '../../player/slides/takeover.ts';
import { createStage } from '../../player/stage.ts';
import { readBoot } from '../../shared/boot.ts';
import { createPageToken } from '../../shared/page-token.ts';
import type { PlayMessage, PreviewMessage } from './message.ts';

const { timeZone, pageToken } = readBoot<PreviewBoot>(document);
const builtAt = Date.parse(document.querySelector<HTMLMetaElement>('meta[name=built]')?.content ?? '');
const clock = createClock(builtAt);
const token = createPageToken(pageToken, location.pathname);

const say = (message: PreviewMessage): void => parent.postMessage(message, location.origin);
const onError = (slideId: string, reason: string): void => say({ type: 'failed', slideId, reason });
const createTakeoverSlide = createTakeover(onError);

const player = createPlayer(
  {
    clock,
    // A preview is not synchronized with other pages.
    syncClock: { at: clock.now, recordSwap: () => {}, recordVideoSkew: () => {} },
    stage: createStage(document.getElementById('stage') as HTMLElement),
    mediaCache: createMediaCache(),
    credentials: token.header,
    createSlide: (context) =>
      context.slide.content?.['takeover'] === undefined ? createSlide(context) : createTakeoverSlide(context),
    createIdle: () => createIdle({ timeZone, now: clock.now, note: () => null }),
    onReport: (_, slide) => say({ type: 'shown', slideId: slide?.id ?? null }),
    onError,
    onSwap: () => {},
  },
  { timeZone },
);

addEventListener('message', ({ origin, source, data }: MessageEvent<PlayMessage>) => {
  if (origin !== location.origin || source !== parent || data.type !== 'play') return;
  player.load(data.payload);
});
say({ type: 'ready' });
