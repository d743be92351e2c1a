/**
 * Which playlist a screen plays when: its programmes by rank, over its own playlist. Pure; shared by the service, pages, the
 * console and the command line. Instants are ms since the epoch, dates `YYYY-MM-DD`, in the site's time zone.
 */
import { isTargeted } from './targets.ts';
import { addDays, instantOf, type Span, wallTimeOf, weekdayOf } from './wall-time.ts';

/** When a programme is due. Null is as absent. */
export interface DayRule {
  days?: readonly number[] | null | undefined;
  dates?: readonly string[] | null | undefined;
  start_time?: string | null | undefined;
  end_time?: string | null | undefined;
  start_date?: string | null | undefined;
  end_date?: string | null | undefined;
}

export interface Programme extends DayRule {
  id: string;
  name?: string | null | undefined;
  targets: readonly string[];
  playlist_id: string;
  priority?: number | null | undefined;
}

interface Screen {
  slug: string;
  tags?: readonly string[] | null | undefined;
  playlist_id?: string | null | undefined;
}

/** Whether a window of the rule begins on a date. Dates are besides the days; without days they are the only ones. */
export const beginsOn = ({ days, dates, start_date, end_date }: DayRule, date: string, weekday = weekdayOf(date)) => {
  if ((start_date != null && date < start_date) || (end_date != null && date > end_date)) return false;
  return dates?.includes(date) === true || (days == null ? dates == null : days.includes(weekday));
};

/** The first date from `date` on on which a window of the rule begins; null: there is none. */
export const nextDate = (rule: DayRule, date: string): string | null => {
  const first = rule.start_date != null && rule.start_date > date ? rule.start_date : date;
  const week = Array.from({ length: 7 }, (_, ahead) => addDays(first, ahead));
  const found = [...week, ...(rule.dates ?? [])].filter((each) => each >= first && beginsOn(rule, each));
  return found.sort()[0] ?? null;
};

const DAY_MS = 86_400_000;

/** `HH:MM` or `HH:MM:SS` as ms since midnight. */
const timeMs = (time: string): number => {
  const [hours = 0, minutes = 0, seconds = 0] = time.split(':').map(Number);
  return ((hours * 60 + minutes) * 60 + seconds) * 1000;
};

/** Days of a time zone, from one midnight to another. */
export interface Period extends Span {
  timeZone: string;
  /** The dates of the period, and the one before it, whose windows may run past midnight. */
  dates: readonly { date: string; weekday: number }[];
  /** The instant of a local time, as {@link instantOf}. */
  at(date: string, time: string): number;
}

/** The period from the last midnight before `now` to `days` days after it. */
export const periodFrom = (now: number, days: number, timeZone: string): Period => {
  const { date: today } = wallTimeOf(now, timeZone);
  const known = new Map<string, { midnight: number; isPlain: boolean }>();
  const dayOf = (date: string) => {
    const found = known.get(date);
    if (found !== undefined) return found;
    const midnight = instantOf(date, '00:00', timeZone);
    // On a day of 24 hours no time is skipped or repeated, so that times are sums.
    const day = { midnight, isPlain: instantOf(addDays(date, 1), '00:00', timeZone) - midnight === DAY_MS };
    known.set(date, day);
    return day;
  };
  const at = (date: string, time: string): number => {
    const { midnight, isPlain } = dayOf(date);
    return isPlain ? midnight + timeMs(time) : instantOf(date, time, timeZone);
  };
  const dates = Array.from({ length: days + 1 }, (_, index) => addDays(today, index - 1));
  return {
    timeZone,
    dates: dates.map((date) => ({ date, weekday: weekdayOf(date) })),
    at,
    start: dayOf(today).midnight,
    end: dayOf(addDays(today, days)).midnight,
  };
};

