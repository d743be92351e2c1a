/** What a new playlist changes: a slide keeps playing while the fingerprint of what it shows stays the same. Pure. */
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { usedOf } from '../../service/domain/template.ts';
import type { Playback } from './playback-state.ts';
import { createPlaylistSchedule, noCooldowns } from './playlist-schedule.ts';
import { searchFrom, standalone } from './standalone.ts';
import { createLoopSchedule, createSynchronized } from './synchronized.ts';
import { chain, dropUpcoming, modeOf, type Reducer } from './transitions.ts';

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
  const { screen, rssFeeds = [], apiSources = [], timetableGroups = [] } = payload;
  if (slide.kind === 'rss') {
    const feed = rssFeeds.find(({ id }) => id === slide.content?.['feed_id']);
    return feed && [feed.name, feed.items];
  }
  if (slide.kind === 'timetable') return timetableGroups.find(({ id }) => id === slide.content?.['group_id']);
  if (slide.kind !== 'template') return null;
  const html = slide.template?.html ?? '';
  return [
    [screen.id, screen.name, screen.slug],
    usedOf(html, 'feeds', rssFeeds).map((feed) => withoutUnseen(html, feed)),
    usedOf(html, 'sources', apiSources).map((source) => withoutUnseen(html, source)),
    usedOf(html, 'timetables', timetableGroups),
  ];
};

/** A string that is equal if a slide looks the same with both payloads. */
export const fingerprint = (slide: Slide, payload: PlaylistPayload): string =>
  JSON.stringify([slide, dataOf(slide, payload)]);

/** Whether a slide looks the same with the payload `after`; false if it was removed. */
const isSame = (slide: Slide, before: PlaylistPayload, after: PlaylistPayload): boolean => {
  const now = after.slides.find(({ id }) => id === slide.id);
  return now !== undefined && fingerprint(slide, before) === fingerprint(now, after);
};

/** A page without a ready slide shows the idle screen after this time. */
const IDLE_AFTER_MS = 5_000;

const indexIn = (payload: PlaylistPayload | null, slide: Slide): number =>
  payload?.slides.findIndex(({ id }) => id === slide.id) ?? -1;

const keepUpcoming =
  (isKept: (slide: Slide) => boolean): Reducer =>
  (state, now) => {
    const { upcoming, payload } = state;
    if (upcoming === null) return [state, []];
    if (!isKept(upcoming.slide)) return dropUpcoming(state, now);
    return [{ ...state, upcoming: { ...upcoming, index: indexIn(payload, upcoming.slide) } }, []];
  };

const keepShown =
  (isKept: (slide: Slide) => boolean): Reducer =>
  (state) => {
    const { shown, payload } = state;
    if (shown?.slide == null) return [state, []];
    const { slide } = shown;
    const index = indexIn(payload, slide);
    if (isKept(slide)) {
      const lastFailed = shown.isSpent ? state.lastFailed : null;
      return [{ ...state, lastFailed, shown: { ...shown, index } }, [{ type: 'report', index, slide }]];
    }
    // An edited slide is followed by its new version, a removed one by the next slide.
    const before = (index === -1 ? Math.min(shown.index, payload?.slides.length ?? 0) : index) - 1;
    return [{ ...state, shown: { ...shown, index: before, isSpent: true, isEdited: index !== -1 } }, []];
  };

/** Drops an upcoming slide that is no longer the next one. When synchronized, the loop schedule decides that. */
const dropUnwanted: Reducer = (state, now) => {
  const { upcoming, scheduleAt, cooldowns } = state;
  if (upcoming === null || upcoming.step !== null || modeOf(state, now) !== standalone) return [state, []];
  const next = scheduleAt(cooldowns, now).next(searchFrom(state), 1, now.wall);
  return upcoming.index === next ? [state, []] : dropUpcoming(state, now);
};

/** Null: the screen does not exist. */
export const replacePlaylist =
  (payload: PlaylistPayload | null, isSynchronized: boolean): Reducer =>
  (before, now) => {
    const slides = payload?.slides ?? [];
    const old = isSynchronized === (before.synchronized !== null) ? before.payload : null;
    const isKept = (slide: Slide): boolean => payload !== null && old !== null && isSame(slide, old, payload);
    const synchronized =
      payload !== null && isSynchronized ? createSynchronized(createLoopSchedule(slides, before.timeZone)) : null;
    const state: Playback = {
      ...before,
      payload,
      synchronized,
      scheduleAt: createPlaylistSchedule(slides, before.timeZone),
      cooldowns: noCooldowns,
      // New data for the same slides does not undo an operator's step.
      shift: synchronized?.key === before.synchronized?.key ? before.shift : 0,
      idleAt: before.shown === null ? Math.min(before.idleAt, now.elapsed + IDLE_AFTER_MS) : before.idleAt,
    };
    return chain(state, now, keepUpcoming(isKept), keepShown(isKept), dropUnwanted);
  };
