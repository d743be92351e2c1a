/** One feed or API source: fetches it periodically, parses it, and keeps the last valid data. */
import { createHash } from 'node:crypto';
import type { RssFeed } from '../contract/playlist.ts';
import type { NetworkScope } from '../domain/network-scope.ts';
import { doubled, type MonotonicMs } from '../domain/time.ts';
import type { ServiceContext } from '../module.ts';
import { FetchFault, type Validators } from '../platform/outbound/answer.ts';
import type { Turns } from '../platform/outbound/limiter.ts';
import type { SourceLog } from '../platform/source-log.ts';
import { createWorker } from '../platform/worker.ts';
import type { Tempo } from '../tempo.ts';
import type { CacheEntry } from './cache.ts';
import type { CalendarReader } from './calendar-days.ts';
import type { Answer, Fetch } from './fetch.ts';
import { decodeDocument, unfolded } from './text.ts';
import type { Question, ReadFeed } from './thread.ts';

export interface SourceSettings {
  kind: 'rss' | 'api' | 'ics';
  id: string;
  /** http or https, of a calendar also /media/NAME; may include credentials, which only the request uses. */
  url: string;
  refreshSeconds: number;
  /** A JSON path (RFC 9535); null: all of the answer. */
  select: string | null;
}

export interface SourceState {
  status: RssFeed['status'];
  /** Time of the last successful fetch; ISO 8601, UTC, ms. */
  fetchedAt: string | null;
  /** Title of the feed; null: it has none, or this is an API source. */
  title: string | null;
  /** A feed's items or a source's data; null: no fetch succeeded yet. */
  data: unknown;
  /** Why the last fetch failed; null: it succeeded. */
  reason: string | null;
}

/** How calendars are read. */
export interface CalendarMeans {
  reader: CalendarReader;
  /** Reads one among the media of the box. */
  readMedia(path: string, validators: Validators): Promise<Answer>;
}

interface Dependencies {
  fetch: Fetch;
  reader: Reader;
  /** For calendars alone. */
  calendars?: CalendarMeans;
  turns: Turns;
  log: SourceLog;
  /** Called after each fetch. */
  onChange(): void;
  onFetch(result: 'ok' | 'failed'): void;
}

export type Source = ReturnType<typeof openSource>;

type News = Extract<Answer, { changed: true }>;

/** setTimeout fires immediately for delays over 24.8 days, so longer ones are split. */
const MAX_TIMER_MS = 3_600_000;

const MAX_RETRY_AFTER_MS = 86_400_000;
/** Longest pause of retries: data that is fetched once a day does not miss the end of an outage by a day. */
const MAX_RETRY_MS = 900_000;
/** A difference between two clocks that slewing and rounding do not make, ms. */
export const CLOCK_STEP_MS = 1_000;
/** Maximum random addition, as a share of the wait, so that the boxes of a site do not fetch simultaneously. */
const JITTER = 0.1;

/**
 * How long to wait after a fetch, in ms. Retries back off exponentially, from the refresh interval or 15 s, whichever is
 * shorter, to the refresh interval, but at least five and at most 15 minutes. Retry-After is obeyed up to one day.
 * @param failures consecutive ones
 * @param pauseMs Retry-After of the failed fetch
 * @param chance random number in [0, 1)
 */
export const waitAfter = (
  { interval, retry, maxRetry }: Pick<Tempo['feeds'], 'interval' | 'retry' | 'maxRetry'>,
  { refreshSeconds, failures, pauseMs }: { refreshSeconds: number; failures: number; pauseMs: number },
  chance: number,
): number => {
  const usual = Math.max(refreshSeconds * 1000, interval);
  const longest = Math.max(Math.min(usual, MAX_RETRY_MS), maxRetry);
  const wait = failures === 0 ? usual : doubled(failures - 1, Math.min(usual, retry), longest);
  const asked = failures === 0 ? 0 : Math.min(pauseMs, MAX_RETRY_AFTER_MS);
  return Math.max(wait, asked) * (1 + JITTER * chance);
};

/**
 * Parses feeds and JSON in a worker thread: 5 MB of XML take a second, a hostile expression in a JSON path never ends.
 */
export const createReader = ({ tempo: { feeds } }: Pick<ServiceContext, 'tempo'>) => {
  const worker = createWorker<Question>({
    bundle: 'feeds-thread',
    source: 'feeds/thread.ts',
    patienceMs: feeds.parse,
    idleMs: feeds.idle,
  });

  return {
    /**
     * Parses a feed into its title and items.
     * @param base URL of the feed
     * @param nearness network scope of the feed; its pictures must not be nearer
     * @throws UnreadableError
     */
    feed: (text: string, base: string, nearness: NetworkScope) =>
      worker.ask({ kind: 'rss', text, base, nearness }) as Promise<ReadFeed>,
    /**
     * Parses JSON. With `select` (RFC 9535), returns the value of a singular query, else the list of matches.
     * @throws UnreadableError
     */
    data: (text: string, select: string | null) => worker.ask({ kind: 'api', text, select }),
    close: worker.close,
  };
};
export type Reader = ReturnType<typeof createReader>;

/** Identifies a source and its request without revealing the URL: SHA-256, base64url. */
export const keyOf = ({ kind, id, url, select }: SourceSettings): string =>
  createHash('sha256')
    .update(JSON.stringify([kind, id, url, select]))
    .digest('base64url');

const digestOf = (body: Uint8Array): string => createHash('sha256').update(body).digest('base64url');

