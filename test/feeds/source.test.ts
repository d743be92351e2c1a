import { createHash } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { NetworkScope } from '../../service/domain/network-scope.ts';
import type { Answer } from '../../service/feeds/fetch.ts';
import { keyOf, openSource, type Reader } from '../../service/feeds/source.ts';
import type { Validators } from '../../service/platform/outbound/answer.ts';
import { createTurns } from '../../service/platform/outbound/limiter.ts';
import { defaultTempo } from '../../service/tempo.ts';

const DAY_MS = 86_400_000;
const context = {
  now: Date.now,
  monotonicNow: () => performance.now(),
  random: () => 0,
  tempo: defaultTempo,
  version: '2.0.0',
};

/** What a source needs beside what it fetches and reads with. */
const surroundings = () => ({
  turns: createTurns({ total: 8, perHost: 2, gapMs: 0 }),
  log: pino({ level: 'silent' }),
  onChange: () => {},
  onFetch: () => {},
});

test.each([1, 30, 365])('a source that is to be asked every %d days is asked no more often', async (days) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  let asked = 0;
  const validators = { etag: null, lastModified: null };
  const fetch = async (url: string): Promise<Answer> => {
    asked += 1;
    return { changed: true, nearness: 0, body: Buffer.from('{}'), charset: null, base: url, validators };
  };
  const source = openSource(
    context,
    { kind: 'api', id: 'x', url: 'http://a.example/', refreshSeconds: days * 86_400, select: null },
    null,
    {
      fetch,
      reader: { data: async () => ({}) } as unknown as Reader,
      ...surroundings(),
    },
  );
  onTestFinished(source.close);
  await vi.advanceTimersByTimeAsync(days * DAY_MS);
  expect(asked).toBe(1);
  await vi.advanceTimersByTimeAsync(days * DAY_MS);
  expect(asked).toBe(2);
});

test('a feed whose network scope became nearer is read again once it sends its body', async () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const asked: (string | null)[] = [];
  const read: NetworkScope[] = [];
  let nearness: NetworkScope = 0;
  const fetch = async (base: string, { etag }: Validators): Promise<Answer> => {
    asked.push(etag);
    if (etag !== null) return { changed: false, nearness };
    const validators = { etag: '"1"', lastModified: null };
    return { changed: true, nearness, body: Buffer.from('<rss/>'), charset: null, base, validators };
  };
  const feed: Reader['feed'] = async (_, __, near) => {
    read.push(near);
    return { title: null, items: [] };
  };
  const source = openSource(
    context,
    { kind: 'rss', id: 'x', url: 'http://a.example/', refreshSeconds: 60, select: null },
    null,
    {
      fetch,
      reader: { feed } as Reader,
      ...surroundings(),
    },
  );
  onTestFinished(source.close);
  await vi.advanceTimersByTimeAsync(100_000);
  nearness = 1;
  await vi.advanceTimersByTimeAsync(240_000);
  expect([asked.slice(0, 4), read]).toEqual([
    [null, '"1"', '"1"', null],
    [0, 1],
  ]);
});

test.each([
  ['an older version', '1.0.0', [null, '"1"'], ['new', 'new']],
  ['a version that did not say', undefined, [null, '"1"'], ['new', 'new']],
  ['this version', '2.0.0', ['"1"', '"1"'], ['kept', 'kept']],
])('what %s read is shown, and parsed again unless it was this one', async (_, version, asked, shown) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const settings = { kind: 'api', id: 'x', url: 'http://a.example/', refreshSeconds: 60, select: null } as const;
  const body = Buffer.from('{}');
  const kept = {
    ...{ key: keyOf(settings), fetchedAt: new Date().toISOString(), etag: '"1"', lastModified: null },
    ...{ nearness: 0 as const, digest: createHash('sha256').update(body).digest('base64url') },
    ...{ version, title: null, data: 'kept' },
  };
  const etags: (string | null)[] = [];
  const source = openSource(context, settings, kept, {
    fetch: async (base, { etag }) => {
      etags.push(etag);
      if (etag !== null) return { changed: false, nearness: 0 };
      return { changed: true, nearness: 0, body, charset: null, base, validators: { etag: '"1"', lastModified: null } };
    },
    reader: { data: async () => 'new' } as unknown as Reader,
    ...surroundings(),
  });
  onTestFinished(source.close);
  expect(source.state().data).toBe('kept');
  const data = [];
  for (const ms of [30_000, 60_000]) {
    await vi.advanceTimersByTimeAsync(ms);
    data.push(source.state().data);
  }
  expect([etags, data]).toEqual([asked, shown]);
});

test.each([-7, 7])(
  'the time of a fetch follows a clock that was set by %d days since, and not one that is slewed',
  async (days) => {
    vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout'] });
    onTestFinished(() => void vi.useRealTimers());
    const start = Date.parse('2026-06-15T08:00:00.000Z');
    let [time, monotonic] = [start, 5_000];
    const source = openSource(
      { ...context, now: () => time, monotonicNow: () => monotonic },
      { kind: 'api', id: 'x', url: 'http://a.example/', refreshSeconds: 86_400, select: null },
      null,
      {
        fetch: async (base) => {
          const validators = { etag: null, lastModified: null };
          return { changed: true, nearness: 0, body: Buffer.from('{}'), charset: null, base, validators };
        },
        reader: { data: async () => ({}) } as unknown as Reader,
        ...surroundings(),
      },
    );
    onTestFinished(source.close);
    await vi.advanceTimersByTimeAsync(100_000);
    const fetchedAt = () =>
      [source.state().fetchedAt, source.entry()?.fetchedAt].map((at) => Date.parse(at ?? '') - start);
    monotonic += 60_000;
    time += 60_900;
    expect(fetchedAt()).toEqual([0, 0]);
    time = start + days * DAY_MS + 60_000;
    expect(fetchedAt()).toEqual([days * DAY_MS, days * DAY_MS]);
    time += 400;
    expect(fetchedAt()).toEqual([days * DAY_MS, days * DAY_MS]);
  },
);