/** The windows of a rule within a period, in order; they may touch. */
export const windowsOf = (rule: DayRule, { dates, at, start, end }: Period): Span[] => {
  const from = rule.start_time ?? '00:00';
  const until = rule.end_time ?? '00:00';
  const isOvernight = timeMs(until) <= timeMs(from);
  return dates.flatMap(({ date, weekday }) => {
    if (!beginsOn(rule, date, weekday)) return [];
    const window = {
      start: Math.max(start, at(date, from)),
      end: Math.min(end, at(isOvernight ? addDays(date, 1) : date, until)),
    };
    return window.start < window.end ? [window] : [];
  });
};

/** What two lists of spans have in common; the spans of each are in order and do not overlap. */
export const commonSpans = (some: readonly Span[], others: readonly Span[]): Span[] => {
  const common: Span[] = [];
  for (let at = 0, other = 0; ; ) {
    const [one, two] = [some[at], others[other]];
    if (one === undefined || two === undefined) return common;
    const both = { start: Math.max(one.start, two.start), end: Math.min(one.end, two.end) };
    if (both.start < both.end) common.push(both);
    if (one.end < two.end) at += 1;
    else other += 1;
  }
};

/**
 * The windows of a programme in which its playlist has something to show; in the others the next one in rank plays.
 * @param available when a playlist has something to show
 */
export const createPlayable = <Rule extends DayRule & { playlist_id: string }>(
  available: (playlistId: string) => readonly Span[],
  period: Period,
) => {
  const known = new Map<Rule, Span[]>();
  return (programme: Rule): Span[] => {
    const found = known.get(programme) ?? commonSpans(windowsOf(programme, period), available(programme.playlist_id));
    known.set(programme, found);
    return found;
  };
};

/** The spans in order, those that touch or overlap as one. */
export const mergedSpans = (spans: readonly Span[]): Span[] => {
  const merged: Span[] = [];
  for (const span of [...spans].sort((one, other) => one.start - other.start)) {
    const last = merged.at(-1);
    if (last !== undefined && span.start <= last.end) last.end = Math.max(last.end, span.end);
    else merged.push({ ...span });
  }
  return merged;
};

/** How specific the target is by which a programme is for a screen: 3 its slug, 2 a tag, 1 all; 0: it is not for it. */
const specificity = ({ targets }: Pick<Programme, 'targets'>, { slug, tags }: Screen): number => {
  if (!isTargeted(targets, { slug, tags: tags ?? [] })) return 0;
  if (targets.includes(slug)) return 3;
  return targets.some((target) => target !== 'all' && isTargeted([target], { slug, tags: tags ?? [] })) ? 2 : 1;
};

type RankReason = 'priority' | 'target' | 'order';

interface Ranked<One extends Programme> {
  programme: One;
  priority: number;
  specificity: number;
  index: number;
}

const firstDifference = (one: Ranked<Programme>, other: Ranked<Programme>): RankReason => {
  if (one.priority !== other.priority) return 'priority';
  return one.specificity === other.specificity ? 'order' : 'target';
};

/** The programmes for a screen, the highest in rank first: priority, then the more specific target, then the later one. */
const rankFor = <One extends Programme>(programmes: readonly One[], screen: Screen): Ranked<One>[] =>
  programmes
    .map((programme, index) => ({
      programme,
      priority: programme.priority ?? 0,
      specificity: specificity(programme, screen),
      index,
    }))
    .filter((each) => each.specificity > 0)
    .sort(
      (one, other) => other.priority - one.priority || other.specificity - one.specificity || other.index - one.index,
    );

/** Those for a screen, the highest in rank first. */
export const programmesOf = <One extends Programme>(programmes: readonly One[], screen: Screen): One[] =>
  rankFor(programmes, screen).map(({ programme }) => programme);

/** A stretch of time in which one programme plays; null: none does, but the screen's own playlist. */
export interface Stretch<One> extends Span {
  programme: One | null;
}

