/**
 * Whether what a screen plays fits into its rounds and its payload. Sizes are found from counts, without expanding anything.
 * A payload holds what is due within days: the days that need most are those that count.
 */
import { mostCalendarEvents } from '../contract/calendars.ts';
import type { ContentFile } from '../contract/content.ts';
import { designs } from '../contract/designs.ts';
import { programmeLimits } from '../contract/programmes.ts';
import type { SlideFile } from '../contract/slides.ts';
import { calendarIdsOf } from '../domain/calendar-view.ts';
import { perObject, remember } from '../domain/collections.ts';
import { programmesOf } from '../domain/programmes.ts';
import { longestRound, namedBy, type RoundLists, reachableFrom, roundSizes } from '../domain/rounds.ts';
import { fillSlide, fillTimetable, type NamedTemplate, slideId } from '../domain/slides.ts';
import { isTargeted } from '../domain/targets.ts';
import { reachedBy } from '../domain/template.ts';
import { type Issue, type Path, quoted } from './labels.ts';
import { isPlain, roundListsOf, zonesOf } from './round-lists.ts';
import { type CountSteps, createSteps } from './steps.ts';

type ProgrammeFile = ContentFile['programmes'][number];
type ScreenFile = ContentFile['screens'][number];

/** Bytes of a span, without the id of its programme, and of what surrounds a slide or an id in lists and maps. */
const SPAN_BYTES = 70;
const ENTRY_BYTES = 12;
/** Of an event of a calendar, on average: its id, two times, and a title of sixty letters. */
const EVENT_BYTES = 250;

/** To see whether a template names a record is a small part of a step. */
const RECORDS_A_STEP = 20;

const bytesOf = (text: string): number => Buffer.byteLength(JSON.stringify(text));
const sum = (values: Iterable<number>): number => [...values].reduce((total, each) => total + each, 0);
const mebibytes = (bytes: number): string => (bytes / 1024 ** 2).toFixed(1);

/** The code of what is wrong here. */
export const tooLong = 'too_long';

/** How many windows of a programme a page knows at most. */
const mostWindows = ({ days, dates }: ProgrammeFile): number => {
  const all = programmeLimits.days + 1;
  return Math.min(all, (days == null ? (dates == null ? all : 0) : days.length * 2) + (dates?.length ?? 0));
};

const DAY_MS = 86_400_000;
const dayOf = (date: string): number => Date.parse(date) / DAY_MS;
/** Further from the epoch than any date. */
const FOREVER = 10_000_000;

/** The first and last days, counted from the epoch, of which the payloads may hold a programme; they may overlap. */
const useOf = ({ days, dates, start_date, end_date }: ProgrammeFile): (readonly [from: number, until: number])[] => {
  const first = start_date == null ? -FOREVER : dayOf(start_date);
  const last = end_date == null ? FOREVER : dayOf(end_date);
  const ranges =
    days == null && dates != null
      ? dates.map((date) => [dayOf(date), dayOf(date)] as const).filter(([day]) => day >= first && day <= last)
      : [[first, last] as const];
  // A window that began the day before may run past midnight.
  return ranges.map(([from, until]) => [from - (programmeLimits.days - 1), until + 1]);
};

