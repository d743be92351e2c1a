/** The store of plays, on a real disk. */
import { appendFileSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { pino } from 'pino';
import { describe, expect, test } from 'vitest';
import type { Play } from '../../../service/contract/plays.ts';
import type { ServiceContext } from '../../../service/module.ts';
import { mergePlays, ownSequences, type Range } from '../../../service/records/plays/ordered.ts';
import { openParts } from '../../../service/records/plays/parts.ts';
import { createPlayPages } from '../../../service/records/plays/site.ts';
import { createPlayStore, dayOf } from '../../../service/records/plays/store.ts';
import { temporaryFolder } from '../../support/service.ts';
import { testTempo } from '../../support/tempo.ts';
import { idsOf } from './pages.ts';

const noon = Date.UTC(2026, 5, 15, 12);
const all: Range = { from: null, to: null, screen: null };

const playAt = (started: number, play_id: string, more: Partial<Play> = {}): Play => ({
  play_id,
  site: 'default',
  node_id: 'a',
  device_id: null,
  client_name: null,
  screen: 'lobby',
  slide_id: 'welcome-1',
  slide_title: 'Hello',
  kind: 'text',
  media_url: null,
  media_sha256: null,
  revision: null,
  started_at: new Date(started).toISOString(),
  ended_at: new Date(started + 8_000).toISOString(),
  duration_ms: 8_000,
  expected_ms: 8_000,
  result: 'played',
  reason: null,
  clock: 'synced',
  playlist_id: null,
  programme_id: null,
  zone: null,
  ...more,
});

const openStore = async (
  dataDir: string,
  { now = () => noon, ...limits }: { now?: () => number } & Parameters<typeof createPlayStore>[2] = {},
) => {
  const log = pino({ level: 'silent' });
  const context = { dirs: { data: dataDir } as ServiceContext['dirs'], log, now, tempo: testTempo };
  const parts = await openParts(context);
  const store = createPlayStore(context, parts, limits);
  return { ...store, parts };
};

const read = async ({ parts }: Pick<Awaited<ReturnType<typeof openStore>>, 'parts'>, range: Partial<Range> = {}) => {
  const plays: Play[] = [];
  for await (const batch of mergePlays(ownSequences(parts, { ...all, ...range }))) plays.push(...batch);
  return plays;
};

const filesOf = (dataDir: string): string[] => readdirSync(join(dataDir, 'plays')).toSorted();

test('a play is a line in the file of its day, once, however often it is reported', async () => {
  const dataDir = temporaryFolder();
  const store = await openStore(dataDir);
  const plays = [playAt(noon, 'a'), playAt(noon - 86_400_000, 'b'), playAt(noon, 'c')];
  expect(await store.accept([...plays, playAt(noon, 'a')])).toEqual(['a', 'b', 'c', 'a']);
  expect(await store.accept(plays)).toEqual(['a', 'b', 'c']);
  expect(filesOf(dataDir)).toEqual(['2026-06-14.jsonl', '2026-06-15.jsonl']);
  expect(readFileSync(join(dataDir, 'plays', '2026-06-15.jsonl'), 'utf8')).toBe(
    `${JSON.stringify(playAt(noon, 'a'))}\n${JSON.stringify(playAt(noon, 'c'))}\n`,
  );
  await store.close();
  const next = await openStore(dataDir);
  expect(await next.accept([playAt(noon, 'a'), playAt(noon, 'd')])).toEqual(['a', 'd']);
  expect(idsOf(await read(next))).toEqual(['b', 'a', 'c', 'd']);
  await next.close();
});

test('plays that arrive together share one write', async () => {
  const store = await openStore(temporaryFolder());
  const kept: number[] = [];
  store.onKept((plays) => kept.push(plays.length));
  await Promise.all(Array.from({ length: 200 }, (_, index) => store.accept([playAt(noon, `${index}`)])));
  expect(kept.length).toBeLessThan(5);
  expect(kept.reduce((sum, count) => sum + count)).toBe(200);
  await store.close();
});

describe('after a crash', () => {
  test.each([
    ['a line that was broken off', '{"play_id":"half","si'],
    ['the zeros that a power cut leaves', '\0'.repeat(5_000)],
    ['a long line that was broken off', `{"play_id":"half","x":"${'x'.repeat(200_000)}`],
  ])('%s is removed, and what follows is whole', async (_, rest) => {
    const dataDir = temporaryFolder();
    const first = await openStore(dataDir);
    await first.accept([playAt(noon, 'a')]);
    appendFileSync(join(dataDir, 'plays', '2026-06-15.jsonl'), rest);
    const second = await openStore(dataDir);
    expect(idsOf(await read(second))).toEqual(['a']);
    await second.accept([playAt(noon + 1, 'b'), playAt(noon, 'a')]);
    expect(idsOf(await read(second))).toEqual(['a', 'b']);
    expect(readFileSync(join(dataDir, 'plays', '2026-06-15.jsonl'), 'utf8')).toMatch(
      /^\{"play_id":"a".*\n\{"play_id":"b".*\n$/,
    );
    await second.close();
    await first.close();
  });

  test('a damaged line in the middle costs itself alone', async () => {
    const dataDir = temporaryFolder();
    mkdirSync(join(dataDir, 'plays'));
    const lines = ['{"play_id":"x"}', JSON.stringify(playAt(noon, 'a')), 'no json', JSON.stringify(playAt(noon, 'b'))];
    writeFileSync(join(dataDir, 'plays', '2026-06-15.jsonl'), `${lines.join('\n')}\n`);
    const store = await openStore(dataDir);
    expect(idsOf(await read(store))).toEqual(['a', 'b']);
    await store.close();
  });
});

test('what a power cut left of a file of fewer plays is swept, and nothing else', async () => {
  const dataDir = temporaryFolder();
  const folder = join(dataDir, 'plays');
  mkdirSync(folder);
  const id = '8c0a2f8e-6b1f-4a8e-9a55-0f9d6f1f2a11';
  const others = [`notes.${id}.tmp`, '2026-06-15.jsonl.notes.tmp'];
  for (const name of [`2026-06-15.jsonl.${id}.tmp`, `undated.others.2.jsonl.${id}.tmp`, ...others])
    writeFileSync(join(folder, name), 'half');
  await openStore(dataDir);
  expect(readdirSync(folder).toSorted()).toEqual(others.toSorted());
});

test('a part ends by its bytes, too, and a page for another box', async () => {
  const dataDir = temporaryFolder();
  const store = await openStore(dataDir, { maxPartBytes: 2_000, maxPlays: 100 });
  const fat = { slide_title: 'x'.repeat(1_000) };
  for (let index = 0; index < 8; index += 1) await store.accept([playAt(noon + index, `${index}`, fat)]);
  expect(filesOf(dataDir)).toHaveLength(4);
  const pages = createPlayPages({ tempo: testTempo }, store.parts, { maxBytes: 3_000 });
  const lengths: number[] = [];
  const collected: Play[] = [];
  for (let cursor: { after: string; skip: number } | null | undefined; cursor !== null; ) {
    const page: Awaited<ReturnType<typeof pages.read>> = await pages.read(all, cursor ?? null, 6);
    collected.push(...page.plays);
    lengths.push(page.plays.length);
    cursor = page.next;
  }
  expect(idsOf(collected)).toEqual(['0', '1', '2', '3', '4', '5', '6', '7']);
  expect(lengths).toEqual([3, 3, 2]);
  const narrow = createPlayPages({ tempo: testTempo }, store.parts, { maxBytes: 10 });
  expect((await narrow.read(all, null, 6)).plays).toHaveLength(1);
  for (const each of [pages, narrow]) each.close();
  await store.close();
});

describe('what is kept', () => {
  test('is bounded by a number of plays, and drops the oldest', async () => {
    const dataDir = temporaryFolder();
    const store = await openStore(dataDir, { maxPlays: 100, maxPart: 10 });
    for (let index = 0; index < 50; index += 1) {
      const day = noon - (50 - index) * 43_200_000;
      await store.accept(Array.from({ length: 5 }, (_, each) => playAt(day + each, `${index}-${each}`)));
    }
    const kept = idsOf(await read(store));
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(kept.length).toBeGreaterThan(80);
    expect(kept.at(-1)).toBe('49-4');
    expect(kept[0]).toMatch(/^3\d-0$/);
    await store.close();
  });

  test('on a day with more than all that may be kept, is the end of the day', async () => {
    const dataDir = temporaryFolder();
    const store = await openStore(dataDir, { maxPlays: 100, maxPart: 10 });
    for (let index = 0; index < 300; index += 5) {
      await store.accept(Array.from({ length: 5 }, (_, each) => playAt(noon + index + each, `${index + each}`)));
    }
    const kept = idsOf(await read(store));
    expect(kept.at(-1)).toBe('299');
    expect(kept.length).toBeGreaterThan(80);
    expect(kept.length).toBeLessThanOrEqual(100);
    expect(filesOf(dataDir).every((name) => /^2026-06-15(\.\d+)?\.jsonl$/.test(name))).toBe(true);
    await store.close();
  });

  const accept = async (
    store: Awaited<ReturnType<typeof openStore>>,
    device_id: string,
    from: number,
    count: number,
    isOther = false,
  ) => {
    const plays = Array.from({ length: count }, (_, index) =>
      playAt(noon + from + index, `${device_id}${from + index}`, { device_id }),
    );
    await store.accept(plays, isOther);
  };

  test('of all devices that are neither bound nor displays is a twentieth, and lost first', async () => {
    const store = await openStore(temporaryFolder(), { maxPlays: 1_000 });
    await accept(store, 'x', 0, 10, true);
    await accept(store, 'a', 0, 900);
    for (let from = 10; from < 300; from += 10) await accept(store, 'x', from, 10, true);
    const others = idsOf(await read(store)).filter((id) => id.startsWith('x'));
    expect(others.length).toBeGreaterThan(30);
    expect(others.length).toBeLessThanOrEqual(50);
    expect(others.at(-1)).toBe('x299');
    await accept(store, 'a', 900, 100);
    await accept(store, 'x', 300, 10, true);
    expect(idsOf(await read(store)).filter((id) => id.startsWith('x'))).toEqual([]);
    expect(idsOf(await read(store))).toHaveLength(1_000);
    expect(store.notes()).toEqual([]);
    await store.close();
  });

  test('without what was delivered, then without the oldest of the device with the most', async () => {
    const dataDir = temporaryFolder();
    const store = await openStore(dataDir, { maxPlays: 100, receivers: () => ['hub', 'webhook'] });
    await accept(store, 'a', 0, 20);
    await accept(store, 'b', 20, 70);
    const [part] = store.parts.list();
    if (part === undefined) throw new Error('there is no part');
    const lines = readFileSync(store.parts.pathOf(part), 'utf8').split('\n');
    Object.assign(part.delivered, { hub: lines.slice(0, 10).join('\n').length + 1, webhook: part.bytes });
    const ids = (device: string, from: number, to: number) =>
      Array.from({ length: to - from }, (_, index) => `${device}${from + index}`);

    await accept(store, 'b', 90, 12);
    expect(idsOf(await read(store))).toEqual([...ids('a', 7, 20), ...ids('b', 20, 102)]);
    expect(store.notes()).toEqual([expect.stringMatching(/ 7 of them .* 0 of which/)]);
    await accept(store, 'b', 102, 12);
    expect(idsOf(await read(store))).toEqual([...ids('a', 10, 20), ...ids('b', 29, 114)]);
    expect(store.notes()).toEqual([expect.stringMatching(/ 19 of them .* 9 of which/)]);
    await store.close();
    const next = await openStore(dataDir);
    expect(next.parts.list()).toMatchObject([{ count: 95, delivered: { hub: 0 } }]);
    expect(idsOf(await read(next))).toHaveLength(95);
    await next.close();
  });

  test('is not older than 90 days, once the clock is trusted', async () => {
    const dataDir = temporaryFolder();
    let now = noon;
    const store = await openStore(dataDir, { now: () => now });
    await store.accept([playAt(noon - 89 * 86_400_000, 'old'), playAt(noon, 'new')]);
    await store.expire();
    expect(idsOf(await read(store))).toEqual(['old', 'new']);
    now += 5 * 86_400_000;
    await store.expire();
    expect(idsOf(await read(store))).toEqual(['new']);
    await store.close();
  });

  test('is not older than 90 days if it has no date either, from the day on which it was there', async () => {
    const dataDir = temporaryFolder();
    let now = noon;
    const undated = (id: string) => playAt(noon, id, { clock: 'untrusted' });
    const first = await openStore(dataDir, { now: () => now });
    await first.accept([undated('old')]);
    await first.expire();
    now += 5 * 86_400_000;
    await first.accept([undated('new')]);
    await first.close();
    const store = await openStore(dataDir, { now: () => now });
    await store.expire();
    now += 84 * 86_400_000;
    await store.expire();
    expect(idsOf(await read(store))).toEqual(['old', 'new']);
    now += 3 * 86_400_000;
    await store.expire();
    expect(idsOf(await read(store))).toEqual(['new']);
    await store.close();
  });
});

test.each([
  ['of today', noon, 'synced', '2026-06-15'],
  ['89 days old', noon - 89 * 86_400_000, 'synced', '2026-03-18'],
  ['from the future', noon + 3 * 86_400_000, 'synced', 'undated'],
  ['older than what is kept', noon - 91 * 86_400_000, 'synced', 'undated'],
  ['without a clock', noon, 'untrusted', 'undated'],
] as const)('a play %s has its file', (_, started, clock, day) => {
  expect(dayOf(playAt(started, 'a', { clock }), noon)).toBe(day);
});

test('a folder that takes no plays acknowledges none, says so, and takes them later', async () => {
  const dataDir = temporaryFolder();
  const store = await openStore(dataDir);
  const path = join(dataDir, 'plays', '2026-06-15.jsonl');
  mkdirSync(path);
  expect(await store.accept([playAt(noon, 'a'), playAt(noon - 86_400_000, 'b')])).toEqual(['b']);
  expect(store.faults()).toEqual([expect.stringMatching(/^Plays cannot be written \(EISDIR\)/)]);
  rmSync(path, { recursive: true });
  expect(await store.accept([playAt(noon, 'a')])).toEqual(['a']);
  expect(store.faults()).toEqual([]);
  expect(idsOf(await read(store))).toEqual(['b', 'a']);
  await store.close();
});

const minute = fc.integer({ min: 0, max: 60 });
const anyPlays = fc.array(
  fc.record({
    at: minute,
    day: fc.integer({ min: -3, max: 0 }),
    screen: fc.constantFrom('lobby', 'bar'),
    isOdd: fc.boolean(),
  }),
  { maxLength: 60 },
);

test('whatever arrives in whatever order is read in the order of its start, in pages of any size too', async () => {
  const folder = temporaryFolder();
  let runs = 0;
  await fc.assert(
    fc.asyncProperty(anyPlays, fc.integer({ min: 1, max: 20 }), async (given, limit) => {
      runs += 1;
      const store = await openStore(join(folder, `${runs}`), { maxPart: 7 });
      const plays = given.map(({ at, day, screen, isOdd }, index) =>
        playAt(noon + day * 86_400_000 + at * 1000, `${index}`, { screen, clock: isOdd ? 'untrusted' : 'synced' }),
      );
      for (const each of plays) await store.accept([each]);
      const expected = plays
        .filter(({ screen }) => screen === 'lobby')
        .map(({ started_at }) => started_at)
        .toSorted();
      const whole = await read(store, { screen: 'lobby' });
      expect(whole.map(({ started_at }) => started_at)).toEqual(expected);
      expect(new Set(idsOf(whole)).size).toBe(expected.length);

      const pages = createPlayPages({ tempo: testTempo }, store.parts);
      const collected: Play[] = [];
      let cursor: { after: string; skip: number } | null = null;
      do {
        // Every other page is asked of a box that has forgotten the one before.
        const from = collected.length % 2 === 0 ? pages : createPlayPages({ tempo: testTempo }, store.parts);
        const page: Awaited<ReturnType<typeof pages.read>> = await from.read(
          { ...all, screen: 'lobby' },
          cursor,
          limit,
        );
        collected.push(...page.plays);
        cursor = page.next;
      } while (cursor !== null);
      expect(idsOf(collected)).toEqual(idsOf(whole));
      pages.close();
      await store.close();
    }),
    { numRuns: 25 },
  );
});

test('one play that several boxes have comes once', async () => {
  const at = (second: number, id: string): Play => playAt(noon + second * 1000, id);
  async function* sequence(...plays: Play[]) {
    for (const each of plays) yield [each];
  }
  const merged: Play[] = [];
  const sequences = [
    sequence(at(1, 'a'), at(2, 'b'), at(2, 'x')),
    sequence(at(2, 'c'), at(2, 'x'), at(3, 'd')),
    sequence(),
  ];
  for await (const batch of mergePlays(sequences)) merged.push(...batch);
  expect(idsOf(merged)).toEqual(['a', 'b', 'x', 'c', 'd']);
});