/**
 * What plays when, without gaps from the start of the period to its end. Neighbours differ in their programme.
 * @param ranked the highest in rank first
 * @param spansOf when a programme can play: its windows, without those in which its playlist has nothing to show
 */
export const timelineOf = <One extends Programme>(
  ranked: readonly One[],
  spansOf: (programme: One) => readonly Span[],
  { start, end }: Span,
): Stretch<One>[] => {
  const spans = ranked.map(spansOf);
  const moments = [...new Set([start, end, ...spans.flat().flatMap((span) => [span.start, span.end])])]
    .filter((moment) => moment >= start && moment <= end)
    .sort((one, other) => one - other);
  const indexOf = new Map(moments.map((moment, index) => [moment, index]));
  const owners: (One | null)[] = moments.map(() => null);
  /** The next cell from each one on that nobody owns yet. */
  const free = [...moments.keys(), moments.length];
  const nextFree = (index: number): number => {
    let at = index;
    while (free[at] !== at) {
      free[at] = free[free[at] ?? at] ?? at;
      at = free[at] ?? at;
    }
    return at;
  };
  ranked.forEach((programme, rank) => {
    for (const span of spans[rank] ?? []) {
      const last = indexOf.get(Math.min(span.end, end)) ?? 0;
      for (let at = nextFree(indexOf.get(Math.max(span.start, start)) ?? last); at < last; at = nextFree(at)) {
        owners[at] = programme;
        free[at] = at + 1;
      }
    }
  });
  const stretches: Stretch<One>[] = [];
  for (const [index, moment] of moments.slice(0, -1).entries()) {
    const programme = owners[index] ?? null;
    const last = stretches.at(-1);
    if (last?.programme === programme && last !== undefined) last.end = moments[index + 1] ?? end;
    else stretches.push({ start: moment, end: moments[index + 1] ?? end, programme });
  }
  return stretches;
};

/** Why a programme plays at a moment, or none does. */
type ProgrammeReason = RankReason | 'trigger' | 'only' | 'default' | 'none';

export interface Due<One extends Programme> {
  programme: One | null;
  /** Null: nothing plays. */
  playlist_id: string | null;
  reason: ProgrammeReason;
  /** When another playlist begins; null: not within the period. */
  next: { at: number; playlist_id: string | null } | null;
}

/**
 * What a screen plays at a moment of the period, and why.
 * @param inserted what is above all programmes, the highest in rank first
 */
export const dueAt = <One extends Programme>(
  programmes: readonly One[],
  screen: Screen,
  now: number,
  period: Period,
  spansOf: (programme: One) => readonly Span[] = (programme) => windowsOf(programme, period),
  inserted: readonly One[] = [],
): Due<One> => {
  const above = inserted.map((programme, index) => ({ programme, priority: 0, specificity: 0, index }));
  const ranked = [...above, ...rankFor(programmes, screen)];
  const stretches = timelineOf(
    ranked.map(({ programme }) => programme),
    spansOf,
    period,
  );
  const own = screen.playlist_id ?? null;
  const playlistOf = (stretch: Stretch<One> | undefined) => stretch?.programme?.playlist_id ?? own;
  const current = stretches.findIndex(({ start, end }) => start <= now && now < end);
  const playlist_id = playlistOf(stretches[current]);
  const next = stretches.slice(current + 1).find((stretch) => playlistOf(stretch) !== playlist_id);
  const due = ranked.filter(({ programme }) => spansOf(programme).some(({ start, end }) => start <= now && now < end));
  const [first, second] = due;
  const reasonOf = (): ProgrammeReason => {
    if (first === undefined) return own === null ? 'none' : 'default';
    if (inserted.includes(first.programme)) return 'trigger';
    return second === undefined ? 'only' : firstDifference(first, second);
  };
  return {
    programme: first?.programme ?? null,
    playlist_id,
    reason: reasonOf(),
    next: next === undefined ? null : { at: next.start, playlist_id: playlistOf(next) },
  };
};
