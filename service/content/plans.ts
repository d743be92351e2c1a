/**
 * What the screens play at a moment that play more than one playlist as it is listed: programmes, rounds of nested, inserted
 * and shuffled playlists, and zones. Screens that play the same share it.
 */
import type { ContentFile } from '../contract/content.ts';
import type { Slide } from '../contract/playlist.ts';
import { type ProgrammePlan, programmeLimits, type Zone } from '../contract/programmes.ts';
import {
  commonSpans,
  createPlayable,
  type Due,
  dueAt,
  mergedSpans,
  type Period,
  type Programme,
  periodFrom,
  programmesOf,
  timelineOf,
  windowsOf,
} from '../domain/programmes.ts';
import { createRounds, isDaily } from '../domain/rounds.ts';
import { momentOf } from '../domain/slide-schedule.ts';
import { addDays, type Span } from '../domain/wall-time.ts';
import type { Insertion } from '../triggers/index.ts';
import { publicSlide } from './credentials.ts';
import { type Catalogue, catalogueOf, type ScreenDocument } from './model.ts';
import { zonesOf } from './round-lists.ts';

type ScreenFile = ContentFile['screens'][number];
type ProgrammeFile = ContentFile['programmes'][number];

/** What a trigger put above all programmes, in their form. */
interface Inserted extends Programme {
  until: number;
}
type Ranked = ProgrammeFile | Inserted;
const isInserted = (ranked: Ranked): ranked is Inserted => 'until' in ranked;

const insertedOf = ({ playlist_id, targets, until }: Insertion): Inserted => ({
  id: '',
  targets,
  playlist_id,
  until: Date.parse(until),
});

/** When one of them can play: an insertion that is on began before now, whatever the clock of this box says. */
const spansFor = (days: Days, period: Period) => {
  const playable = createPlayable<ProgrammeFile>(days.available, period);
  return (ranked: Ranked): Span[] =>
    isInserted(ranked)
      ? commonSpans([{ start: period.start, end: ranked.until }], days.available(ranked.playlist_id))
      : playable(ranked);
};

export interface Played {
  document: Omit<ScreenDocument, 'screen'>;
  /** All slides that it can play until the end of the plan, those of its zones included. */
  all: readonly Slide[];
  /** When this changes; both in ms since the epoch. */
  from: number;
  until: number;
}

export type Plans = ReturnType<typeof createPlans>;

/** When the slide of a schedule is on. */
const spansOfSlide = (slide: Slide, period: Period): Span[] => {
  const { schedule_mode: mode, schedule_start_datetime: start, schedule_end_datetime: end } = slide;
  if (mode === 'always') return [period];
  const limits = {
    start: start === null ? period.start : momentOf(start, period.timeZone),
    end: end === null ? period.end : momentOf(end, period.timeZone),
  };
  const { schedule_days_json: days, schedule_start_time: start_time, schedule_end_time: end_time } = slide;
  const rule = { days: days === null ? null : (JSON.parse(days) as number[]), start_time, end_time };
  return commonSpans(mode === 'weekly' ? windowsOf(rule, period) : [period], [limits]);
};

/** The rounds of each day of a period, and when the playlists have something to show. */
export const createDays = ({ lists }: Catalogue, period: Period) => {
  const rounds = new Map(
    period.dates.map(({ date }) => {
      const days = { today: date, yesterday: addDays(date, -1) };
      return [date, createRounds(lists, days, ({ id }: Slide) => id)];
    }),
  );
  const [, today] = period.dates;
  const known = new Map<string, Span[]>();
  const daily = new Map<string, boolean>();
  const roundOn = (playlistId: string | null, date: string): readonly Slide[] =>
    playlistId === null ? [] : (rounds.get(date)?.(playlistId) ?? []);
  return {
    today: today?.date ?? '',
    roundOn,
    /** Whether the round of a playlist differs from day to day. */
    isDaily: (playlistId: string | null): boolean => {
      if (playlistId === null) return false;
      const found = daily.get(playlistId) ?? isDaily(playlistId, lists);
      daily.set(playlistId, found);
      return found;
    },
    /** When at least one slide of a playlist is on schedule. */
    available: (playlistId: string): Span[] => {
      const found = known.get(playlistId);
      if (found !== undefined) return found;
      const slides = [...new Set(roundOn(playlistId, today?.date ?? ''))];
      const spans = slides.some(({ schedule_mode }) => schedule_mode === 'always')
        ? [period]
        : mergedSpans(slides.flatMap((slide) => spansOfSlide(slide, period)));
      known.set(playlistId, spans);
      return spans;
    },
  };
};
type Days = ReturnType<typeof createDays>;

interface PlannedSpan extends Span {
  list: number;
  programme_id: string | null;
}

