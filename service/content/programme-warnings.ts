/** Programmes and zones that will not play as intended. Pure. */
import type { ContentFile } from '../contract/content.ts';
import { programmeLimits } from '../contract/programmes.ts';
import {
  commonSpans,
  createPlayable,
  nextDate,
  type Period,
  periodFrom,
  programmesOf,
  type Stretch,
  timelineOf,
  windowsOf,
} from '../domain/programmes.ts';
import { slideLabel } from '../domain/slides.ts';
import { unknownTargets } from '../domain/targets.ts';
import type { EpochMs } from '../domain/time.ts';
import { addDays, type Span, wallTimeOf } from '../domain/wall-time.ts';
import type { Path } from './labels.ts';
import { catalogueOf } from './model.ts';
import { createDays } from './plans.ts';
import { zonesOf } from './round-lists.ts';

interface Issue {
  path: Path;
  message: string;
}

type ProgrammeFile = ContentFile['programmes'][number];

/** Why a programme is never due; null: it is, or may be later. */
const neverIssue = (programme: ProgrammeFile, today: string): Issue | null => {
  const { days, dates, start_date, end_date } = programme;
  if (start_date != null && end_date != null && end_date < start_date) {
    return { path: ['end_date'], message: 'is before start_date: the programme is never due' };
  }
  if (days?.length === 0 && (dates ?? []).length === 0) {
    return { path: ['days'], message: 'an empty list of days: the programme is never due' };
  }
  // Yesterday's window may run past midnight.
  if (nextDate(programme, addDays(today, -1)) !== null) return null;
  if (end_date != null && end_date < today) {
    return { path: ['end_date'], message: 'is in the past: the programme is never due again' };
  }
  const isEmpty = dates?.length === 0;
  const message = isEmpty ? 'an empty list of dates' : 'none of its days and dates is still to come';
  return { path: [dates == null ? 'days' : 'dates'], message: `${message}: the programme is never due` };
};