/** The entry without what spares parsing an answer: the next fetch parses it. */
const unread = (entry: CacheEntry): CacheEntry => ({ ...entry, etag: null, lastModified: null, digest: '' });

export const openSource = (
  {
    now,
    monotonicNow,
    random,
    tempo,
    version,
  }: Pick<ServiceContext, 'now' | 'monotonicNow' | 'random' | 'tempo' | 'version'>,
  settings: SourceSettings,
  kept: CacheEntry | null,
  { fetch, reader, calendars, turns, log, onChange, onFetch }: Dependencies,
) => {
  const { kind, id, url, refreshSeconds, select } = settings;
  const key = keyOf(settings);
  const closing = new AbortController();
  // A newer version may read more of an answer, which a server that answers 304 does not send again.
  let good = kept === null || kept.version === version ? kept : unread(kept);
  /** When it was fetched; null: by an earlier process. */
  let fetched: MonotonicMs | null = null;
  let failures = 0;
  let reason: string | null = null;
  let timer: NodeJS.Timeout;
  let isRunning = false;
  /** Whether the data may have changed since the last fetch began. */
  let isOutdated = false;
  let endedAt = Number.NEGATIVE_INFINITY;

  const read = async ({ body, charset, base, nearness }: News): Promise<Pick<CacheEntry, 'title' | 'data'>> => {
    const text = decodeDocument(kind === 'ics' ? unfolded(body) : body, charset);
    if (text.trim() === '') throw new FetchFault('the answer is empty');
    if (calendars !== undefined) return { title: null, data: await calendars.reader.ask({ kind: 'read', text }) };
    if (kind === 'api') return { title: null, data: await reader.data(text, select) };
    const { title, items } = await reader.feed(text, base, nearness);
    return { title, data: items };
  };

  const poll = async (): Promise<[entry: CacheEntry, at: MonotonicMs]> => {
    const validators = { etag: good?.etag ?? null, lastModified: good?.lastModified ?? null };
    const answer =
      url.startsWith('/') && calendars !== undefined
        ? await calendars.readMedia(url, validators)
        : await turns.take(new URL(url).host, closing.signal, () => fetch(url, validators, closing.signal));
    const { nearness } = answer;
    const fetchedAt = new Date(now()).toISOString();
    const at = monotonicNow();
    if (!answer.changed) {
      if (good === null) throw new FetchFault('the server answers 304 to an unconditional request');
      // The parsed data depends on the network scope: forget the validators, so that the next fetch parses it again.
      return [{ ...(nearness === good.nearness ? good : unread(good)), fetchedAt, nearness }, at];
    }
    const digest = digestOf(answer.body);
    const { title, data } = good?.digest === digest && good.nearness === nearness ? good : await read(answer);
    return [{ key, fetchedAt, nearness, ...answer.validators, digest, version, title, data }, at];
  };

  const sleep = (ms: number): void => {
    const rest = ms - MAX_TIMER_MS;
    timer = rest > 0 ? setTimeout(sleep, MAX_TIMER_MS, rest) : setTimeout(() => void run(), ms);
  };

  const run = async (): Promise<void> => {
    let pauseMs = 0;
    isRunning = true;
    isOutdated = false;
    try {
      [good, fetched] = await poll();
      if (failures > 0) log.info({ source: id, kind }, 'a source is back');
      failures = 0;
      reason = null;
      onFetch('ok');
    } catch (error) {
      if (closing.signal.aborted) return;
      failures += 1;
      onFetch('failed');
      reason = (error as Error).message;
      if (error instanceof FetchFault) pauseMs = error.pause;
      // Logged at failures 1, 2, 4, 8, ...: a permanent failure must not fill the log.
      if (Number.isInteger(Math.log2(failures))) log.warn({ source: id, kind, reason, failures }, 'a source fails');
    }
    if (closing.signal.aborted) return;
    isRunning = false;
    endedAt = performance.now();
    const wait = waitAfter(tempo.feeds, { refreshSeconds, failures, pauseMs }, random());
    sleep(isOutdated ? tempo.feeds.interval : wait);
    onChange();
  };
  sleep(tempo.feeds.start + random() * tempo.feeds.spread);

  /** Dates the last fetch again after the clock was set: pages judge its age by the clock as it is now. */
  const dated = (): CacheEntry | null => {
    if (good === null || fetched === null) return good;
    const at = now() - (monotonicNow() - fetched);
    const isSet = Math.abs(at - Date.parse(good.fetchedAt)) > CLOCK_STEP_MS;
    if (isSet) good = { ...good, fetchedAt: new Date(at).toISOString() };
    return good;
  };

  const status = (): SourceState['status'] => {
    if (failures > 0) return good === null ? 'failed' : 'stale';
    return good === null ? 'pending' : 'ok';
  };

  return {
    settings,
    state: (): SourceState => ({
      status: status(),
      fetchedAt: dated()?.fetchedAt ?? null,
      title: good?.title ?? null,
      data: good?.data ?? null,
      reason,
    }),
    /** The entry to store; null: no fetch succeeded yet. */
    entry: dated,
    /** Fetches as soon as the least interval of fetches allows. */
    outdate(): void {
      isOutdated = true;
      if (isRunning) return;
      clearTimeout(timer);
      sleep(Math.max(0, endedAt + tempo.feeds.interval - performance.now()));
    },
    close(): void {
      clearTimeout(timer);
      closing.abort(new Error('no longer wanted'));
    },
  };
};
