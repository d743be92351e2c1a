/** RSS feeds and API sources: their data in the payloads. */
import type { Module, ServiceContext } from '../module.ts';
import { createTurns } from '../platform/outbound/limiter.ts';
import { openCache } from './cache.ts';
import { createFetch } from './fetch.ts';
import { feedIssues } from './health.ts';
import { createPolling, type Polling } from './polling.ts';
import { createReader } from './reader.ts';

export type { SourceSettings } from './source.ts';

export type Feeds = Module & Pick<Polling, 'follow' | 'fill' | 'onChange' | 'reach'>;

const LIMITS = { total: 8, perHost: 2, gapMs: 1_000 };

export const createFeeds = async ({ dirs, log, logs, get, keep }: ServiceContext): Promise<Feeds> => {
  const cache = await openCache({ dataDir: dirs.data, log });
  const turns = createTurns(LIMITS);
  // The content follows its feeds until it is closed.
  const { follow, fill, onChange, reach, health, fetches } = keep(
    createPolling({ cache, fetch: createFetch(get), reader: createReader(), turns, logs }),
  );
  return {
    follow,
    fill,
    onChange,
    reach,
    metrics: () => ({ signage_feed_fetches_total: { ...fetches() } }),
    health: () => ({ fields: health(), issues: { feeds: feedIssues(health()) } }),
  };
};
