/** A site whose boxes hand on documents in any order. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { ContentDocument } from '../../service/contract/peers.ts';
import { editedDocument, isLost } from '../../service/domain/document.ts';
import { compareVersions } from '../../service/domain/merge.ts';

const edit = (before: ContentDocument | null, nodeId: string, text: string): ContentDocument =>
  editedDocument(before, {
    ...{ counter: (before?.counter ?? 0) + 1, nodeId, text, stamps: [] },
    changedAt: new Date(0).toISOString(),
  });

test('boxes end up with one content, and lose no edit where each was everywhere before the next', () => {
  const edits = fc.array(fc.record({ at: fc.nat(4), to: fc.array(fc.nat(4)), isSettled: fc.boolean() }), {
    minLength: 1,
    maxLength: 12,
  });
  fc.assert(
    fc.property(fc.integer({ min: 2, max: 5 }), edits, fc.array(fc.nat(24)), (count, actions, order) => {
      const site = Array.from({ length: count }, (_, at) => ({
        nodeId: `${9 - at}x`,
        document: null as ContentDocument | null,
        lost: 0,
      }));
      const hear = (from: number, to: number): void => {
        const [teller, listener] = [site[from % count], site[to % count]];
        if (!teller?.document || listener === undefined || teller === listener) return;
        const told = teller.document;
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
        const box = site[at % count];
        if (box === undefined) return;
        box.document = edit(box.document, box.nodeId, `${index}`);
        for (const each of to) hear(at, each);
        if (isSettled) settle();
      }
      settle();
      expect(new Set(site.map(({ document }) => document?.sha256)).size).toBe(1);
      if (actions.every(({ isSettled }) => isSettled)) expect(site.map(({ lost }) => lost)).toEqual(site.map(() => 0));
    }),
    { numRuns: 500 },
  );
});
