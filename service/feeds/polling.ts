/** Polls the feeds and API sources of the content, and fills their data into the payloads. */

import type { Health } from '../contract/health.ts';
import type { ApiSource, RssFeed } from '../contract/playlist.ts';
import { createDebounce } from '../domain/debounce.ts';
import { createEmitter } from '../domain/emitter.ts';
import type { NetworkScope } from '../domain/network-scope.ts';
import type { ServiceContext } from '../module.ts';
import type { Turns } from '../platform/outbound/limiter.ts';
import type { Cache, CacheEntry } from './cache.ts';
import type { Fetch } from './fetch.ts';
import { keyOf, openSource, type Reader, type Source, type SourceSettings } from './source.ts';

interface Dependencies {
  cache: Cache;
  fetch: Fetch;
  reader: Reader;
  turns: Turns;
}

/** Records of the content, without data. */
export interface Records {
  rssFeeds: RssFeed[];
  apiSources: ApiSource[];
}

export interface Fetches {
  ok: number;
  failed: number;
}

export type Polling = ReturnType<typeof createPolling>;

/** Minimum interval, in ms, of updates in which only `fetched_at` is new: each one costs every page a fetch. */
const TIME_UPDATE_MS = 3_600_000;

type Advertised = Pick<RssFeed, 'status' | 'fetched_at'> & {
  title: string | null;
  data: unknown;
  nearness: NetworkScope;
};

/** The state to advertise next; `before` itself if nothing but the time of the fetch changed. */
const nextState = (before: Advertised | undefined, { state, entry }: Source): Advertised => {
  const { status, fetchedAt, title, data } = state();
  const nearness = entry()?.nearness ?? 0;
  const isChanged =
    before === undefined ||
    // It decides which pictures may be copied.
    before.nearness !== nearness ||
    before.status !== status ||
    before.title !== title ||
    (before.data !== data && JSON.stringify(before.data) !== JSON.stringify(data)) ||
    Date.parse(fetchedAt ?? '') - Date.parse(before.fetched_at ?? '') >= TIME_UPDATE_MS;
  return isChanged ? { status, fetched_at: fetchedAt, title, data, nearness } : before;
};

export const createPolling = (
  context: Pick<ServiceContext, 'logs' | 'now' | 'random' | 'tempo'>,
  { cache, ...means }: Dependencies,
) => {
  const followed = new Map<string, Source>();
  const advertised = new Map<string, Advertised>();
  const changes = createEmitter();
  const fetches: Fetches = { ok: 0, failed: 0 };
  const onFetch = (result: keyof Fetches): void => {
    fetches[result] += 1;
  };
  const nameOf = ({ kind, id }: Pick<SourceSettings, 'kind' | 'id'>): string => `${kind} ${id}`;

  const save = (): void => cache.save(() => [...followed.values()].flatMap((source) => source.entry() ?? []));

  const broadcast = (): void => {
    let isChanged = false;
    for (const [name, source] of followed) {
      const before = advertised.get(name);
      const next = nextState(before, source);
      isChanged ||= next !== before;
      advertised.set(name, next);
    }
    if (!isChanged) return;
    save();
    changes.emit();
  };
  const onChange = createDebounce(broadcast, {
    quietMs: context.tempo.feeds.gather,
    longestMs: context.tempo.feeds.gather,
  });

  const open = (settings: SourceSettings, before: CacheEntry | null): Source => {
    const key = keyOf(settings);
    const kept = before?.key === key ? before : cache.read().find((entry) => entry.key === key);
    return openSource(context, settings, kept ?? null, {
      ...means,
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
    /** Polls exactly these sources. A source with unchanged settings continues without an extra fetch. */
    follow(sources: readonly SourceSettings[]): void {
      const wanted = new Map(sources.map((settings) => [nameOf(settings), settings]));
      for (const [name, source] of followed) {
        if (wanted.has(name)) continue;
        source.close();
        followed.delete(name);
        advertised.delete(name);
      }
      for (const [name, settings] of wanted) {
        const before = followed.get(name);
        if (before !== undefined && isSame(settings, before.settings)) continue;
        before?.close();
        const source = open(settings, before?.entry() ?? null);
        followed.set(name, source);
        advertised.set(name, nextState(undefined, source));
      }
    },
    /** The records with their current data. */
    fill: ({ rssFeeds, apiSources }: Records): Records => ({
      rssFeeds: rssFeeds.map((feed) =>
        fillOne('rss', feed, (items, title) => ({
          // A feed without a name in the content has its id as name.
          name: feed.name === feed.id ? (title ?? feed.name) : feed.name,
          items: items as RssFeed['items'],
        })),
      ),
      apiSources: apiSources.map((source) => fillOne('api', source, (data) => ({ data }))),
    }),
    /** Calls `listener` when the result of {@link Polling.fill} changes. */
    onChange: changes.on,
    /** The nearest network that addresses in the data may be in: that of the feed or source itself. */
    reach: (kind: SourceSettings['kind'], id: string): NetworkScope =>
      followed.get(nameOf({ kind, id }))?.entry()?.nearness ?? 0,
    health: (): Pick<Health, 'rssFeeds' | 'apiSources'> => ({ rssFeeds: healthOf('rss'), apiSources: healthOf('api') }),
    faults: cache.faults,
    /** Writes of the cache. */
    writes: cache.writes,
    /** Fetches since the start. */
    fetches: (): Readonly<Fetches> => fetches,
    async close(): Promise<void> {
      if (onChange.cancel()) save();
      for (const source of followed.values()) source.close();
      await means.reader.close();
      await cache.close();
    },
  };
};
