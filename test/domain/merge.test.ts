/** Boxes that hear of each other in any order, more than once and not at all, end up with one content and one map. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContentDocument, DeviceBinding } from '../../service/contract/peers.ts';
import { editedDocument, isLost, isUnseen } from '../../service/domain/document.ts';
import { compareBindings, compareVersions, isPlausible, laterThan, newsAmong } from '../../service/domain/merge.ts';

const boxes = ['a', 'b', 'c', 'd', 'e'];
const devices = ['d1', 'd2', '__proto__'];
const HOUR = 3_600_000;
const noon = Date.UTC(2026, 5, 1, 12);

/** A box, as the rules see it: its clock is off by so much. */
const createBox = (nodeId: string, offset: number) => {
  let document: ContentDocument | null = null;
  let highest = 0;
  const bindings = new Map<string, DeviceBinding>();
  const lost: string[] = [];
  return {
    state: () => ({ document, bindings: [...bindings.values()] }),
    lost,
    edit(text: string, at: number) {
      const changedAt = new Date(at + offset).toISOString();
      document = editedDocument(document, { counter: highest + 1, nodeId, changedAt, stamps: [], text });
      highest = document.counter;
    },
    bind(deviceId: string, screenSlug: string, at: number) {
      const before = bindings.get(deviceId);
      const earliest = before === undefined ? 0 : Date.parse(before.updatedAt) + 1;
      const updatedAt = new Date(Math.max(at + offset, earliest)).toISOString();
      bindings.set(deviceId, { deviceId, clientName: nodeId, screenSlug, updatedAt });
    },
    hear(theirs: { document: ContentDocument | null; bindings: DeviceBinding[] }, at: number) {
      for (const each of newsAmong(theirs.bindings, (id) => bindings.get(id), at + offset)) {
        bindings.set(each.deviceId, each);
      }
      const winner = theirs.document;
      if (winner === null || !isPlausible(winner.counter, document?.counter ?? 0)) return;
      highest = Math.max(highest, winner.counter);
      if (document !== null && compareVersions(winner, document) <= 0) return;
      if (document !== null && isLost(document, winner)) lost.push(document.text);
      document = winner;
    },
  };
};
type Box = ReturnType<typeof createBox>;

const box = fc.nat(boxes.length - 1);
const action = fc.oneof(
  fc.record({ kind: fc.constant('edit' as const), at: box }),
  fc.record({ kind: fc.constant('bind' as const), at: box, device: fc.constantFrom(...devices) }),
  // Whom it reaches is whom no cut keeps it from; an answer may be as old as the one before.
  fc.record({ kind: fc.constant('hear' as const), at: box, from: box, isLate: fc.boolean() }),
);
const offsets = fc.tuple(...boxes.map(() => fc.integer({ min: -HOUR, max: HOUR })));

/** Every box hears every other, in one order or another. */
const heal = (all: Box[], order: readonly number[], at: number): void => {
  for (const to of order) for (const from of order.toReversed()) all[to]?.hear((all[from] as Box).state(), at);
};

const shuffled = fc.shuffledSubarray([0, 1, 2, 3, 4], { minLength: 5 });

test('whatever happened, one round in which each hears each makes them the same', () => {
  fc.assert(
    fc.property(fc.array(action, { maxLength: 60 }), offsets, shuffled, (actions, clocks, order) => {
      const all = boxes.map((nodeId, index) => createBox(nodeId, clocks[index] ?? 0));
      const said = all.map((each) => each.state());
      const texts = new Set<string>();
      actions.forEach((each, step) => {
        const at = noon + step * 1000;
        const here = all[each.at] as Box;
        if (each.kind === 'edit') {
          texts.add(`edit ${step}`);
          here.edit(`edit ${step}`, at);
        } else if (each.kind === 'bind') here.bind(each.device, `screen-${step}`, at);
        else {
          const now = (all[each.from] as Box).state();
          here.hear(each.isLate ? (said[each.from] ?? now) : now, at);
          said[each.from] = now;
        }
      });
      const end = noon + HOUR;
      heal(all, order, end);
      heal(all, order, end);
      const [first] = all.map(({ state }) => state());
      const byId = (a: DeviceBinding, b: DeviceBinding) => (a.deviceId < b.deviceId ? -1 : 1);
      for (const each of all) {
        expect(each.state().document).toEqual(first?.document);
        expect(each.state().bindings.toSorted(byId)).toEqual(first?.bindings.toSorted(byId));
        // What was lost is kept, and nothing is kept that plays or that was edited on.
        expect(each.lost).not.toContain(first?.document?.text);
        for (const text of each.lost) expect(texts).toContain(text);
      }
    }),
    { numRuns: 300 },
  );
});

