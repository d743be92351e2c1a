/** The feeds and API sources of the content: followed, and their data put where the pages get them. */

import type { Health } from '../contract/health.ts';
import type { ApiSource, RssFeed } from '../contract/playlist.ts';
import type { Nearness } from '../domain/network-scope.ts';
import type { Turns } from '../platform/outbound/limiter.ts';
import type { SourceLogs } from '../platform/source-log.ts';
import type { Cache, CacheEntry } from './cache.ts';
import type { Fetch } from './fetch.ts';
import type { Reader } from './reader.ts';
import { keyOf, openSource, type Source, type SourceSettings } from './source.ts';

interface Dependencies {
  cache: Cache;
  fetch: Fetch;
  reader: Reader;
  turns: Turns;
  logs: SourceLogs;
  /** ms since the epoch */
  now?: () => number;
  /** Of [0, 1). */
  random?: () => number;
}

/** Records as the content has them, still without data. */
export interface Records {
  rssFeeds: RssFeed[];
  apiSources: ApiSource[];
}

export interface Feeds {
  /** Follows these, and no others. One that stays what it was goes on undisturbed. */
  follow(sources: readonly SourceSettings[]): void;
  /** The records with the data of now. */
  fill(records: Records): Records;
  /** Calls back when {@link Feeds.fill} has something new to say. */
  onChange(listener: () => void): void;
  /** How near what a feed or source names may be: as near as itself. */
  reach(kind: SourceSettings['kind'], id: string): Nearness;
  health(): Pick<Health, 'rssFeeds' | 'apiSources'>;
  faults(): string[];
  close(): Promise<void>;
}

/** Changes that come so close together, in ms, are told as one. */
const GATHER_MS = 150;
/** How far behind, in ms, the time of a fetch that brought nothing new may be told: telling it costs every page a fetch. */
const BEHIND_MS = 3_600_000;

type Told = Pick<RssFeed, 'status' | 'fetched_at'> & { title: string | null; data: unknown; nearness: Nearness };

/** What is told next: the time alone is no news for an hour. */
const tell = (before: Told | undefined, { state, entry }: Source): Told => {
  const { status, fetchedAt, title, data } = state();
  const nearness = entry()?.nearness ?? 0;
  const isNews =
    before === undefined ||
    // Whoever copies its pictures may get at others than before.
    before.nearness !== nearness ||
    before.status !== status ||
    before.title !== title ||
    (before.data !== data && JSON.stringify(before.data) !== JSON.stringify(data)) ||
    Date.parse(fetchedAt ?? '') - Date.parse(before.fetched_at ?? '') >= BEHIND_MS;
  return isNews ? { status, fetched_at: fetchedAt, title, data, nearness } : before;
};

export const createFeeds = ({ cache, logs, now = Date.now, random = Math.random, ...means }: Dependencies): Feeds => {
  const followed = new Map<string, Source>();
  const told = new Map<string, Told>();
  const listeners: (() => void)[] = [];
  const nameOf = ({ kind, id }: Pick<SourceSettings, 'kind' | 'id'>): string => `${kind} ${id}`;
  let timer: NodeJS.Timeout | undefined;

  const save = (): void => cache.save(() => [...followed.values()].flatMap((source) => source.entry() ?? []));

  const announce = (): void => {
    timer = undefined;
    let isNews = false;
    for (const [name, source] of followed) {
      const before = told.get(name);
      const next = tell(before, source);
      isNews ||= next !== before;
      told.set(name, next);
    }
    if (!isNews) return;
    save();
    for (const listener of listeners) listener();
  };
  const onChange = (): void => {
    timer ??= setTimeout(announce, GATHER_MS);
  };

  const open = (settings: SourceSettings, before: CacheEntry | null): Source => {
    const key = keyOf(settings);
    const kept = before?.key === key ? before : cache.read().find((entry) => entry.key === key);
    return openSource(settings, kept ?? null, { ...means, log: logs(`feed ${settings.id}`), now, random, onChange });
  };
  const isSame = (one: SourceSettings, other: SourceSettings): boolean =>
    keyOf(one) === keyOf(other) && one.refreshSeconds === other.refreshSeconds;

  const fillOne = <T extends Pick<RssFeed, 'id' | 'status' | 'fetched_at'>>(
    kind: SourceSettings['kind'],
    record: T,
    show: (data: unknown, title: string | null) => Partial<T>,
  ): T => {
    const { status, fetched_at, title, data } = told.get(nameOf({ kind, id: record.id })) ?? {
      ...record,
      ...{ title: null, data: null },
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
    follow(sources) {
      const wanted = new Map(sources.map((settings) => [nameOf(settings), settings]));
      for (const [name, source] of followed) {
        if (wanted.has(name)) continue;
        source.close();
        followed.delete(name);
        told.delete(name);
      }
      for (const [name, settings] of wanted) {
        const before = followed.get(name);
        if (before !== undefined && isSame(settings, before.settings)) continue;
        before?.close();
        const source = open(settings, before?.entry() ?? null);
        followed.set(name, source);
        told.set(name, tell(undefined, source));
      }
    },
    fill: ({ rssFeeds, apiSources }) => ({
      rssFeeds: rssFeeds.map((feed) =>
        fillOne('rss', feed, (items, title) => ({
          // The content calls one that it gives no name by its id.
          name: feed.name === feed.id ? (title ?? feed.name) : feed.name,
          items: items as RssFeed['items'],
        })),
      ),
      apiSources: apiSources.map((source) => fillOne('api', source, (data) => ({ data }))),
    }),
    onChange: (listener) => {
      listeners.push(listener);
    },
    reach: (kind, id) => followed.get(nameOf({ kind, id }))?.entry()?.nearness ?? 0,
    health: () => ({ rssFeeds: healthOf('rss'), apiSources: healthOf('api') }),
    faults: cache.faults,
    async close() {
      clearTimeout(timer);
      if (timer !== undefined) save();
      for (const source of followed.values()) source.close();
      await means.reader.close();
      await cache.close();
    },
  };
};
