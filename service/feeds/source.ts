/** One feed or API source: fetched when its time comes, read, and its last good data held. */
import { createHash } from 'node:crypto';
import type { RssFeed } from '../contract/playlist.ts';
import { FetchFault } from '../platform/outbound/fault.ts';
import type { Turns } from '../platform/outbound/limiter.ts';
import type { SourceLog } from '../platform/source-log.ts';
import type { CacheEntry } from './cache.ts';
import type { Answer, Fetch } from './fetch.ts';
import type { Reader } from './reader.ts';
import { waitAfter } from './schedule.ts';
import { decodeDocument } from './text.ts';

/** What the operator says of it. */
export interface SourceSettings {
  kind: 'rss' | 'api';
  id: string;
  /** http or https, credentials included: for the request alone. */
  url: string;
  refreshSeconds: number;
  /** A JSON path (RFC 9535); null: all of the answer. */
  select: string | null;
}

/** What is known of it. */
export interface SourceState {
  status: RssFeed['status'];
  /** Of the last fetch that succeeded; ISO 8601, UTC, ms. */
  fetchedAt: string | null;
  /** What a feed calls itself; null: nothing, or it is a source. */
  title: string | null;
  /** A feed's items, or a source's data; null where there never were any. */
  data: unknown;
  /** Why the last fetch failed; null: it did not. */
  reason: string | null;
}

interface Dependencies {
  fetch: Fetch;
  reader: Reader;
  turns: Turns;
  log: SourceLog;
  /** ms since the epoch */
  now: () => number;
  /** Of [0, 1). */
  random: () => number;
  /** Something about it is new. */
  onChange(): void;
}

export interface Source {
  readonly settings: SourceSettings;
  state(): SourceState;
  /** What is to be kept; null: nothing yet. */
  entry(): CacheEntry | null;
  close(): void;
}

type News = Extract<Answer, { changed: true }>;

/** After a start, and after a change of the content, requests wait for that to be done, and are spread, in ms. */
const START_MS = 300;
const SPREAD_MS = 500;
/** A timer holds less than 25 days, and fires at once for more. */
const LONGEST_SLEEP_MS = 3_600_000;

/** What stands for a source and what is asked of it, without saying what. */
export const keyOf = ({ kind, id, url, select }: SourceSettings): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, id, url, select]))
    .digest('base64url');

const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url');

export const openSource = (settings: SourceSettings, kept: CacheEntry | null, dependencies: Dependencies): Source => {
  const { fetch, reader, turns, log, now, random, onChange } = dependencies;
  const { kind, id, url, refreshSeconds, select } = settings;
  const key = keyOf(settings);
  const closing = new AbortController();
  let good = kept;
  let failures = 0;
  let reason: string | null = null;
  let timer: NodeJS.Timeout;

  const read = async ({ body, charset, base, nearness }: News): Promise<Pick<CacheEntry, 'title' | 'data'>> => {
    const text = decodeDocument(body, charset);
    if (text.trim() === '') throw new FetchFault('the answer is empty');
    if (kind === 'api') return { title: null, data: await reader.data(text, select) };
    const { title, items } = await reader.feed(text, base, nearness);
    return { title, data: items };
  };

  const look = async (): Promise<CacheEntry> => {
    const validators = { etag: good?.etag ?? null, lastModified: good?.lastModified ?? null };
    const answer = await turns.take(new URL(url).host, closing.signal, () => fetch(url, validators, closing.signal));
    const { nearness } = answer;
    const fetchedAt = new Date(now()).toISOString();
    if (!answer.changed) {
      if (good === null) throw new FetchFault('the server answers 304 to an unconditional request');
      // What it shows may depend on how near it is: the next time it is read anew.
      const unread = { etag: null, lastModified: null, digest: '' };
      return { ...good, ...(nearness !== good.nearness && unread), fetchedAt, nearness };
    }
    const digest = digestOf(answer.body);
    const { title, data } = good?.digest === digest && good.nearness === nearness ? good : await read(answer);
    return { key, fetchedAt, nearness, ...answer.validators, digest, title, data };
  };

  const sleep = (ms: number): void => {
    const rest = ms - LONGEST_SLEEP_MS;
    timer = rest > 0 ? setTimeout(sleep, LONGEST_SLEEP_MS, rest) : setTimeout(() => void run(), ms);
  };

  const run = async (): Promise<void> => {
    let pauseMs = 0;
    try {
      good = await look();
      if (failures > 0) log.info({ source: id, kind }, 'a source is back');
      failures = 0;
      reason = null;
    } catch (error) {
      if (closing.signal.aborted) return;
      failures += 1;
      reason = (error as Error).message;
      if (error instanceof FetchFault) pauseMs = error.pause;
      // What goes on failing is told ever more seldom.
      if (Number.isInteger(Math.log2(failures))) log.warn({ source: id, kind, reason, failures }, 'a source fails');
    }
    if (closing.signal.aborted) return;
    sleep(waitAfter({ refreshSeconds, failures, pauseMs }, random()));
    onChange();
  };
  sleep(START_MS + random() * SPREAD_MS);

  const status = (): SourceState['status'] => {
    if (failures > 0) return good === null ? 'failed' : 'stale';
    return good === null ? 'pending' : 'ok';
  };

  return {
    settings,
    state: () => ({
      status: status(),
      fetchedAt: good?.fetchedAt ?? null,
      title: good?.title ?? null,
      data: good?.data ?? null,
      reason,
    }),
    entry: () => good,
    close() {
      clearTimeout(timer);
      closing.abort(new Error('no longer wanted'));
    },
  };
};