/** Slides and lists measured once for all screens. */
const createMeasures = (content: ContentFile, lists: RoundLists<SlideFile>, count: CountSteps) => {
  const named = new Map([...designs, ...content.templates].map((each): [string, NamedTemplate] => [each.id, each]));
  const templates = new Map([...named].map(([id, each]) => [id, Buffer.byteLength(JSON.stringify(each))]));
  const places = new Map(
    content.playlists.flatMap(({ id, slides }) => slides.map((slide, index) => [slide, { id, index }] as const)),
  );
  const filled = new Map<SlideFile, { slide: number; id: number; origin: number }>();
  const measure = (slide: SlideFile) => {
    const found = filled.get(slide);
    if (found !== undefined) return found;
    const { id, index } = places.get(slide) ?? { id: '', index: 0 };
    const text = JSON.stringify(fillSlide(id, slide, index, []));
    const size = {
      slide: Buffer.byteLength(text) + 1 + (templates.get(slide.template_id ?? '') ?? 0),
      id: bytesOf(slideId(id, slide, index)) + 1,
      origin: bytesOf(id) + 1,
    };
    filled.set(slide, size);
    return size;
  };
  /** The ids of the calendars and timetables that a slide shows. */
  const shownBy = (slide: SlideFile): { calendars: string[]; timetables: string[] } => {
    const { kind } = slide;
    if (kind === 'calendar') return { calendars: calendarIdsOf(slide.content), timetables: [] };
    const group = kind === 'timetable' ? slide.content?.['group_id'] : undefined;
    if (kind !== 'template') return { calendars: [], timetables: typeof group === 'string' ? [group] : [] };
    const { id, index } = places.get(slide) ?? { id: '', index: 0 };
    const template = named.get(slide.template_id ?? '');
    const names = (records: string): boolean => template?.html.includes(records) ?? false;
    const records =
      (names('calendars') ? content.calendars.length : 0) + (names('timetables') ? content.timetableGroups.length : 0);
    count(1 + records / RECORDS_A_STEP);
    const filled = fillSlide(id, slide, index, template ? [template] : []);
    return {
      calendars: reachedBy(filled, 'calendars', content.calendars).map((each) => each.id),
      timetables: reachedBy(filled, 'timetables', content.timetableGroups, ({ id }) => isCalendar(id)).map(
        (each) => each.id,
      ),
    };
  };
  const slidesOf = (id: string): SlideFile[] =>
    (lists.get(id)?.items ?? []).flatMap((item) => ('slide' in item ? [item.slide] : []));

  const ids = roundSizes(lists, (slide) => measure(slide).id);
  const known = new Map<string, { reached: readonly string[]; round: number }>();
  const distinct = new Map<string, { bytes: number; calendars: string[]; timetables: string[] }>();
  const groups = new Map(content.timetableGroups.map((group) => [group.id, group]));
  const timetables = new Map<string, number>();
  /** Whether the entries of a timetable are the events of a calendar. */
  const isCalendar = (id: string): boolean => groups.get(id)?.calendar_id !== undefined;
  return {
    isCalendar,
    rounds: roundSizes(lists, (slide) => measure(slide).slide),
    /** What a zone needs to tell where its slides stand. */
    origins: roundSizes(lists, (slide) => measure(slide).origin),
    /** What a plan needs for a playlist: the lists that it reaches, and the bytes of its rounds. */
    planned: (id: string) => {
      const before = known.get(id);
      if (before !== undefined) return before;
      const reached = [...reachableFrom([id], lists, count)];
      const isDaily = reached.some((each) => lists.get(each)?.order === 'shuffled');
      const days = isDaily ? programmeLimits.days : 1;
      const found = { reached, round: days * (ENTRY_BYTES + (ids.get(id)?.bytes ?? 0)) };
      known.set(id, found);
      return found;
    },
    timetable: (id: string): number => {
      const group = groups.get(id);
      const own = (): number => (group ? Buffer.byteLength(JSON.stringify(fillTimetable(group))) : 0);
      const bytes = timetables.get(id) ?? own() + (isCalendar(id) ? mostCalendarEvents * EVENT_BYTES : 0);
      timetables.set(id, bytes);
      return bytes;
    },
    /** The slides of a list, each once, and the calendars and timetables that they show. */
    distinct: (id: string) => {
      const before = distinct.get(id);
      if (before !== undefined) return before;
      const slides = slidesOf(id);
      const shown = slides.map(shownBy);
      const found = {
        bytes: sum(slides.map((slide) => measure(slide).slide + 2 * measure(slide).id + bytesOf(id) + ENTRY_BYTES)),
        calendars: [...new Set(shown.flatMap((each) => each.calendars))],
        timetables: [...new Set(shown.flatMap((each) => each.timetables))],
      };
      distinct.set(id, found);
      return found;
    },
  };
};
type Measures = ReturnType<typeof createMeasures>;

