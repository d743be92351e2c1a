/** What a box asks of the others of its site before it downloads a file, when it asks again, and what it answers them. */
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from 'vitest';
import { createCopies, type SiteCopy } from '../../../service/media/copies/copies.ts';
import type { Copy } from '../../../service/media/copies/ledger.ts';
import { FetchHeld } from '../../../service/media/fetch-limits.ts';
import { FetchFault } from '../../../service/platform/outbound/answer.ts';
import { defaultTempo } from '../../../service/tempo.ts';

type Context = Parameters<typeof createCopies>[0];
type Dependencies = Parameters<typeof createCopies>[1];

const address = 'https://example.com/a.png';
const reason = 'is fetched between 22:00 and 06:00 only';
const stored: Copy = {
  ...{ sha256: 'a'.repeat(64), size: 1, mediaType: 'image/png', etag: null, lastModified: null, life: 60_000 },
  ...{ checkedAt: 0, verifiedAt: Date.now(), usedAt: 0 },
};

/** A box whose content names files that it can not download, and what it has asked of the others. */
const setUp = (
  siteCopy: (url: string) => Promise<SiteCopy>,
  { copy, names = [address] }: { copy?: Copy; names?: string[] } = {},
) => {
  const site = { isOpen: true, asks: [] as number[], fetches: 0 };
  const limits: Dependencies['limits'] = {
    ...{ isLimited: true, onOpen: () => undefined },
    heldReason: () => (site.isOpen ? null : reason),
    enter: () => {
      if (!site.isOpen) throw new FetchHeld(`it ${reason}`, { pause: 3_600_000 });
      return new AbortController().signal;
    },
  };
  const write = () => undefined;
  const slides = names.map((media_url) => ({ kind: 'image', media_url }));
  const context: Context = {
    hasher: { hashFile: () => expect.unreachable() },
    logs: () => ({ info: write, warn: write, error: write }) as unknown as ReturnType<Context['logs']>,
    random: Math.random,
    tempo: defaultTempo,
  };
  const copies = createCopies(context, {
    content: { shown: () => [{ slides }], onChange: write } as unknown as Dependencies['content'],
    feeds: { reach: () => 0 },
    ledger: {
      ...{ get: () => copy, fileOf: () => '', protect: write, expire: async () => undefined },
      measure: () => ({ count: 0, bytes: 0 }),
    } as unknown as Dependencies['ledger'],
    downloads: {
      fetch: async () => {
        site.fetches += 1;
        limits.enter();
        throw new FetchFault('the server answers 404');
      },
    },
    limits,
    storage: { quota: 1, left: async () => 1 },
    siteCopy: (url) => {
      site.asks.push(Date.now());
      return siteCopy(url);
    },
  });
  onTestFinished(() => copies.close());
  return { copies, site };
};

beforeEach(() => void vi.useFakeTimers());
afterEach(() => void vi.useRealTimers());

describe('outside the hours for it', () => {
  it.each([
    ['that is missing', undefined],
    ['whose copy is stale', stored],
  ])('no box is asked for a file %s, however often it is asked for itself', async (_, copy) => {
    const { copies, site } = setUp(async () => 'coming', copy && { copy });
    site.isOpen = false;
    copies.start();
    for (let seconds = 0; seconds < 60; seconds += 2) {
      await vi.advanceTimersByTimeAsync(2_000);
      // The other box may fetch it now, and has not to wait for this one.
      expect(copies.offer(address)).toMatchObject({ state: copy ? 'here' : 'failed', copy: copy ? { size: 1 } : null });
    }
    expect(site).toMatchObject({ asks: [], fetches: 0 });
    expect(copies.held()).toEqual(copy ? [] : [address]);
  });
});

describe('another box that downloads a file', () => {
  it('is asked for it less and less often, up to once a minute', async () => {
    const { copies, site } = setUp(async () => 'coming');
    copies.start();
    await vi.advanceTimersByTimeAsync(300_000);
    const pauses = site.asks.slice(1).map((at, n) => at - (site.asks[n] ?? 0));
    expect(pauses.map((pause) => Math.round(pause / 1_000))).toEqual([2, 2, 4, 8, 16, 32, 60, 60, 60]);
    expect(site.fetches).toBe(0);
  });

  it('ends the report of an earlier fault', async () => {
    let answer: SiteCopy = null;
    const { copies } = setUp(async () => answer);
    copies.start();
    await vi.advanceTimersByTimeAsync(0);
    expect(copies.status()).toMatchObject({ pending: 0, failed: [{ reason: 'the server answers 404' }] });
    answer = 'coming';
    await vi.advanceTimersByTimeAsync(20_000);
    expect(copies.status()).toMatchObject({ pending: 1, failed: [] });
  });
});

it('a box that does not know the file is not waited for, nor is an earlier fault forgotten for it', async () => {
  const { copies, site } = setUp(async () => 'unknown');
  copies.start();
  await vi.advanceTimersByTimeAsync(9_000);
  expect(site.fetches).toBe(0);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(copies.status()).toMatchObject({ failed: [{ reason: 'the server answers 404' }] });
  // The pause after a failure grows to a quarter of an hour.
  expect(site.fetches).toBeLessThan(20);
});

it('the boxes are asked for a few of many files at a time', async () => {
  let [asking, most] = [0, 0];
  const names = Array.from({ length: 500 }, (_, n) => `https://example.com/${n}.png`);
  const { copies, site } = setUp(
    async () => {
      asking += 1;
      most = Math.max(most, asking);
      await new Promise((resolve) => setTimeout(resolve, 10));
      asking -= 1;
      return 'coming';
    },
    { names },
  );
  copies.start();
  await vi.advanceTimersByTimeAsync(1_000);
  expect(site.asks).toHaveLength(500);
  expect(most).toBe(8);
});
