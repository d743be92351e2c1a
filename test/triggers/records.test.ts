import fc from 'fast-check';
import { expect, test } from 'vitest';
import type { TriggerRecord } from '../../service/contract/console/triggers.ts';
import { isForgotten } from '../../service/domain/merge.ts';
import { endsOf, insertionsOf, mergeTriggers, undatedTrigger } from '../../service/triggers/records.ts';

const now = Date.UTC(2026, 10, 26);
const at = (ms: number): string => new Date(now + ms).toISOString();

const record = (changes: Partial<TriggerRecord> = {}): TriggerRecord => ({
  id: '00000000000000aa',
  name: 'A',
  effect: { playlist: { targets: ['all'], playlist_id: 'party', minutes: 5 } },
  created_at: at(0),
  created_by: null,
  token_sha256: '0'.repeat(64),
  updated_at: at(0),
  removed_at: null,
  plays: null,
  ...changes,
});

/** Of few values, so that they meet; clocks years off. */
const moment = fc.constantFrom(...[0, 1, 60_000, -400 * 86_400_000, 9 * 365 * 86_400_000].map(at));
const any = fc
  .record({
    name: fc.constantFrom('A', 'B'),
    updated_at: moment,
    removed_at: fc.option(moment),
    plays: fc.option(fc.record({ from: moment, until: moment })),
  })
  .map(record);

test('boxes that got the same records in any order and any number of times have the same', () => {
  fc.assert(
    fc.property(any, any, any, (a, b, c) => {
      expect(mergeTriggers(a, a)).toEqual(a);
      expect(mergeTriggers(a, b)).toEqual(mergeTriggers(b, a));
      expect(mergeTriggers(mergeTriggers(a, b), c)).toEqual(mergeTriggers(a, mergeTriggers(b, c)));
    }),
  );
});

test('a revocation is for ever, whatever a clock says, and is kept for 400 days', () => {
  const revoked = mergeTriggers(
    record({ removed_at: at(-1_000) }),
    record({ plays: { from: at(5_000), until: at(9_000) } }),
  );
  expect(revoked.removed_at).toBe(at(-1_000));
  expect(insertionsOf([revoked], now + 6_000)).toEqual([]);
  expect([399, 400].map((days) => isForgotten(revoked, now + days * 86_400_000))).toEqual([false, true]);
  expect(isForgotten(record(), now + 1e12)).toBe(false);
});

test('a playlist that would be on for longer than its minutes was started by a clock that was ahead: it is over', () => {
  const years = 2 * 365 * 86_400_000;
  const ahead = record({ plays: { from: at(years), until: at(years + 300_000) } });
  expect(insertionsOf([ahead], now)).toEqual([]);
  expect([...endsOf([ahead], now).values()]).toEqual([0]);
  const behind = record({ plays: { from: at(540_000), until: at(840_000) } });
  expect(insertionsOf([behind], now).length).toBe(1);
});

test('of two playlists the latest comes first, and one that is over is none', () => {
  const one = record({ plays: { from: at(-62_000), until: at(238_000) } });
  const effect = { playlist: { targets: ['all'], playlist_id: 'party', minutes: 1 } };
  const other = record({ id: '00000000000000bb', effect, plays: { from: at(-1_000), until: at(59_000) } });
  expect(insertionsOf([one, other], now).map(({ until }) => until)).toEqual([at(59_000), at(238_000)]);
  expect(insertionsOf([one, other], now + 59_000).map(({ until }) => until)).toEqual([at(238_000)]);
  expect(insertionsOf([one, other], now + 238_000)).toEqual([]);
});

test('a playlist that was started before by a clock that was ahead begins when it was started last', () => {
  const ahead = record({ plays: { from: at(90 * 86_400_000 + 1), until: at(300_000) } });
  const later = record({ id: '00000000000000bb', plays: { from: at(1_000), until: at(301_000) } });
  expect(insertionsOf([ahead, later], now + 2_000).map(({ from }) => from)).toEqual([at(1_000), at(0)]);
});

test('what a newer version has made does nothing', () => {
  const newer = record({ effect: { dance: { steps: 3 } }, plays: { from: at(0), until: at(5_000) } });
  expect(insertionsOf([newer], now)).toEqual([]);
});

test('a revocation by a clock that was years ahead stays once the clock is right, and its playlist does not', () => {
  const revoked = record({
    updated_at: at(20 * 365 * 86_400_000),
    removed_at: at(20 * 365 * 86_400_000),
    plays: { from: at(20 * 365 * 86_400_000), until: at(21 * 365 * 86_400_000) },
  });
  fc.assert(
    fc.property(any, any, (theirs, later) => {
      const merged = mergeTriggers(undatedTrigger(revoked), theirs);
      expect(merged.removed_at).not.toBeNull();
      expect([merged.updated_at, merged.plays]).toEqual([theirs.updated_at, theirs.plays]);
      expect(mergeTriggers(merged, later).removed_at).not.toBeNull();
      expect(mergeTriggers(undatedTrigger(revoked), merged)).toEqual(merged);
    }),
  );
});