const version = fc.record({
  counter: fc.nat(3),
  nodeId: fc.constantFrom(...boxes),
  sha256: fc.constantFrom('0'.repeat(64), 'f'.repeat(64)),
});
const binding = fc.record({
  deviceId: fc.constant('d1'),
  clientName: fc.constantFrom('x', 'y'),
  screenSlug: fc.option(fc.constantFrom('lobby', 'bar')),
  key: fc.option(fc.constantFrom('A'.repeat(43), '_'.repeat(43)), { nil: undefined }),
  updatedAt: fc.constantFrom('2026-01-01T00:00:00.000Z', '2026-01-01T00:00:00.001Z'),
});

const isTotalOrder =
  <T>(compare: (a: T, b: T) => number) =>
  ([a, b, c]: [T, T, T]) => {
    expect(Math.sign(compare(a, b)) + Math.sign(compare(b, a))).toBe(0);
    expect(compare(a, b) === 0).toBe(JSON.stringify(a) === JSON.stringify(b));
    if (compare(a, b) >= 0 && compare(b, c) >= 0) expect(compare(a, c)).toBeGreaterThanOrEqual(0);
  };

test('versions and bindings are in one order, the same for everybody', () => {
  fc.assert(fc.property(fc.tuple(version, version, version), isTotalOrder(compareVersions)));
  fc.assert(fc.property(fc.tuple(binding, binding, binding), isTotalOrder(compareBindings)));
});

test('a key that was kept for a binding stays, also where another box offers that binding without it', () => {
  const plain = { deviceId: 'd1', clientName: 'x', screenSlug: 'lobby', updatedAt: new Date(noon).toISOString() };
  const keyed = { ...plain, key: 'A'.repeat(43) };
  expect(newsAmong([plain], () => keyed, noon)).toEqual([]);
  expect(newsAmong([keyed], () => plain, noon)).toEqual([keyed]);
});

test('more edits win over a higher box, and a higher box over a higher hash', () => {
  const [low, high] = ['0'.repeat(64), 'f'.repeat(64)];
  const versions = [
    { counter: 1, nodeId: 'a', sha256: high },
    { counter: 1, nodeId: 'b', sha256: low },
    { counter: 2, nodeId: 'a', sha256: low },
  ];
  expect(versions.toReversed().toSorted(compareVersions)).toEqual(versions);
});

test('a binding made after one from a clock that is an hour fast was heard of wins', () => {
  const [fast, slow] = [createBox('fast', HOUR), createBox('slow', 0)];
  fast.bind('d1', 'old', noon);
  slow.hear(fast.state(), noon + 1000);
  slow.bind('d1', 'new', noon + 2000);
  fast.hear(slow.state(), noon + 3000);
  expect(fast.state().bindings).toMatchObject([{ screenSlug: 'new' }]);
  slow.hear(fast.state(), noon + 4000);
  expect(slow.state().bindings).toMatchObject([{ screenSlug: 'new' }]);
});

test('a change by a clock that was years ahead is the older one once the clock is right, and dates no later change', () => {
  const wrong = { deviceId: 'd1', clientName: 'x', screenSlug: 'lobby', updatedAt: '2038-01-19T00:00:00.000Z' };
  const right = { ...wrong, updatedAt: new Date(noon).toISOString() };
  expect(newsAmong([right], () => wrong, noon)).toEqual([right]);
  expect(newsAmong([wrong], () => right, noon)).toEqual([]);
  expect(laterThan(wrong.updatedAt, noon)).toBe(right.updatedAt);
  expect(laterThan(new Date(noon + HOUR).toISOString(), noon)).toBe(new Date(noon + HOUR + 1).toISOString());
  expect(laterThan(undefined, noon)).toBe(right.updatedAt);
});

test('a time that no clock can pass is refused, also by a clock that was never set', () => {
  const poison = { deviceId: 'd1', clientName: 'x', screenSlug: 'lobby', updatedAt: '9999-12-31T23:59:59.999Z' };
  for (const now of [0, noon]) {
    expect(newsAmong([poison], () => undefined, now)).toEqual([]);
    expect(newsAmong([{ ...poison, updatedAt: new Date(noon).toISOString() }], () => undefined, now)).toHaveLength(1);
  }
});

