/** What a new playlist or medium changes: a slide keeps playing while the fingerprint of what it shows stays the same. Pure. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { drawnKinds, fileKinds } from '../../service/contract/slide-values.ts';
import { calendarIdsOf } from '../../service/domain/calendar-view.ts';
import { paletteOf } from '../../service/domain/house-style.ts';
import { namedBy } from '../../service/domain/template.ts';
import { createPagePlan, type PagePlan, placeIn } from './page-plan.ts';
import type { Now, Playback } from './playback-state.ts';
import { createPlaylistSchedule, noCooldowns } from './playlist-schedule.ts';
import { searchFrom, standalone } from './standalone.ts';
import { createLoopSchedule, createSynchronized } from './synchronized.ts';
import { chain, dropUpcoming, modeOf, prepare, type Reducer } from './transitions.ts';

interface Named {
  id: string;
}

/** Fields that change with each fetch of a feed; they count only if the template prints them. */
const FETCH_FIELDS = ['status', 'fetched_at'] as const;

const withoutUnseen = (html: string, record: Named): Named => {
  const unseen: readonly string[] = FETCH_FIELDS.filter((field) => !html.includes(field));
  return Object.fromEntries(Object.entries(record).filter(([field]) => !unseen.includes(field))) as unknown as Named;
};

/** The live data that a slide uses. Payloads of the baseline variant contain no live data. */
const dataOf = (slide: Slide, payload: PlaylistPayload): unknown => {
  const { screen, rssFeeds = [], apiSources = [], timetableGroups = [], calendars = [] } = payload;
  if (slide.kind === 'rss') {
    const feed = rssFeeds.find(({ id }) => id === slide.content?.['feed_id']);
    return feed && [feed.name, feed.items];
  }
  if (slide.kind === 'calendar') {
    const ids = calendarIdsOf(slide.content);
    return calendars.filter(({ id }) => ids.includes(id)).map(({ name, events }) => [name, events]);
  }
  if (slide.kind === 'timetable') {
    const group = timetableGroups.find(({ id }) => id === slide.content?.['group_id']);
    return group && [group.name, group.entries];
  }
  if (slide.kind !== 'template') return null;
  const html = slide.template?.html ?? '';
  return [
    [screen.id, screen.name, screen.slug],
    namedBy(slide, 'feeds', rssFeeds).map((feed) => withoutUnseen(html, feed)),
    namedBy(slide, 'sources', apiSources).map((source) => withoutUnseen(html, source)),
    namedBy(slide, 'timetables', timetableGroups).map((group) => withoutUnseen(html, group)),
    namedBy(slide, 'calendars', calendars).map((calendar) => withoutUnseen(html, calendar)),
  ];
};

/** What a slide shows of the house style: files only what is around them. */
const styleOf = ({ kind }: Slide, { style }: PlaylistPayload): unknown => {
  if (drawnKinds.includes(kind)) return style;
  return fileKinds.includes(kind) ? paletteOf(style)?.ground : null;
};

/** A string that is equal if a slide looks the same with both payloads. */
export const fingerprint = (slide: Slide, payload: PlaylistPayload): string =>
  JSON.stringify([slide, dataOf(slide, payload), styleOf(slide, payload)]);

/** A page without a ready slide shows the idle screen after this time. */
const IDLE_AFTER_MS = 5_000;

/** Where slides of the playlist before stand now, and whether they look the same. */
type Change = ReturnType<typeof changeOf>;

const changeOf = (before: Playback, old: PlaylistPayload | null, after: Playback, now: Now) => {
  const indexOf = (slide: Slide, index: number): number =>
    placeIn(after.plan, now.isClockSet ? now.wall : null, { slide, place: index, round: before.plan.roundOf(index) });
  return {
    indexOf,
    isKept: (slide: Slide, index: number): boolean => {
      const other = after.plan.slides[indexOf(slide, index)];
      if (other === undefined || old === null || after.payload === null) return false;
      return fingerprint(slide, old) === fingerprint(other, after.payload);
    },
  };
};

const keepUpcoming =
  ({ indexOf, isKept }: Change): Reducer =>
  (state, now) => {
    const { upcoming } = state;
    if (upcoming === null) return [state, []];
    const { slide, index } = upcoming;
    if (!isKept(slide, index)) return dropUpcoming(state, now);
    return [{ ...state, upcoming: { ...upcoming, index: indexOf(slide, index) } }, []];
  };

const keepShown =
  ({ indexOf, isKept }: Change): Reducer =>
  (state) => {
    const { shown, plan } = state;
    if (shown?.slide == null) return [state, []];
    const { slide } = shown;
    const index = indexOf(slide, shown.index);
    if (isKept(slide, shown.index)) {
      const lastFailed = shown.isSpent ? state.lastFailed : null;
      return [{ ...state, lastFailed, shown: { ...shown, index } }, [{ type: 'report', index, slide }]];
    }
    // An edited slide is followed by its new version, a removed one by the next slide.
    const before = (index === -1 ? Math.min(shown.index, plan.slides.length) : index) - 1;
    return [{ ...state, shown: { ...shown, index: before, isSpent: true, isEdited: index !== -1 } }, []];
  };

/** Drops an upcoming slide that is no longer the next one. When synchronized, the loop schedule decides that. */
const dropUnwanted: Reducer = (state, now) => {
  const { upcoming, scheduleAt, cooldowns } = state;
  if (upcoming === null || upcoming.step !== null || modeOf(state, now) !== standalone) return [state, []];
  const next = scheduleAt(cooldowns, now).next(searchFrom(state), 1, now.wall);
  return upcoming.index === next ? [state, []] : dropUpcoming(state, now);
};

/** A medium of a view was replaced under its name, which counts as an edit of its slide. */
export const replaceMedium =
  (key: number): Reducer =>
  (state, now) => {
    const { shown, upcoming } = state;
    if (upcoming?.key === key)
      return upcoming.step === null ? dropUpcoming(state, now) : prepare(upcoming.index, upcoming.step)(state, now);
    if (shown?.key !== key || shown.slide === null || shown.isSpent) return [state, []];
    const spent = { ...shown, index: shown.index - 1, isSpent: true, isEdited: true };
    return dropUnwanted({ ...state, lastFailed: null, shown: spent }, now);
  };

/** Null: the screen does not exist. */
export const replacePlaylist =
  (payload: PlaylistPayload | null, isSynchronized: boolean): Reducer =>
  (before, now) => {
    const plan = createPagePlan(payload, isSynchronized);
    // A page that starts or stops following the others restarts its playlist.
    const isFollowing = (each: PagePlan): boolean => each.roundAt(now.isClockSet ? now.wall : null).isSynchronized;
    const old = isFollowing(plan) === isFollowing(before.plan) ? before.payload : null;
    const synchronized =
      payload !== null && plan.hasSynchronized ? createSynchronized(createLoopSchedule(plan, before.timeZone)) : null;
    const state: Playback = {
      ...before,
      payload,
      plan,
      synchronized,
      scheduleAt: createPlaylistSchedule(plan, before.timeZone),
      cooldowns: noCooldowns,
      // New data for the same slides does not undo an operator's step.
      origin: synchronized?.key === before.synchronized?.key ? before.origin : null,
      idleAt: before.shown === null ? Math.min(before.idleAt, now.elapsed + IDLE_AFTER_MS) : before.idleAt,
    };
    const change = changeOf(before, old, state, now);
    return chain(state, now, keepUpcoming(change), keepShown(change), dropUnwanted);
  };