/** A sum of parts that are named any number of times, and count once. */
const createTally = (bytesOfPart: (part: string) => number) => {
  const counts = new Map<string, number>();
  let bytes = 0;
  return {
    bytes: () => bytes,
    /** @returns whether the part begins or ends to count */
    add: (part: string, change: 1 | -1): boolean => {
      const count = (counts.get(part) ?? 0) + change;
      if (count === 0) counts.delete(part);
      else counts.set(part, count);
      const isOther = count === (change === 1 ? 1 : 0);
      if (isOther) bytes += change * bytesOfPart(part);
      return isOther;
    },
    parts: () => [...counts.keys()],
  };
};

/** A playlist that a screen can play, and where it is named. */
interface Named {
  id: string;
  path: Path;
}

interface Played {
  own: Named[];
  zones: Named[];
  programmes: { programme: ProgrammeFile; path: Path }[];
}

/** The most bytes that a payload of a screen can have, and what plays then. */
const mostBytes = ({ own, zones, programmes }: Played, measures: Measures, isPlanned: boolean, count: CountSteps) => {
  const roundOf = (id: string): number => measures.rounds.get(id)?.bytes ?? 0;
  const calendars = createTally(() => mostCalendarEvents * EVENT_BYTES);
  const timetables = createTally(measures.timetable);
  const reached = createTally((id) => (isPlanned ? measures.distinct(id).bytes : 0));
  const mains = createTally((id) => (isPlanned ? measures.planned(id).round : 0));
  let spans = 0;
  const show = (list: string, change: 1 | -1): void => {
    const shown = measures.distinct(list);
    count(1 + shown.calendars.length + shown.timetables.length);
    for (const calendar of shown.calendars) calendars.add(calendar, change);
    for (const timetable of shown.timetables) timetables.add(timetable, change);
  };
  const use = (id: string, change: 1 | -1): void => {
    if (!mains.add(id, change)) return;
    for (const list of measures.planned(id).reached) {
      reached.add(list, change);
      show(list, change);
    }
  };
  for (const { id } of own) use(id, 1);
  for (const { id } of zones) for (const list of measures.planned(id).reached) show(list, 1);
  const fixed = sum(zones.map(({ id }) => roundOf(id) + (measures.origins.get(id)?.bytes ?? 0)));

  const changes = programmes
    .flatMap((each) =>
      useOf(each.programme).flatMap(([from, until]) => [
        { at: from, change: 1 as const, ...each },
        { at: until + 1, change: -1 as const, ...each },
      ]),
    )
    .sort((one, other) => one.at - other.at || one.change - other.change);
  count(changes.length);
  const uses = new Map<ProgrammeFile, number>();
  const longest = Math.max(
    0,
    ...[...own, ...programmes.map((each) => ({ id: each.programme.playlist_id }))].map(({ id }) => roundOf(id)),
  );
  let most = { bytes: 0, ids: new Set<string>() };
  const evaluate = (): void => {
    const rest = fixed + calendars.bytes() + timetables.bytes() + reached.bytes() + mains.bytes() + spans;
    if (rest + longest <= most.bytes) return;
    const ids = mains.parts();
    count(ids.length);
    const bytes = rest + Math.max(0, ...ids.map(roundOf));
    if (bytes > most.bytes) most = { bytes, ids: new Set(ids) };
  };
  evaluate();
  changes.forEach(({ at, change, programme }, index) => {
    const used = (uses.get(programme) ?? 0) + change;
    uses.set(programme, used);
    if (used === (change === 1 ? 1 : 0)) {
      use(programme.playlist_id, change);
      spans += change * 2 * mostWindows(programme) * (SPAN_BYTES + bytesOf(programme.id));
    }
    // Where one ends less is needed.
    if (change === 1 && changes[index + 1]?.at !== at) evaluate();
  });
  return most;
};

const countOf = (slides: number): string =>
  Number.isFinite(slides) ? `${slides} slides` : 'more slides than can be counted';

/** Maximum number of cached results; screens that play the same share one. */
const MOST_KNOWN = 1_000;