test.each([
  ['the next', 8, 7, true],
  ['an older', 1, 7, true],
  ['one after a long cut', 900_000, 7, true],
  ['one that no edits lead to', 5_000_000, 7, false],
  ['any, for a box without content', 5_000_000, 0, true],
  ['more than any site has edited', 200_000_000, 0, false],
  ['the last safe integer', Number.MAX_SAFE_INTEGER, 0, false],
  ['what is no safe integer', 2 ** 53, 2 ** 52, false],
])('a counter: %s', (_, counter, own, plausible) => {
  expect(isPlausible(counter, own)).toBe(plausible);
});

test.each([
  ['that of a site, by any of its boxes', 5_000_000, [5_000_000, 5_000_000, 4_999_990], true],
  ['that of a liar among three', 90_000_000, [12, 90_000_000, 11], false],
  ['that of a liar beside one other', 90_000_000, [12, 90_000_000], false],
  ['that of the honest ones beside a liar', 12, [12, 90_000_000], true],
])('a counter that a box without content hears of: %s', (_, counter, counters, plausible) => {
  expect(isPlausible(counter, 0, counters)).toBe(plausible);
});

test('a box that was away for a thousand edits of two others loses nothing but what was made apart', () => {
  const edit = (before: ContentDocument | null, counter: number, text: string, nodeId: string) =>
    editedDocument(before, { counter, nodeId, changedAt: new Date(noon).toISOString(), stamps: [], text });
  const away = edit(edit(null, 1, 'first', 'a'), 2, 'before it left', 'a');
  const apart = edit(away, 3, 'made apart', 'a');
  let grown = away;
  const versions: ContentDocument[] = [];
  for (let counter = 3; counter < 1_000; counter += 1) {
    grown = edit(grown, counter, `${counter}`, counter % 200 < 100 ? 'b' : 'c');
    versions.push(grown);
    expect(grown.ancestors.length).toBeLessThanOrEqual(64);
  }
  for (const version of [away, ...versions.slice(0, -1)]) expect(isLost(version, grown)).toBe(false);
  expect(isLost(apart, grown)).toBe(true);
});

test('a version counts as replaced unseen only by a winner whose list of ancestors goes back as far', () => {
  const edit = (before: ContentDocument | null, counter: number, nodeId: string, text = `${counter}`) =>
    editedDocument(before, { counter, nodeId, changedAt: new Date(noon).toISOString(), stamps: [], text });
  const base = edit(null, 1, 'a');
  let grown = edit(base, 2, 'b');
  expect([isUnseen(edit(base, 2, 'a'), grown), isUnseen(base, grown)]).toEqual([false, false]);
  const apart = edit(base, 2, 'a', 'made apart');
  expect(isUnseen(apart, grown)).toBe(true);
  for (let counter = 3; counter < 200; counter += 1) grown = edit(grown, counter, counter % 2 === 0 ? 'b' : 'c');
  expect([isLost(base, grown), isUnseen(base, grown), isUnseen(apart, grown)]).toEqual([true, false, false]);
});

test('the loser is kept unless the winner was edited from it, says the same, or nobody wrote it', () => {
  const edit = (before: ContentDocument | null, counter: number, text: string, nodeId = 'a') =>
    editedDocument(before, { counter, nodeId, changedAt: new Date(noon).toISOString(), stamps: [], text });
  const demo = edit(null, 0, 'demo');
  const first = edit(demo, 1, 'first');
  const second = edit(first, 2, 'second');
  expect(isLost(first, second)).toBe(false);
  expect(isLost(demo, edit(null, 5, 'other', 'b'))).toBe(false);
  expect(isLost(first, edit(demo, 1, 'first', 'b'))).toBe(false);
  expect(isLost(first, edit(demo, 1, 'other', 'b'))).toBe(true);
  expect(isLost(second, edit(first, 2, 'other', 'b'))).toBe(true);
  let grown = first;
  for (let counter = 2; counter < 100; counter += 1) grown = edit(grown, counter, `${counter}`);
  expect(grown.ancestors.length).toBeLessThanOrEqual(64);
  expect(isLost(first, grown)).toBe(false);
});

test('an edit of a box that was restored from an image is kept, where ancestors are listed with their hashes', () => {
  const edit = (before: ContentDocument | null, text: string) =>
    editedDocument(before, {
      ...{ counter: (before?.counter ?? 0) + 1, nodeId: 'a', text, stamps: [] },
      changedAt: new Date(noon).toISOString(),
    });
  const image = edit(edit(null, 'one'), 'two');
  const next = edit(image, 'three');
  const site = edit(edit(next, 'four'), 'five');
  const restored = edit(image, 'edited after the box was restored');
  expect(restored).toMatchObject({ counter: next.counter, nodeId: next.nodeId });
  expect(isLost(restored, site)).toBe(true);
  expect(isLost(next, site)).toBe(false);
});
