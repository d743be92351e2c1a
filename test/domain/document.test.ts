/** A site with boxes that can't read the tags of screens. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContentDocument } from '../../service/contract/peers.ts';
import { documentHash, editedDocument, isLost, withoutTags } from '../../service/domain/document.ts';
import { compareVersions } from '../../service/domain/merge.ts';

const tagged = (title: string) => JSON.stringify({ screens: [{ name: title, slug: 'lobby', tags: ['a'] }] });
const untagged = (title: string) => JSON.stringify({ screens: [{ name: title, slug: 'lobby' }] });

const edit = (before: ContentDocument | null, nodeId: string, text: string): ContentDocument =>
  editedDocument(before, {
    ...{ counter: (before?.counter ?? 0) + 1, nodeId, text, stamps: [] },
    changedAt: new Date(0).toISOString(),
  });

test('a document without tags is handed on as it is, and one with tags as a lower version of the same edit', () => {
  const plain = edit(null, 'a1', untagged('one'));
  expect(withoutTags(plain)).toBe(plain);
  const whole = edit(plain, 'a1', `\uFEFF${tagged('two')}`);
  const reduced = withoutTags(whole);
  expect(JSON.parse(reduced.text)).toEqual(JSON.parse(untagged('two')));
  expect(reduced.sha256).toBe(documentHash(reduced));
  expect(reduced.counter).toBe(whole.counter);
  expect(compareVersions(reduced, whole)).toBeLessThan(0);
  expect(compareVersions(reduced, plain)).toBeGreaterThan(0);
  expect(isLost(reduced, whole)).toBe(false);
  expect(isLost(whole, reduced)).toBe(true);
});

test('boxes of two ages end up with one content, and those that know tags keep them', () => {
  const boxes = fc.array(fc.record({ isOld: fc.boolean() }), { minLength: 2, maxLength: 5 });
  const edits = fc.array(fc.record({ at: fc.nat(4), to: fc.array(fc.nat(4)), isSettled: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(boxes, edits, fc.array(fc.nat(24)), (ages, actions, order) => {
      const site = ages.map(({ isOld }, at) => ({
        isOld,
        nodeId: `${9 - at}x`,
        document: null as ContentDocument | null,
        lost: 0,
      }));
      const hear = (from: number, to: number): void => {
        const [teller, listener] = [site[from % site.length], site[to % site.length]];
        if (!teller?.document || listener === undefined || teller === listener) return;
        const told = listener.isOld ? withoutTags(teller.document) : teller.document;
        if (listener.document !== null && compareVersions(told, listener.document) <= 0) return;
        if (listener.document !== null && isLost(listener.document, told)) listener.lost += 1;
        listener.document = told;
      };
      const settle = (): void => {
        for (let round = 0; round < 3; round++) {
          for (const pair of [...order, ...Array.from({ length: 25 }, (_, index) => index)]) {
            hear(Math.floor(pair / 5), pair % 5);
          }
        }
      };
      for (const [index, { at, to, isSettled }] of actions.entries()) {
        const box = site[at % site.length];
        if (box === undefined) return;
        const text = box.isOld ? untagged(`${index}`) : tagged(`${index}`);
        box.document = edit(box.document, box.nodeId, text);
        for (const each of to) hear(at, each);
        if (isSettled) settle();
      }
      settle();
      const hashes = (isOld: boolean) =>
        new Set(site.filter((box) => box.isOld === isOld).map(({ document }) => document?.sha256));
      expect(hashes(true).size).toBeLessThanOrEqual(1);
      expect(hashes(false).size).toBeLessThanOrEqual(1);
      const [old] = site.filter(({ isOld }) => isOld);
      const [young] = site.filter(({ isOld }) => !isOld);
      if (old?.document && young?.document) {
        expect(JSON.parse(old.document.text)).toEqual(JSON.parse(withoutTags(young.document).text));
      }
      // Nobody loses an edit where all boxes know tags, or none does, and each edit was everywhere before the next.
      const isOneAge = ages.every(({ isOld }) => isOld === ages[0]?.isOld);
      if (isOneAge && actions.every(({ isSettled }) => isSettled))
        expect(site.map(({ lost }) => lost)).toEqual(site.map(() => 0));
    }),
    { numRuns: 500 },
  );
});

test('a box that knows tags edits again and again, and an older one reports no lost edit', () => {
  let document: ContentDocument | null = null;
  let old: ContentDocument | null = null;
  for (let count = 0; count < 40; count++) {
    document = edit(document, 'a1', tagged(`${count}`));
    const told = withoutTags(document);
    expect(old !== null && isLost(old, told)).toBe(false);
    old = told;
  }
});
