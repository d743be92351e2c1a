import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { cooldownMs, following, lengthOf, resumed, slotOf } from '../../renderer/player/timeline.ts';

describe('the length of a slide', () => {
  it.each([
    ['what it says', 8, null, 8_000],
    ['what it says, whatever its medium', 8, 60_000, 8_000],
    ['the length of its medium', null, 4_200, 4_200],
    ['10 s', null, null, 10_000],
  ])('is %s', (_, duration_seconds, medium, length) => {
    expect(lengthOf({ duration_seconds }, medium)).toBe(length);
  });
});

describe('a slot', () => {
  it('counts from when the one before was due, so that swaps do not add up', () => {
    expect(slotOf(10_000, 5_040, 5_000)).toEqual({ since: 5_000, until: 15_000 });
  });

  it('counts from now when the one before was long overdue, as after a sleep', () => {
    expect(slotOf(10_000, 90_000, 5_000)).toEqual({ since: 90_000, until: 100_000 });
  });

  it('counts from now when it does not follow the end of a slot', () => {
    expect(slotOf(10_000, 5_040, null)).toEqual({ since: 5_040, until: 15_040 });
  });

  it('drifts by nothing over any number of swaps that are a little late', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: 400 }), { minLength: 1 }), (delays) => {
        const last = delays.reduce(
          (slot, delay) => slotOf(1_000, slot.until + delay, slot.until),
          slotOf(1_000, 0, null),
        );
        expect(last.until).toBe((delays.length + 1) * 1_000);
      }),
    );
  });

  it('has as much left after a halt as before it', () => {
    fc.assert(
      fc.property(fc.nat(10_000), fc.nat(20_000), fc.nat(1_000_000), (since, before, halt) => {
        const slot = { since, until: since + 20_000 };
        const haltedAt = since + before;
        const after = resumed(slot, haltedAt, haltedAt + halt);
        expect(after.until - (haltedAt + halt)).toBe(slot.until - haltedAt);
        expect(after.until - after.since).toBe(20_000);
      }),
    );
  });
});

describe('what follows', () => {
  const all = () => true;

  it.each([
    ['the next', 4, 1, 1, 2],
    ['the first after the last', 4, 3, 1, 0],
    ['the one before', 4, 1, -1, 0],
    ['the last before the first', 4, 0, -1, 3],
    ['the first at the start', 4, -1, 1, 0],
    ['itself where it is alone', 1, 0, 1, 0],
  ] as const)('is %s', (_, count, from, step, expected) => {
    expect(following(count, from, step, all)).toBe(expected);
  });

  it('is null where nothing is playable, and in an empty ring', () => {
    expect(following(5, 2, 1, () => false)).toBeNull();
    expect(following(0, -1, 1, all)).toBeNull();
  });

  it('visits every playable slide once a round, in order, both ways', () => {
    fc.assert(
      fc.property(fc.array(fc.boolean(), { minLength: 1, maxLength: 50 }), fc.constantFrom(1, -1), (playable, step) => {
        const expected = [...playable.keys()].filter((index) => playable[index]);
        if (step === -1) expected.reverse();
        const visited: number[] = [];
        let at: number | null = step === 1 ? -1 : playable.length;
        while (visited.length < expected.length && at !== null) {
          at = following(playable.length, at, step, (index) => playable[index] === true);
          if (at !== null) visited.push(at);
        }
        expect(visited).toEqual(expected);
      }),
    );
  });
});

describe('a slide that keeps failing', () => {
  it('has a longer cooldown each time, up to 5 min', () => {
    const cooldowns = [1, 2, 3, 4, 5, 6, 60].map((failures) => cooldownMs('image', failures));
    expect(cooldowns).toEqual([15_000, 30_000, 60_000, 120_000, 240_000, 300_000, 300_000]);
  });

  it('has a cooldown of at most 2 s if it is a live stream', () => {
    expect(cooldownMs('stream', 60)).toBeLessThanOrEqual(2_000);
  });
});
