/** Polls the feeds and API sources of the content, and fills their data into the payloads. */
import type { Health } from '../contract/health.ts';
import type { ApiSource, PlaylistPayload, RssFeed } from '../contract/playlist.ts';
import { createDebounce } from '../domain/debounce.ts';
import { createEmitter } from '../domain/emitter.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import type { NetworkScope } from '../domain/network-scope.ts';
import { createFollowing } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import type { Turns } from '../platform/outbound/limiter.ts';
import type { Cache, CacheEntry } from './cache.ts';
import { createCalendarDays, type FilledCalendar, type FilledTimetable } from './calendar-days.ts';
import type { Fetch } from './fetch.ts';
import {
  type CalendarMeans,
  CLOCK_STEP_MS,
  keyOf,
  openSource,
  type Reader,
  type Source,
  type SourceSettings,
} from './source.ts';

interface Dependencies {
  cache: Cache;
  fetch: Fetch;
  reader: Reader;
  turns: Turns;
  /** Absent: no calendars are followed. */
  calendars?: CalendarMeans & {
    fetch: Fetch;
    /** IANA time zone of the site. */
    timeZone: string;
  };
}

/** Records of the content, without data. */
export interface Records {
  rssFeeds: RssFeed[];
  apiSources: ApiSource[];
  timetableGroups?: FilledTimetable[];
  calendars?: FilledCalendar[] | undefined;
}

/** Records as pages get them. */
type Full = Pick<PlaylistPayload, 'rssFeeds' | 'apiSources' | 'calendars'> &
  Partial<Pick<PlaylistPayload, 'timetableGroups'>>;

export interface Fetches {
  ok: number;
  failed: number;
}

export type Polling = ReturnType<typeof createPolling>;

/** Longest interval, in ms, of updates in which only `fetched_at` is new: each one costs every page a fetch. */
const TIME_UPDATE_MS = 3_600_000;

type Advertised = Pick<RssFeed, 'status' | 'fetched_at'> & {
  title: string | null;
  data: unknown;
  nearness: NetworkScope;
};

/** The state to advertise next; `before` itself if nothing but the time of the fetch changed. */
const nextState = (before: Advertised | undefined, { state, entry }: Source, updateMs: number): Advertised => {
  const { status, fetchedAt, title, data } = state();
  const nearness = entry()?.nearness ?? 0;
  const isChanged =
    before === undefined ||
    // It decides which pictures may be copied.
    before.nearness !== nearness ||
    before.status !== status ||
    before.title !== title ||
    (before.data !== data && JSON.stringify(before.data) !== JSON.stringify(data)) ||
    // It is earlier than before where the clock was set back.
    Math.abs(Date.parse(fetchedAt ?? '') - Date.parse(before.fetched_at ?? '')) >= updateMs;
  return isChanged ? { status, fetched_at: fetchedAt, title, data, nearness } : before;
};