/** The programmes of a screen, the same list for screens that have the same targets, and a number for equal lists. */
const createProgrammesFor = (content: ContentFile, count: CountSteps) => {
  const byTarget = new Map<string, Set<number>>();
  content.programmes.forEach(({ targets }, at) => {
    for (const target of targets) byTarget.set(target, (byTarget.get(target) ?? new Set()).add(at));
  });
  const places = new Map(content.programmes.map((programme, at) => [programme, at]));
  const numbers = new Map<string, number>();
  const known = new Map<string, { programmes: Played['programmes']; number: number }>();
  return (screen: ScreenFile) => {
    const given = ['all', screen.slug, ...(screen.tags ?? []).map((tag) => `tag:${tag}`)];
    const targets = [...new Set(given)].filter((target) => byTarget.has(target));
    const name = JSON.stringify(targets);
    const before = known.get(name);
    if (before !== undefined) return before;
    const ats = [...new Set(targets.flatMap((target) => [...(byTarget.get(target) ?? [])]))].sort((a, b) => a - b);
    const candidates = ats.flatMap((at) => content.programmes.slice(at, at + 1));
    count(sum(candidates.map((each) => each.targets.length)));
    const programmes = programmesOf(candidates, screen).map((programme) => ({
      programme,
      path: ['programmes', places.get(programme) ?? 0, 'playlist_id'],
    }));
    const key = JSON.stringify(programmes.map(({ path }) => path[1]));
    const found = { programmes, number: numbers.get(key) ?? numbers.size };
    numbers.set(key, found.number);
    known.set(name, found);
    return found;
  };
};

/** Measures what screens play. References must exist, and lists must have no cycle. */
const createSizes = (content: ContentFile, lists: RoundLists<SlideFile>, count: CountSteps) => {
  const plain = new Set(content.playlists.filter(isPlain).map(({ id }) => id));
  const programmesFor = createProgrammesFor(content, count);
  const places = new Map(content.screens.map((screen, at) => [screen, at]));
  const measures = createMeasures(content, lists, count);
  const plays = new Map<ScreenFile, { played: Played; key: string }>();
  const playedBy = (screen: ScreenFile) => {
    const found = plays.get(screen);
    if (found !== undefined) return found;
    const named = (id: string, ...path: Path): Named => ({ id, path: ['screens', places.get(screen) ?? 0, ...path] });
    const { programmes, number } = programmesFor(screen);
    const played: Played = {
      own: screen.playlist_id == null ? [] : [named(screen.playlist_id, 'playlist_id')],
      zones: zonesOf(screen).map(({ zone, playlistId }) => named(playlistId, 'zones', zone)),
      programmes,
    };
    const { own, zones } = played;
    const key = JSON.stringify([own.map(({ id }) => id), number, zones.map(({ id }) => id)]);
    plays.set(screen, { played, key });
    return { played, key };
  };

  const bytesOfProgrammes = perObject(
    (programmes: Played['programmes']) => mostBytes({ own: [], zones: [], programmes }, measures, true, count).bytes,
  );

  const check = (slug: string, { own, zones, programmes }: Played, isInserted: boolean): Issue | null => {
    count(programmes.length);
    const mains: Named[] = [...own, ...programmes.map(({ programme, path }) => ({ id: programme.playlist_id, path }))];
    const isPlanned = isInserted || programmes.length > 0 || mains.some(({ id }) => !plain.has(id));
    // What there was before there were programmes and calendars has no limit.
    const showsCalendars = ({ id }: Named): boolean => {
      const { calendars, timetables } = measures.distinct(id);
      return calendars.length > 0 || timetables.some(measures.isCalendar);
    };
    const isMeasured = isPlanned || zones.length > 0 || own.some(showsCalendars);
    if (!isMeasured) return null;
    const all = [...mains, ...zones];
    for (const { id, path } of all) {
      const { slides = 0 } = measures.rounds.get(id) ?? {};
      if (slides <= longestRound) continue;
      const message = `a round of the playlist ${quoted(id)} on the screen ${quoted(slug)} has ${countOf(slides)}, and may have ${longestRound}`;
      return { path, message, code: tooLong };
    }
    if (programmes.length > 0) {
      // Programmes are measured once for all screens that have the same. Together it is at most as much as one by one.
      const rest = mostBytes({ own, zones, programmes: [] }, measures, isPlanned, count).bytes;
      if (rest + bytesOfProgrammes(programmes) <= programmeLimits.payloadBytes) return null;
    }
    const { bytes, ids } = mostBytes({ own, zones, programmes }, measures, isPlanned, count);
    if (bytes <= programmeLimits.payloadBytes) return null;
    const then = all.filter(({ id }) => ids.has(id) || zones.some((zone) => zone.id === id));
    const sizes = then.map((each) => ({ ...each, bytes: measures.rounds.get(each.id)?.bytes ?? 0 }));
    const [largest] = sizes.sort((one, other) => other.bytes - one.bytes);
    if (largest === undefined) return null;
    const message = `the playlists of the screen ${quoted(slug)} need ${mebibytes(bytes)} MiB for a page, and may need ${programmeLimits.payloadBytes / 1024 ** 2}; the largest is ${quoted(largest.id)} with ${mebibytes(largest.bytes)}`;
    return { path: largest.path, message, code: tooLong };
  };

  const known = new Map<string, Issue | null>();
  return {
    /**
     * Why a screen cannot play what it is to play; null: it can. `isKnown`: another one, or the same, played the same before.
     * @param inserted playlists that triggers put above all programmes
     */
    issueOf: (screen: ScreenFile, inserted: readonly string[]): { issue: Issue | null; isKnown: boolean } => {
      const { played, key: base } = playedBy(screen);
      const key = JSON.stringify([base, inserted]);
      const found = known.get(key);
      if (found !== undefined) return { issue: found, isKnown: true };
      const above = inserted.map((id): Named => ({ id, path: ['playlists'] }));
      const issue = check(screen.slug, { ...played, own: [...above, ...played.own] }, above.length > 0);
      remember(known, key, issue, MOST_KNOWN);
      return { issue, isKnown: false };
    },
    /** Rounds that no screen plays yet, as a trigger may play them; a list as it stands takes no more room than in the file. */
    unplayed: (): Issue[] => {
      const isLong = (id: string): boolean => !plain.has(id) && (measures.rounds.get(id)?.slides ?? 0) > longestRound;
      return content.playlists.flatMap(({ id }, at) => {
        const list = lists.get(id);
        // Where what it names is too long already, that is the mistake.
        if (!isLong(id) || list === undefined || namedBy(list).some(isLong)) return [];
        const slides = measures.rounds.get(id)?.slides ?? 0;
        const message = `a round of the playlist ${quoted(id)} has ${countOf(slides)}, and may have ${longestRound}`;
        return [{ path: ['playlists', at], message, code: tooLong }];
      });
    },
  };
};

