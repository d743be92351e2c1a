/** Drafts of boxes that exchange them: when one is offered, and under which ids those are kept that were typed apart. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import pino from 'pino';
import { afterEach, expect, test, vi } from 'vitest';
import type { DraftRecord } from '../../service/contract/console/drafts.ts';
import { createDrafts, type Drafts } from '../../service/drafts/index.ts';
import { copyId, settle, withEtag } from '../../service/drafts/records.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const START = Date.parse('2026-06-01T10:00:00Z');
const idOf = (number: number): string => `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`;

/** A box with drafts alone; timers and clocks are those of vitest. */
const openBox = (number = 0, data = temporaryFolder()): Promise<Drafts> =>
  createDrafts({
    dirs: { data } as Parameters<typeof createDrafts>[0]['dirs'],
    log: pino({ level: 'silent' }),
    now: () => Date.now(),
    monotonicNow: () => Date.now() - START,
    ids: { nodeId: idOf(number) } as Parameters<typeof createDrafts>[0]['ids'],
    tempo: defaultTempo,
  });
const useClock = (): void => void vi.useFakeTimers({ toFake: ['setTimeout', 'clearTimeout', 'Date'], now: START });
afterEach(() => vi.useRealTimers());

const save = (drafts: Drafts, id: string, text: string) =>
  drafts.save(id, { title: id, base_sha256: null, content: { text } }, null, () => undefined);
/** Brings every record of `from` that `to` lacks. */
const send = async (from: Drafts, to: Drafts): Promise<void> => {
  for (const { id } of from.records().filter(to.lacks)) {
    const record = await from.record(id);
    if (record !== null) await to.merge(record);
  }
};
const kept = async (drafts: Drafts) => {
  const all = await Promise.all(drafts.list().map(({ id }) => drafts.record(id)));
  return Object.fromEntries(all.map((record) => [record?.id, record?.content?.['text']]));
};

test('a draft is offered when it rested for 3 s, whatever is typed in another one, at most every 10 s', async () => {
  useClock();
  const drafts = await openBox();
  const told = vi.fn();
  drafts.onShare(told);
  const offered = () => drafts.records().map(({ id }) => id);
  await save(drafts, 'a', 'A');
  for (let second = 0; second < 3; second++) {
    expect(offered()).toEqual([]);
    await save(drafts, 'b', String(second));
    vi.advanceTimersByTime(1_000);
  }
  expect([offered(), told.mock.calls.length]).toEqual([['a'], 1]);
  // Neither does what another box sends offer what is being typed.
  const other = await openBox(1);
  await save(other, 'c', 'C');
  vi.advanceTimersByTime(3_000);
  await save(drafts, 'b', 'again');
  await send(other, drafts);
  expect([offered(), told.mock.calls.length]).toEqual([['a', 'c'], 1]);
  vi.advanceTimersByTime(6_900);
  expect(offered()).toEqual(['a', 'c']);
  vi.advanceTimersByTime(200);
  expect([offered(), told.mock.calls.length]).toEqual([['a', 'b', 'c'], 2]);
  // What was offered stays so while it is typed in.
  const [, before] = drafts.records();
  await save(drafts, 'b', 'once more');
  await drafts.merge((await drafts.record('a')) as DraftRecord);
  expect(drafts.records()[1]).toEqual(before);
});

test.each([
  ['lunch', 'lunch-2'],
  ['menu-2024', 'menu-2024-2'],
  ['lunch-2', 'lunch-2-2'],
  ['x'.repeat(64), `${'x'.repeat(62)}-2`],
])('the older of two %s becomes %s', (id, copy) => {
  expect(copyId(id)).toBe(copy);
});

test("a copy takes the next free number, so that nobody's own draft is moved, and all boxes agree", async () => {
  useClock();
  const [one, other] = [await openBox(1), await openBox(2)];
  await save(one, 'menu-2024', 'first');
  await save(one, 'menu-2024-2', 'somebody else');
  vi.advanceTimersByTime(1);
  await save(other, 'menu-2024', 'second');
  vi.advanceTimersByTime(10_000);
  // The other box has made the copy before it hears of the draft that has its id.
  const [, taken] = one.records();
  await other.merge((await one.record('menu-2024')) as DraftRecord);
  expect(await kept(other)).toEqual({ 'menu-2024': 'second', 'menu-2024-2': 'first' });
  await send(other, one);
  expect(taken?.id).toBe('menu-2024-2');
  await send(one, other);
  const all = { 'menu-2024': 'second', 'menu-2024-2': 'somebody else', 'menu-2024-3': 'first' };
  expect([await kept(one), await kept(other)]).toEqual([all, all]);
  expect(one.digest()).toBe(other.digest());
});