interface PlannedList {
  playlistId: string | null;
  slides: readonly Slide[];
}

/** What plays in the period: spans without gaps, and the rounds that they name. */
const planOf = (
  days: Days,
  spansOf: (ranked: Ranked) => Span[],
  { own, ranked }: { own: string | null; ranked: readonly Ranked[] },
  period: Period,
): { lists: PlannedList[]; spans: PlannedSpan[] } => {
  const lists: PlannedList[] = [];
  const known = new Map<string, number>();
  const listOf = (playlistId: string | null, date: string): number => {
    const key = JSON.stringify([playlistId, days.isDaily(playlistId) ? date : '']);
    const found = known.get(key);
    if (found !== undefined) return found;
    known.set(key, lists.length);
    return lists.push({ playlistId, slides: days.roundOn(playlistId, date) }) - 1;
  };
  const midnights = period.dates.slice(1).map(({ date }) => ({ date, start: period.at(date, '00:00') }));
  const spans = timelineOf(ranked, spansOf, period).flatMap(({ start, end, programme }) => {
    const playlistId = programme?.playlist_id ?? own;
    const programme_id = programme === null || isInserted(programme) ? null : programme.id;
    return midnights.flatMap((day, index): PlannedSpan[] => {
      const both = { start: Math.max(start, day.start), end: Math.min(end, midnights[index + 1]?.start ?? period.end) };
      return both.start < both.end ? [{ ...both, list: listOf(playlistId, day.date), programme_id }] : [];
    });
  });
  const merged: PlannedSpan[] = [];
  for (const span of spans) {
    const last = merged.at(-1);
    if (last?.list === span.list && last.programme_id === span.programme_id) last.end = span.end;
    else merged.push(span);
  }
  return { lists, spans: merged };
};

const utc = (at: number): string => new Date(at).toISOString();

/** The plan as pages get it. Slides of two playlists that have one id get keys that differ. */
const wirePlan = (
  catalogue: Catalogue,
  originOf: (slide: Slide) => string,
  { lists, spans }: ReturnType<typeof planOf>,
  { start, end }: Span,
): ProgrammePlan => {
  const keys = new Map<Slide, string>();
  const slides = new Map<string, Slide>();
  const playlists = new Map<string, string>();
  for (const slide of lists.flatMap((list) => list.slides)) {
    if (keys.has(slide)) continue;
    const key = slides.has(slide.id) ? JSON.stringify([originOf(slide), slide.id]) : slide.id;
    keys.set(slide, key);
    slides.set(key, publicSlide(slide));
    playlists.set(key, originOf(slide));
  }
  return {
    revision: '',
    from: utc(start),
    until: utc(end),
    // Any text may be an id, `__proto__` too.
    slides: Object.fromEntries(slides),
    playlists: Object.fromEntries(playlists),
    lists: lists.map((list) => ({
      playlist: catalogue.playlist(list.playlistId),
      sync: catalogue.isSynchronized(list.playlistId),
      slides: list.slides.map((slide) => keys.get(slide) ?? slide.id),
    })),
    spans: spans.map((span) => ({ from: utc(span.start), list: span.list, programme_id: span.programme_id })),
  };
};

/** What a group of screens plays in a period. */
type Plan = (now: number) => Played;

const createPlan = (
  catalogue: Catalogue,
  originOf: (slide: Slide) => string,
  days: Days,
  spansOf: (ranked: Ranked) => Span[],
  screen: { own: string | null; ranked: readonly Ranked[]; zones: ReturnType<typeof zonesOf> },
  period: Period,
): Plan => {
  const plan = planOf(days, spansOf, screen, period);
  const zones = screen.zones.map(({ zone, playlistId }): Zone => {
    const playlist = catalogue.playlist(playlistId) ?? { id: playlistId, name: playlistId, fade_between_slides: true };
    const round = days.roundOn(playlistId, days.today);
    const playlists = round.map(originOf);
    return {
      zone,
      playlist,
      slides: round.map(publicSlide),
      ...(playlists.some((origin) => origin !== playlistId) ? { playlists } : null),
      ...(catalogue.isSynchronized(playlistId) ? { sync: true as const } : null),
    };
  });
  const zoneSlides = screen.zones.flatMap(({ playlistId }) => days.roundOn(playlistId, days.today));
  const all = [...new Set([...plan.lists.flatMap(({ slides }) => slides), ...zoneSlides])];
  const isPlanned =
    screen.ranked.some(isInserted) ||
    plan.spans.some(({ programme_id }) => programme_id !== null) ||
    !catalogue.isPlain(screen.own);
  const shared = {
    ...catalogue.usedBy(all),
    ...(isPlanned ? { programme: wirePlan(catalogue, originOf, plan, period) } : null),
    ...(zones.length > 0 ? { zones } : null),
  };
  const midnight = period.at(addDays(days.today, 1), '00:00');
  const bodies = plan.lists.map(({ playlistId, slides }) => ({
    playlist: catalogue.playlist(playlistId),
    slides: [...slides],
    ...(catalogue.isSynchronized(playlistId) ? { sync: true as const } : null),
    ...shared,
  }));
  const none = { playlist: null, slides: [], ...shared };
  return (now) => {
    const span = plan.spans.find(({ start, end }) => start <= now && now < end);
    const { start, end } = span ?? period;
    return { document: bodies[span?.list ?? -1] ?? none, all, from: start, until: Math.min(end, midnight) };
  };
};

