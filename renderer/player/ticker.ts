/** A ticker: one line of texts that moves without a seam. Its position follows the site's clock, so that it does not drift. */
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import type { Zone } from '../../service/contract/programmes.ts';
import { isOn, nextChange } from '../../service/domain/slide-schedule.ts';
import { make } from '../shared/elements.ts';
import type { Clock, SyncClock } from './clock.ts';
import { directionOf } from './direction.ts';
import type { TickerPlays, TickerSlide } from './plays/ticker-plays.ts';
import { textsOf } from './ticker-texts.ts';

interface Dependencies {
  clock: Pick<Clock, 'now'>;
  syncClock: Pick<SyncClock, 'at'>;
  timeZone: string;
  /** Called when it has something to show, or has nothing any more. */
  onShow(isShown: boolean): void;
  /** Absent: nothing is recorded, as in a preview. */
  plays?: Pick<TickerPlays, 'show'>;
}

/** Heights of the ticker that the line moves in a second. */
const SPEED = 1.6;
/** Its position is compared with the clock this often, and corrected beyond the tolerance, in ms. */
const COMPARE_MS = 5_000;
const TOLERANCE_MS = 30;

/** Sizes as the page is laid out, which a rotation of the page does not swap; 0: it is not drawn. */
const sizeOf = (element: Element): { width: number; height: number } => {
  const { width, height } = getComputedStyle(element);
  return { width: Number.parseFloat(width) || 0, height: Number.parseFloat(height) || 0 };
};

export const createTicker = (root: HTMLElement, { clock, syncClock, timeZone, onShow, plays }: Dependencies) => {
  let payload: PlaylistPayload | null = null;
  let zone: Zone | undefined;
  let texts: string[] = [];
  let motion: Animation | null = null;
  let isHalted = false;
  /** Width of the line when it was drawn. */
  let drawn = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const place = (): number | null => {
    const duration = motion?.effect?.getTiming().duration;
    return typeof duration === 'number' ? syncClock.at(performance.now()) % duration : null;
  };

  const follow = (): void => {
    const at = place();
    if (motion === null || at === null || isHalted) return;
    const before = Number(motion.currentTime ?? 0);
    const duration = Number(motion.effect?.getTiming().duration);
    const apart = Math.abs((before % duration) - at);
    if (Math.min(apart, duration - apart) > TOLERANCE_MS) motion.currentTime = at;
  };

  const lineOf = (): HTMLElement => {
    const line = make('div', 'ticker-line');
    line.append(...texts.map((text) => make('span', '', make('bdi', '', text))));
    return line;
  };

  const widthOf = (track: Element): number =>
    track.firstElementChild === null ? 0 : sizeOf(track.firstElementChild).width;

  /** As many copies of the line as fill the screen while the first one leaves it. */
  const draw = (): void => {
    motion?.cancel();
    motion = null;
    root.replaceChildren();
    if (texts.length === 0) return;
    const direction = directionOf(texts.join(' '));
    root.dir = direction;
    const track = make('div', 'ticker-track', lineOf());
    root.append(track);
    const width = widthOf(track);
    drawn = width;
    const { width: visible, height } = sizeOf(root);
    // On a strip it is not drawn.
    if (width === 0 || height === 0) return;
    for (let copies = Math.ceil(visible / width); copies > 0; copies--) track.append(lineOf());
    const duration = Math.round((width / (SPEED * height)) * 1000);
    // The beginning of a text comes in first.
    const way = direction === 'rtl' ? width : -width;
    const frames = [{ transform: 'translateX(0)' }, { transform: `translateX(${way}px)` }];
    motion = track.animate(frames, { duration, iterations: Number.POSITIVE_INFINITY });
    motion.currentTime = place();
    if (isHalted) motion.pause();
  };

  const update = (): void => {
    clearTimeout(timer);
    const now = clock.now();
    const { slides = [], playlists, playlist } = zone ?? {};
    const due = payload;
    const shown: TickerSlide[] = [];
    const next =
      due === null
        ? []
        : slides.flatMap((slide, index) => {
            const own = isOn(slide, now, timeZone) ? textsOf(slide, due, now, timeZone) : [];
            if (own.length > 0) shown.push({ slide, playlistId: playlists?.[index] ?? playlist?.id ?? null });
            return own;
          });
    if (JSON.stringify(next) !== JSON.stringify(texts)) {
      texts = next;
      onShow(texts.length > 0);
      draw();
    }
    plays?.show(motion === null ? [] : shown);
    follow();
    if (slides.length === 0) return;
    const left = nextChange(slides, now, timeZone) - now;
    timer = setTimeout(update, Math.min(Math.max(left, 0), COMPARE_MS));
  };

  new ResizeObserver(draw).observe(root);
  // A line that was measured in another font has a seam.
  document.fonts.addEventListener('loadingdone', () => {
    const track = root.firstElementChild;
    if (track !== null && widthOf(track) !== drawn) draw();
  });

  return {
    load: (next: PlaylistPayload | null, nextZone: Zone | undefined): void => {
      payload = next;
      zone = nextZone;
      update();
    },
    update,
    halt: (halted: boolean): void => {
      isHalted = halted;
      if (halted) motion?.pause();
      else motion?.play();
      follow();
    },
  };
};