const record = (id: string, at: number, key: string): DraftRecord =>
  withEtag({
    id,
    title: key,
    base_sha256: null,
    content: { key },
    author: null,
    updated_at: new Date(START + at).toISOString(),
    updated_by: null,
    submitted_by: null,
    note: null,
    state: 'open',
    removed: false,
    counters: { [key]: 1 },
  });

test('a draft that another version has saved, with a hash of its own, reaches a box that lacks it', async () => {
  useClock();
  const data = temporaryFolder();
  await save(await openBox(0, data), 'a', 'A');
  const file = join(data, 'drafts', 'a.json');
  writeFileSync(file, JSON.stringify({ ...JSON.parse(readFileSync(file, 'utf8')), etag: 'b'.repeat(64) }));
  const [drafts, other] = [await openBox(0, data), await openBox(1)];
  await send(drafts, other);
  expect(await kept(other)).toEqual({ a: 'A' });
  expect([other.digest(), drafts.records().filter(other.lacks)]).toEqual([drafts.digest(), []]);
});

test('copies have the same ids in whatever order their originals are heard of', () => {
  const put = (records: Map<string, DraftRecord>, theirs: DraftRecord): Map<string, DraftRecord> => {
    const ours = records.get(theirs.id);
    const { kept: stays, copy } = ours === undefined ? { kept: theirs, copy: null } : settle(ours, theirs);
    records.set(stays.id, stays);
    return copy === null ? records : put(records, copy);
  };
  const copies = fc.uniqueArray(fc.integer({ min: 0, max: 15 }), { minLength: 1, maxLength: 6 });
  fc.assert(
    fc.property(copies, fc.boolean(), fc.infiniteStream(fc.nat()), (numbers, isTaken, order) => {
      const all = numbers.map((number) => record('a-2', number % 3, number.toString(16).repeat(16)));
      if (isTaken) all.push(record('a-3', 0, idOf(1)));
      const ranks = new Map(all.map((each) => [each, Number(order.next().value)]));
      const shuffled = all.toSorted((a, b) => (ranks.get(a) ?? 0) - (ranks.get(b) ?? 0));
      const [one, other] = [all, shuffled].map((list) => list.reduce(put, new Map<string, DraftRecord>()));
      expect(other).toEqual(new Map([...(other?.keys() ?? [])].map((id) => [id, one?.get(id)])));
      expect([one?.size, other?.size]).toEqual([all.length, all.length]);
    }),
    { numRuns: 50 },
  );
});

test('a number of many digits is part of the name, and the copy still gets an id of its own', () => {
  for (const [id, next] of [
    ['a-9', 'a-10'],
    ['menu-20260601', 'menu-20260601-2'],
    ['a-12345678901234567890', 'a-12345678901234567890-2'],
  ] as const) {
    const copy = record(id, 0, '0'.repeat(16));
    expect(settle(copy, record(id, 1, idOf(1))).copy?.id).toBe(next);
  }
});

test.each([
  ['kept while no clock can be relied on', false, ['a', 'b']],
  ['dropped by one that can be', true, ['b']],
])('removals of 401 days ago are %s', async (_, isConfirmed, left) => {
  useClock();
  const box = await openBox();
  const clock = { now: () => Date.now(), isEstablished: () => true };
  box.followClock({ ...clock, timeOfDay: Date.now, isConfirmed: () => isConfirmed });
  for (const id of ['a', 'b']) {
    await save(box, id, 'text');
    await box.remove(id, null, () => undefined);
    vi.advanceTimersByTime(401 * 86_400_000);
  }
  await save(box, 'c', 'text');
  vi.advanceTimersByTime(60_000);
  const ids = box.records().flatMap(({ id, removed }) => (removed ? id : []));
  expect(ids).toEqual(left);
});

test('however many drafts are published, new ones go on to the other box, and nothing is fetched back', {
  ...walk,
  timeout: 60_000,
}, async () => {
  useClock();
  const [a, b] = [await openBox(0), await openBox(1)];
  for (let number = 0; number < 520; number += 1) {
    vi.advanceTimersByTime(60_000);
    await save(a, `d-${number}`, 'text');
    await a.remove(`d-${number}`, null, () => undefined);
    vi.advanceTimersByTime(60_000);
    await send(a, b);
    expect(b.records().filter(a.lacks)).toEqual([]);
  }
  expect(b.records()).toHaveLength(250);
  await save(a, 'new', 'text');
  vi.advanceTimersByTime(60_000);
  await send(a, b);
  expect(b.list().map(({ id }) => id)).toEqual(['new']);
  expect(a.digest()).toBe(b.digest());
});