const groupOf = (content: ContentFile, screen: ScreenFile, catalogue: Catalogue, insertions: readonly Insertion[]) => {
  const programmes = programmesOf(content.programmes, screen);
  const zones = zonesOf(screen);
  const own = screen.playlist_id ?? null;
  const isComposed = insertions.length > 0 || programmes.length > 0 || zones.length > 0 || !catalogue.isPlain(own);
  return isComposed
    ? {
        own,
        isInserted: insertions.length > 0,
        ranked: [...insertions.map(insertedOf), ...programmes],
        zones,
        key: JSON.stringify([own, programmes.map(({ id }) => id), zones, insertions]),
      }
    : null;
};

/** The playlists above all programmes of a screen, the latest first. */
export type Insertions = (screen: { slug: string; tags: readonly string[] }) => readonly Insertion[];

const insertionsAt = (insertions: Insertions, { slug, tags }: ScreenFile) => insertions({ slug, tags: tags ?? [] });

export const createPlans = (content: ContentFile, timeZone: string, insertions: Insertions) => {
  const catalogue = catalogueOf(content);
  const origins = new Map<Slide, string>();
  for (const id of catalogue.lists.keys()) for (const slide of catalogue.slides(id)) origins.set(slide, id);
  const originOf = (slide: Slide): string => origins.get(slide) ?? '';
  const groups = new Map<string, NonNullable<ReturnType<typeof groupOf>>>();
  for (const screen of content.screens) {
    const group = groupOf(content, screen, catalogue, insertionsAt(insertions, screen));
    if (group !== null) groups.set(screen.slug, group);
  }
  interface Day {
    period: Period;
    days: Days;
    spansOf: (ranked: Ranked) => Span[];
    plans: Map<string, Plan>;
  }
  /** That of the box's clock and that of the site's, which may be another one. */
  let known: Day[] = [];
  const dayOf = (now: number): Day => {
    const found = known.find(
      ({ period, days }) => period.start <= now && now < period.at(addDays(days.today, 1), '00:00'),
    );
    if (found !== undefined) return found;
    const period = periodFrom(now, programmeLimits.days, timeZone);
    const days = createDays(catalogue, period);
    const day = { period, days, spansOf: spansFor(days, period), plans: new Map<string, Plan>() };
    known = [...known.slice(-1), day];
    return day;
  };
  return {
    /** The slugs of the screens that play more than one playlist as it is listed. */
    slugs: [...groups.keys()],
    /** @param siteNow the site's time, which counts for screens with a playlist of a trigger */
    at: (slug: string, now: number, siteNow: number): Played | null => {
      const group = groups.get(slug);
      if (group === undefined) return null;
      const ahead = group.isInserted ? now - siteNow : 0;
      const { period, days, spansOf, plans } = dayOf(now - ahead);
      const plan = plans.get(group.key) ?? createPlan(catalogue, originOf, days, spansOf, group, period);
      plans.set(group.key, plan);
      const played = plan(now - ahead);
      return { ...played, from: played.from + ahead, until: played.until + ahead };
    },
  };
};

/** What a screen plays at any moment, and why; null: there is no such screen. */
export const playsAt = (
  content: ContentFile,
  slug: string,
  at: number,
  timeZone: string,
  insertions: Insertions,
): (Omit<Due<Ranked>, 'programme'> & { programme_id: string | null; slides: readonly Slide[] }) | null => {
  const screen = content.screens.find((each) => each.slug === slug);
  if (screen === undefined) return null;
  const period = periodFrom(at, programmeLimits.days, timeZone);
  const days = createDays(catalogueOf(content), period);
  // At another moment than now those count that are on then.
  const inserted = insertionsAt(insertions, screen).filter(({ from }) => Date.parse(from) <= at);
  const spansOf = spansFor(days, period);
  const { programme, ...due } = dueAt<Ranked>(
    content.programmes,
    screen,
    at,
    period,
    spansOf,
    inserted.map(insertedOf),
  );
  const programme_id = programme === null || isInserted(programme) ? null : programme.id;
  return { ...due, programme_id, slides: days.roundOn(due.playlist_id, days.today) };
};
