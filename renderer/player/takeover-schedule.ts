/** Which takeover a page shows at a moment; pure. A takeover is a slide at the head of the playlist. */
import { type TakeoverLevel, takeoverLevels } from '../../service/contract/console/takeover-levels.ts';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { isOn, nextChange } from '../../service/domain/slide-schedule.ts';

export interface Takeover {
  slide: Slide;
  /** Index of the slide in the playlist. */
  index: number;
  id: string;
  level: TakeoverLevel;
  /** Equal for the same takeover with the same start and end: one that is prolonged is another one. */
  key: string;
}

const takeoverOf = (slide: Slide, index: number): Takeover | null => {
  const { id, ...content } = (slide.content?.['takeover'] ?? {}) as { id?: unknown; level?: unknown };
  const level = takeoverLevels.find((each) => each === content.level);
  if (typeof id !== 'string' || slide.id !== `takeover-${id}` || slide.schedule_mode !== 'between') return null;
  if (level === undefined) return null;
  const key = [id, slide.schedule_start_datetime, slide.schedule_end_datetime].join(' ');
  return { slide, index, id, level, key };
};

/** The takeovers at the head of a playlist, and the playlist without them. */
export const splitPlaylist = (payload: PlaylistPayload): { takeovers: Takeover[]; playlist: PlaylistPayload } => {
  const takeovers: Takeover[] = [];
  for (const [index, slide] of payload.slides.entries()) {
    const takeover = takeoverOf(slide, index);
    if (takeover === null) break;
    takeovers.push(takeover);
  }
  if (takeovers.length === 0) return { takeovers, playlist: payload };
  return { takeovers, playlist: { ...payload, slides: payload.slides.slice(takeovers.length) } };
};

const startOf = ({ slide }: Takeover): number => Date.parse(slide.schedule_start_datetime ?? '') || 0;
/** When a takeover ends, in ms since the epoch. */
export const endOf = ({ slide }: Takeover): number => Date.parse(slide.schedule_end_datetime ?? '');

/** How long a takeover is on, in s; null: without an end. */
export const secondsOf = (takeover: Takeover): number | null => {
  const seconds = (endOf(takeover) - startOf(takeover)) / 1000;
  return seconds > 0 ? seconds : null;
};

/** Above 0 if `a` takes precedence: the higher level, then the later start, then the greater id. */
const compare = (a: Takeover, b: Takeover): number =>
  takeoverLevels.indexOf(a.level) - takeoverLevels.indexOf(b.level) ||
  startOf(a) - startOf(b) ||
  (a.id > b.id ? 1 : -1);

/** The keys of the takeovers that have ended at `wall`, in ms since the epoch. */
export const endedAt = (takeovers: readonly Takeover[], wall: number): string[] =>
  takeovers.filter((takeover) => endOf(takeover) <= wall).map(({ key }) => key);

/** The takeover to show at `wall`, in ms since the epoch; null: none is on. `over`: keys of those that have ended before. */
export const takeoverAt = (
  takeovers: readonly Takeover[],
  wall: number,
  timeZone: string,
  over: ReadonlySet<string>,
): Takeover | null =>
  takeovers
    .filter(({ slide, key }) => !over.has(key) && isOn(slide, wall, timeZone))
    .reduce<Takeover | null>((best, each) => (best === null || compare(each, best) > 0 ? each : best), null);

/** When the next takeover comes on or ends, in ms since the epoch; infinity: never. */
export const nextTakeoverChange = (takeovers: readonly Takeover[], wall: number, timeZone: string): number =>
  nextChange(
    takeovers.map(({ slide }) => slide),
    wall,
    timeZone,
  );