/** Rounds and payloads that are too large. References must exist, and lists must have no cycle. */
export const sizeErrors = (content: ContentFile, lists: RoundLists<SlideFile>, count: CountSteps): Issue[] => {
  const sizes = createSizes(content, lists, count);
  const issues = content.screens.flatMap((screen) => {
    const { issue, isKnown } = sizes.issueOf(screen, []);
    return issue === null || isKnown ? [] : [issue];
  });
  return issues.length > 0 ? issues : sizes.unplayed();
};

/** Parsed files are never modified, so each is measured once. */
const measuresOf = perObject((content: ContentFile) => {
  const steps = createSteps();
  const lists = roundListsOf(content.playlists, (_, slide) => slide);
  return { steps, sizes: createSizes(content, lists, steps.count) };
});

/**
 * Why playlists that triggers put above all programmes are too large for a screen; null: they are not.
 * @param insertedFor the playlists, by screen
 */
export const insertedIssue = (
  content: ContentFile,
  targets: readonly string[],
  insertedFor: (screen: ScreenFile) => readonly string[],
): string | null => {
  const { steps, sizes } = measuresOf(content);
  const find = (): string | null => {
    for (const screen of content.screens) {
      if (!isTargeted(targets, { slug: screen.slug, tags: screen.tags ?? [] })) continue;
      const { issue } = sizes.issueOf(screen, insertedFor(screen));
      if (issue !== null) return issue.message;
    }
    return null;
  };
  return steps.within(find, (message) => message);
};
