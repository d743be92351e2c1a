/**
 * What is due on a page when: the rounds of its payload one after the other in one list of places, of which those of one
 * round are due at a time. A slide can stand in several places. Pure; instants in ms since the epoch.
 */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import type { Zone } from '../../service/contract/programmes.ts';

/** A round: the places from `start` until before `end`. */
export interface Round {
  playlist: PlaylistPayload['playlist'];
  isSynchronized: boolean;
  start: number;
  end: number;
}

export interface PagePlan {
  /** The slide of each place. */
  slides: Slide[];
  /** Whether something else is due at other times: by the time of the site, on all its screens in the same frame. */
  isTimed: boolean;
  hasSynchronized: boolean;
  /** The round of a place; an unknown place counts as one of the first round. */
  roundOf(place: number): Round;
  /** The index of a place in its round; null: no slide. */
  positionOf(place: number | null): number | null;
  /** The round that is due; null in place of the time: the clock is not set. */
  roundAt(now: number | null): Round;
  /** When another round is due; infinity: never. */
  changesAt(now: number): number;
  /** The playlist that the slide of a place stands in, and the programme that is due; null: unknown, none. */
  playOf(place: number, now: number): { playlist_id: string | null; programme_id: string | null };
}

/** Whether two rounds are of one playlist, as those of two days are if it is shuffled. */
export const isSamePlaylist = (one: Round, other: Round): boolean =>
  one === other || (one.playlist?.id ?? null) === (other.playlist?.id ?? null);

interface Span {
  from: number;
  round: Round;
  programmeId: string | null;
}

/** One round that is always due. @param origins the playlist that each slide stands in, where it is not `playlist` */
export const oneRound = (
  slides: readonly Slide[],
  isSynchronized: boolean,
  playlist: PlaylistPayload['playlist'] = null,
  origins: readonly string[] = [],
): PagePlan => {
  const round: Round = { playlist, isSynchronized, start: 0, end: slides.length };
  return {
    slides: [...slides],
    isTimed: false,
    hasSynchronized: isSynchronized,
    roundOf: () => round,
    positionOf: (place) => place,
    roundAt: () => round,
    changesAt: () => Number.POSITIVE_INFINITY,
    playOf: (place) => ({ playlist_id: origins[place] ?? playlist?.id ?? null, programme_id: null }),
  };
};

/** What a player plays: the payload of its screen, or that with the playlist and slides of a zone in their places. */
export type PlayedPayload = PlaylistPayload & Pick<Zone, 'playlists'>;

export const createPagePlan = (payload: PlayedPayload | null, isSynchronized: boolean): PagePlan => {
  const programme = payload?.programme;
  if (payload === null) return oneRound([], isSynchronized);
  if (programme === undefined) return oneRound(payload.slides, isSynchronized, payload.playlist, payload.playlists);
  const slides: Slide[] = [];
  const origins: (string | null)[] = [];
  const rounds = programme.lists.map(({ playlist, sync, slides: keys }): Round => {
    const start = slides.length;
    for (const key of keys) {
      const slide = Object.hasOwn(programme.slides, key) ? programme.slides[key] : undefined;
      if (slide === undefined) continue;
      slides.push(slide);
      origins.push(programme.playlists[key] ?? null);
    }
    return { playlist, isSynchronized: sync, start, end: slides.length };
  });
  const none: Round = { playlist: null, isSynchronized: false, start: slides.length, end: slides.length };
  const spans = programme.spans.map(({ from, list, programme_id }): Span => {
    return { from: Date.parse(from), round: rounds[list] ?? none, programmeId: programme_id };
  });
  /** The first span begins earlier, and the last one goes on. */
  const spanAt = (now: number): number => {
    let [low, high] = [0, spans.length - 1];
    while (low < high) {
      const middle = Math.ceil((low + high) / 2);
      if ((spans[middle]?.from ?? 0) <= now) low = middle;
      else high = middle - 1;
    }
    return low;
  };
  const delivered = rounds.find(({ playlist }) => playlist?.id === payload.playlist?.id) ?? rounds[0] ?? none;
  const roundOf = (place: number): Round => rounds.find(({ start, end }) => start <= place && place < end) ?? none;
  return {
    slides,
    isTimed: true,
    hasSynchronized: rounds.some((round) => round.isSynchronized),
    roundOf,
    positionOf: (place) => (place === null ? null : place - roundOf(place).start),
    roundAt: (now) => (now === null ? delivered : (spans[spanAt(now)]?.round ?? none)),
    changesAt: (now) => {
      const at = spanAt(now);
      const next = spans.slice(at + 1).find(({ round }) => round !== spans[at]?.round);
      return next?.from ?? Number.POSITIVE_INFINITY;
    },
    playOf: (place, now) => ({
      playlist_id: origins[place] ?? null,
      programme_id: spans[spanAt(now)]?.programmeId ?? null,
    }),
  };
};

/** When another playlist is due than at `now`; infinity: never. A new round of the same one ends nothing. */
export const endOfPlaylist = (plan: PagePlan, now: number): number => {
  const playing = plan.roundAt(now);
  let at = plan.changesAt(now);
  while (at !== Number.POSITIVE_INFINITY && isSamePlaylist(plan.roundAt(at), playing)) at = plan.changesAt(at);
  return at;
};

/**
 * The slides of a plan in the order in which they come on: those of the round, of later ones, and of earlier ones.
 * @param shown the place from which they come; without one it is the beginning of what is due
 */
export const slidesFrom = (
  { slides, roundOf, roundAt }: PagePlan,
  shown: number | undefined,
  { wall, isClockSet }: { wall: number; isClockSet: boolean },
): Set<Slide> => {
  const isOn = shown !== undefined && shown >= 0;
  const { start, end } = isOn ? roundOf(shown) : roundAt(isClockSet ? wall : null);
  return new Set([
    ...(isOn ? slides.slice(shown, end) : []),
    ...slides.slice(start, end),
    ...slides.slice(end),
    ...slides,
  ]);
};

/**
 * The place after which the search for the next slide in a round begins: from another round of the same playlist after the
 * same slide, from another playlist before the first one.
 */
export const searchIn = (plan: PagePlan, due: Round, from: number): number => {
  if (from >= due.start && from < due.end) return from;
  const id = isSamePlaylist(plan.roundOf(from), due) ? plan.slides[from]?.id : undefined;
  const same = id === undefined ? -1 : plan.slides.slice(due.start, due.end).findIndex((slide) => slide.id === id);
  return due.start + same;
};

/**
 * The place of a slide in another plan: where it stands in the same playlist, as near as it can be to where it stood; -1: it
 * is gone.
 */
export const placeIn = (
  plan: PagePlan,
  now: number | null,
  { slide, place, round }: { slide: Slide; place: number; round: Round },
): number => {
  const due = plan.roundAt(now);
  const distance = (each: number): number => {
    const other = plan.roundOf(each);
    const apart = Math.abs(each - other.start - (place - round.start));
    return (isSamePlaylist(other, round) ? 0 : 2e6) + (other === due ? 0 : 1e6) + apart;
  };
  return plan.slides.reduce(
    (best, { id }, each) => (id === slide.id && (best === -1 || distance(each) < distance(best)) ? each : best),
    -1,
  );
};