const spell = (at: number, timeZone: string): string => {
  const { date, minutes } = wallTimeOf(at, timeZone);
  const two = (value: number): string => String(value).padStart(2, '0');
  return `${date} ${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
};

const spellSpan = ({ start, end }: Span, { timeZone }: Period): string =>
  `from ${spell(start, timeZone)} to ${spell(end, timeZone)}`;

type Timeline = readonly Stretch<ProgrammeFile>[];

/** When what is due by its rule and rank does not play, as its playlist has nothing to show: the first time of each. */
const passedIn = (due: Timeline, timeline: Timeline): Map<ProgrammeFile, Span> => {
  const passed = new Map<ProgrammeFile, Span>();
  let at = 0;
  for (const { start, end, programme } of due) {
    while ((timeline[at]?.end ?? end) <= start) at += 1;
    for (let index = at; (timeline[index]?.start ?? end) < end; index += 1) {
      const instead = timeline[index];
      if (instead === undefined || programme === null || instead.programme === programme || passed.has(programme))
        continue;
      passed.set(programme, { start: Math.max(start, instead.start), end: Math.min(end, instead.end) });
    }
  }
  return passed;
};

/**
 * Gaps of screens without a playlist of their own, the programmes that play on some screen within the period, and when some
 * are passed over.
 */
const shownIn = (
  content: ContentFile,
  days: ReturnType<typeof createDays>,
  period: Period,
): { gaps: Issue[]; played: Set<ProgrammeFile>; passed: Map<ProgrammeFile, Span> } => {
  const played = new Set<ProgrammeFile>();
  const passed = new Map<ProgrammeFile, Span>();
  const gaps: Issue[] = [];
  const spansOf = createPlayable<ProgrammeFile>(days.available, period);
  const dueOf = createPlayable<ProgrammeFile>(() => [period], period);
  const known = new Map<string, Timeline>();
  content.screens.forEach((screen, at) => {
    const programmes = programmesOf(content.programmes, screen);
    if (programmes.length === 0) return;
    const key = JSON.stringify(programmes.map(({ id }) => id));
    const timeline = known.get(key) ?? timelineOf(programmes, spansOf, period);
    if (!known.has(key))
      for (const [programme, span] of passedIn(timelineOf(programmes, dueOf, period), timeline))
        if (!passed.has(programme)) passed.set(programme, span);
    known.set(key, timeline);
    for (const { programme } of timeline) if (programme !== null) played.add(programme);
    const gap = screen.playlist_id == null ? timeline.find(({ programme }) => programme === null) : undefined;
    if (gap === undefined) return;
    gaps.push({
      path: ['screens', at, 'playlist_id'],
      message: `${slideLabel(screen.name, screen.slug)}: nothing is due ${spellSpan(gap, period)}, and the screen has no playlist of its own`,
    });
  });
  return { gaps, played, passed };
};

const zoneIssues = (content: ContentFile): Issue[] =>
  content.screens.flatMap((screen, at) => {
    const { layout, zones } = screen;
    const wanted = new Set(layout?.split('-').filter((zone) => zone !== 'full'));
    const given = new Set(zonesOf(screen).map(({ zone }) => zone));
    const label = slideLabel(screen.name, screen.slug);
    const name = (zone: string) => JSON.stringify(zone);
    return (['ticker', 'sidebar'] as const).flatMap((zone): Issue[] => {
      if (zones?.[zone] != null && !given.has(zone)) {
        const message = `${label}: is not shown, because the layout ${name(layout ?? 'full')} has no ${zone}`;
        return [{ path: ['screens', at, 'zones', zone], message }];
      }
      if (!wanted.has(zone) || given.has(zone)) return [];
      return [{ path: ['screens', at, 'layout'], message: `${label}: its ${zone} has no playlist, and is left out` }];
    });
  });

/** Messages begin with the name or id of the programme or screen in quotes. */
export const programmeIssues = (content: ContentFile, timeZone: string, now: EpochMs): Issue[] => {
  const zones = zoneIssues(content);
  if (content.programmes.length === 0) return zones;
  const { date: today } = wallTimeOf(now, timeZone);
  const period = periodFrom(now, programmeLimits.days, timeZone);
  const days = createDays(catalogueOf(content), period);
  const { gaps, played, passed } = shownIn(content, days, period);
  const screens = content.screens.map(({ slug, tags }) => ({ slug, tags: tags ?? [] }));
  const issues = content.programmes.flatMap((programme, at) => {
    const label = slideLabel(programme.name, programme.id);
    const unknown = unknownTargets(programme.targets, screens).map((target) => ({
      path: ['targets', programme.targets.indexOf(target)] as Path,
      message: `no screen has the tag ${JSON.stringify(target.slice('tag:'.length))}`,
    }));
    const fate = (): Issue[] => {
      const never = neverIssue(programme, today);
      if (never !== null) return [never];
      const windows = windowsOf(programme, period);
      const gap = passed.get(programme);
      if (played.has(programme) && gap !== undefined) {
        const message = `the playlist ${JSON.stringify(programme.playlist_id)} has nothing to show ${spellSpan(gap, period)}: the programme is passed over`;
        return [{ path: ['playlist_id'], message }];
      }
      if (windows.length === 0 || played.has(programme)) return [];
      if (unknown.length === programme.targets.length) return [];
      if (commonSpans(windows, days.available(programme.playlist_id)).length === 0) {
        const message = `the playlist ${JSON.stringify(programme.playlist_id)} has nothing to show then: the programme is passed over`;
        return [{ path: ['playlist_id'], message }];
      }
      return [{ path: [], message: 'is hidden by others on all its screens: it never plays within the next days' }];
    };
    return [...unknown, ...fate()].map(({ path, message }) => ({
      path: ['programmes', at, ...path],
      message: `${label}: ${message}`,
    }));
  });
  return [...issues, ...gaps, ...zones];
};
