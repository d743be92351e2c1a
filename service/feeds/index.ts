/** RSS feeds and API sources: their data in the payloads. */
import { open } from 'node:fs/promises';
import { join } from 'node:path';
import type { ContentIssue } from '../contract/content-terms.ts';
import type { Health } from '../contract/health.ts';
import { mediaNameIn } from '../domain/media-names.ts';
import { limitSentences } from '../domain/wording.ts';
import type { Module, ServiceContext } from '../module.ts';
import { FetchFault, type Validators } from '../platform/outbound/answer.ts';
import { createTurns } from '../platform/outbound/limiter.ts';
import { openCache } from './cache.ts';
import { createCalendarReader } from './calendar-days.ts';
import { type Answer, createFetch } from './fetch.ts';
import { createPolling, type Polling } from './polling.ts';
import { createReader, type SourceSettings } from './source.ts';

const createReadMedia =
  ({ dirs }: Pick<ServiceContext, 'dirs'>, maxBytes: number) =>
  async (path: string, { etag }: Validators): Promise<Answer> => {
    const name = mediaNameIn(path);
    if (name === null) throw new FetchFault('its name is not valid');
    for (const folder of [dirs.uploads, dirs.media]) {
      const handle = await open(join(folder, name)).catch(() => null);
      if (handle === null) continue;
      try {
        const { size, mtimeMs } = await handle.stat();
        if (size > maxBytes) throw new FetchFault(`it is larger than ${Math.round(maxBytes / 1024)} KiB`);
        const version = `${size}-${mtimeMs}`;
        if (version === etag) return { changed: false, nearness: 2 };
        const body = await handle.readFile();
        return {
          changed: true,
          nearness: 2,
          body,
          charset: null,
          base: path,
          validators: { etag: version, lastModified: null },
        };
      } finally {
        await handle.close();
      }
    }
    throw new FetchFault('the file is not on this box');
  };

export type { FilledCalendar, FilledTimetable } from './calendar-days.ts';
export type { SourceSettings };

const MAX_CALENDAR_BYTES = 10 * 1024 ** 2;

export type Feeds = Module &
  Pick<Polling, 'follow' | 'followClock' | 'reread' | 'fill' | 'onChange' | 'reach' | 'settled'>;

const MOST_NAMED = 3;
const quoted = (names: readonly string[]): string =>
  names
    .slice(0, MOST_NAMED)
    .map((name) => JSON.stringify(name))
    .join(', ');

/** The feeds and sources that failed, for `/healthz`. */
const feedIssues = (
  { rssFeeds, apiSources }: Pick<Health, 'rssFeeds' | 'apiSources'>,
  calendars: ReturnType<Polling['calendars']>,
): string[] => {
  const all = [
    ...rssFeeds.map((feed) => ({ ...feed, what: 'feed' })),
    ...apiSources.map((source) => ({ ...source, what: 'source' })),
    ...calendars.map((calendar) => ({ ...calendar, what: 'calendar' })),
  ];
  return limitSentences(
    all.flatMap(({ id, what, reason }) => (reason === null ? [] : [`The ${what} "${id}" failed: ${reason}.`])),
    'feeds and sources failed',
  );
};

/** The calendars of which pages do not get all events. */
const calendarWarnings = (calendars: ReturnType<Polling['calendars']>): ContentIssue[] =>
  calendars.flatMap(({ id, excess, unfinished, unread }, index) =>
    [
      ...(excess > 0 ? [`has ${excess} more events than are shown`] : []),
      ...(unfinished.length > 0
        ? [`has events whose rules take too long to follow, and which are not shown each time: ${quoted(unfinished)}`]
        : []),
      ...(unread > 0 ? [`has events that cannot be read, and are not shown: ${unread}`] : []),
    ].map((what) => ({ path: `calendars[${index}]`, message: `${JSON.stringify(id)}: ${what}` })),
  );

export const createFeeds = async (context: ServiceContext): Promise<Feeds> => {
  const cache = await openCache(context);
  const turns = createTurns({ total: 8, perHost: 2, gapMs: context.tempo.feeds.gap });
  // The content follows its feeds until it is closed.
  const { follow, followClock, reread, fill, onChange, reach, settled, health, calendars, fetches } = context.keep(
    createPolling(context, {
      cache,
      fetch: createFetch(context),
      reader: createReader(context),
      turns,
      calendars: {
        fetch: createFetch(context, MAX_CALENDAR_BYTES),
        readMedia: createReadMedia(context, MAX_CALENDAR_BYTES),
        reader: createCalendarReader(context),
        timeZone: context.options.timeZone,
      },
    }),
  );
  return {
    follow,
    followClock,
    reread,
    fill,
    onChange,
    reach,
    settled,
    metrics: () => ({ signage_feed_fetches_total: { ...fetches() } }),
    health: () => ({
      fields: health(),
      issues: { feeds: feedIssues(health(), calendars()) },
      contentWarnings: calendarWarnings(calendars()),
    }),
  };
};