export const createPolling = (
  context: Pick<ServiceContext, 'logs' | 'now' | 'monotonicNow' | 'random' | 'tempo' | 'version'>,
  { cache, calendars: calendarMeans, ...means }: Dependencies,
) => {
  const followed = new Map<string, Source>();
  const advertised = new Map<string, Advertised>();
  const changes = createEmitter();
  let updateMs = TIME_UPDATE_MS;
  const fetches: Fetches = { ok: 0, failed: 0 };
  const onFetch = (result: keyof Fetches): void => {
    fetches[result] += 1;
  };
  const { random, tempo, monotonicNow, version } = context;
  const clock = createFollowing(context.now);
  const days =
    calendarMeans &&
    createCalendarDays({ now: clock.now, tempo: context.tempo }, { ...calendarMeans, onChange: () => changes.emit() });
  const nameOf = ({ kind, id }: Pick<SourceSettings, 'kind' | 'id'>): string => `${kind} ${id}`;

  const save = (isUrgent = false): void =>
    cache.save(() => [...followed.values()].flatMap((source) => source.entry() ?? []), isUrgent);

  const broadcast = (): void => {
    let isChanged = false;
    /** Calendars are on the disk soon after they are shown. */
    let isUrgent = false;
    for (const [name, source] of followed) {
      const before = advertised.get(name);
      const next = nextState(before, source, updateMs);
      isChanged ||= next !== before;
      isUrgent ||= next !== before && source.settings.kind === 'ics';
      advertised.set(name, next);
    }
    if (!isChanged) return;
    save(isUrgent);
    changes.emit();
  };
  const onChange = createDebounce(broadcast, {
    quietMs: context.tempo.feeds.gather,
    longestMs: context.tempo.feeds.gather,
  });

  let offset = clock.now() - monotonicNow();
  const clockWatch = setInterval(() => {
    const before = offset;
    offset = clock.now() - monotonicNow();
    if (Math.abs(offset - before) > CLOCK_STEP_MS) onChange();
  }, tempo.content.boundary);
  clockWatch.unref();

  const open = (settings: SourceSettings, before: CacheEntry | null): Source => {
    const key = keyOf(settings);
    const kept = before?.key === key ? before : cache.read().find((entry) => entry.key === key);
    return openSource({ random, tempo, monotonicNow, version, now: clock.now }, settings, kept ?? null, {
      ...means,
      ...(settings.kind === 'ics' && calendarMeans && { fetch: calendarMeans.fetch, calendars: calendarMeans }),
      log: context.logs(`feed ${settings.id}`),
      onChange,
      onFetch,
    });
  };
  const isSame = (one: SourceSettings, other: SourceSettings): boolean =>
    keyOf(one) === keyOf(other) && one.refreshSeconds === other.refreshSeconds;

  const fillOne = <T extends Pick<RssFeed, 'id' | 'status' | 'fetched_at'>>(
    kind: SourceSettings['kind'],
    record: T,
    show: (data: unknown, title: string | null) => Partial<T>,
  ): T => {
    const { status, fetched_at, title, data } = advertised.get(nameOf({ kind, id: record.id })) ?? {
      ...record,
      title: null,
      data: null,
    };
    return { ...record, status, fetched_at, ...(data === null ? {} : show(data, title)) };
  };
  const healthOf = (kind: SourceSettings['kind']) =>
    [...followed.values()]
      .filter(({ settings }) => settings.kind === kind)
      .map(({ settings, state }) => {
        const { status, fetchedAt, reason } = state();
        return { id: settings.id, status, fetched_at: fetchedAt, reason };
      });

  return {
    /**
     * Polls exactly these sources. A source with unchanged settings continues without an extra fetch.
     * @param shortestAge seconds that the data may be old where that is shortest; pages hear of each fetch in time
     */
    follow(sources: readonly SourceSettings[], shortestAge = Number.POSITIVE_INFINITY): void {
      updateMs = Math.min(TIME_UPDATE_MS, shortestAge * 500);
      const wanted = new Map(sources.map((settings) => [nameOf(settings), settings]));
      for (const [name, source] of followed) {
        if (wanted.has(name)) continue;
        source.close();
        followed.delete(name);
        advertised.delete(name);
        if (source.settings.kind === 'ics') days?.forget(source.settings.id);
      }
      for (const [name, settings] of wanted) {
        const before = followed.get(name);
        // In the order of the content.
        followed.delete(name);
        if (before !== undefined && isSame(settings, before.settings)) {
          followed.set(name, before);
          continue;
        }
        before?.close();
        // Its expansion stays where only the interval is new.
        const isOther = before !== undefined && keyOf(before.settings) !== keyOf(settings);
        if (settings.kind === 'ics' && isOther) days?.forget(settings.id);
        const source = open(settings, before?.entry() ?? null);
        followed.set(name, source);
        advertised.set(name, nextState(undefined, source, updateMs));
      }
    },
    /** Reads a calendar again that lies among the media under that name. */
    reread(name: string): void {
      for (const source of followed.values()) if (mediaNameIn(source.settings.url) === name) source.outdate();
    },
    /** The records with their current data. */
    fill: ({ rssFeeds, apiSources, timetableGroups = [], calendars }: Records): Full => ({
      rssFeeds: rssFeeds.map((feed) =>
        fillOne('rss', feed, (items, title) => ({
          // A feed without a name in the content has its id as name.
          name: feed.name === feed.id ? (title ?? feed.name) : feed.name,
          items: items as RssFeed['items'],
        })),
      ),
      apiSources: apiSources.map((source) => fillOne('api', source, (data) => ({ data }))),
      timetableGroups: timetableGroups.map(({ calendarId, ...group }) => {
        if (calendarId === undefined) return group;
        const { data = null, fetched_at = null } = advertised.get(nameOf({ kind: 'ics', id: calendarId })) ?? {};
        const shown = data === null ? null : days?.timetable(calendarId, data, fetched_at);
        return { ...group, ...(shown && { entries: shown.entries }), fetched_at: shown?.fetchedAt ?? null };
      }),
      ...(calendars && {
        calendars: calendars.map(({ showsPrivate = false, ...calendar }) => {
          const found = advertised.get(nameOf({ kind: 'ics', id: calendar.id }));
          const { status, fetched_at } = found ?? calendar;
          const shown = found && found.data !== null && days?.shown(calendar.id, found.data, fetched_at, showsPrivate);
          if (!shown) return { ...calendar, status, fetched_at };
          // It was fetched once its events are known.
          const told = shown.status === 'ok' ? status : shown.status;
          return { ...calendar, status: told, fetched_at: shown.fetchedAt, events: shown.events };
        }),
      }),
    }),
    /** The days of calendars and the times of fetches are those that schedules go by, as their age on pages is. */
    followClock: clock.follow,
    /** Calls `listener` when the result of {@link Polling.fill} changes. */
    onChange: changes.on,
    /** The nearest network that addresses in the data may be in: that of the feed or source itself. */
    reach: (kind: SourceSettings['kind'], id: string): NetworkScope =>
      followed.get(nameOf({ kind, id }))?.entry()?.nearness ?? 0,
    /** The calendars in the order of the content, why they failed, and which events pages do not get. */
    calendars: () =>
      healthOf('ics').map((each) => {
        const trouble = days?.troubles(each.id) ?? { excess: 0, unfinished: [], unread: 0, reason: null };
        return {
          ...each,
          ...trouble,
          reason: each.reason ?? (trouble.reason && `its events cannot be read (${trouble.reason})`),
        };
      }),
    health: (): Pick<Health, 'rssFeeds' | 'apiSources'> => ({ rssFeeds: healthOf('rss'), apiSources: healthOf('api') }),
    /** Resolves once pages get the events of the calendars that were kept, but not later than in a second or so. */
    settled: async () => days?.settled(),
    faults: cache.faults,
    writes: cache.writes,
    /** Fetches since the start. */
    fetches: (): Readonly<Fetches> => fetches,
    async close(): Promise<void> {
      clearInterval(clockWatch);
      if (onChange.cancel()) save();
      for (const source of followed.values()) source.close();
      await days?.close();
      await means.reader.close();
      await cache.close();
    },
  };
};
