/** Who is a member, decided without requests. */
import fc from 'fast-check';
import { expect, test } from 'vitest';
import {
  compareMembers,
  differingMembers,
  firstRound,
  memberDigests,
  nextToCheck,
  periodOf,
} from '../../service/peers/membership.ts';
import { defaultTempo } from '../../service/tempo.ts';

/** Numbers from 0 to 1, the same for the same seed (Park and Miller). */
const randomFrom = (seed: number) => {
  let state = seed;
  return (): number => {
    state = (state * 48_271) % 0x7fff_ffff;
    return state / 0x7fff_ffff;
  };
};

const members = fc
  .dictionary(fc.uuid(), fc.integer({ min: 1, max: 5 }), { maxKeys: 30 })
  .map((record) => new Map(Object.entries(record)));

test('two boxes find all that differs in the buckets that differ', () => {
  fc.assert(
    fc.property(members, members, members, (both, one, other) => {
      const ours = new Map([...both, ...one]);
      const theirs = new Map([...both, ...other]);
      const digests = [memberDigests(ours), memberDigests(theirs)] as const;
      const found = compareMembers(differingMembers(ours, ...digests), differingMembers(theirs, ...digests));
      expect(found).toEqual(compareMembers(ours, theirs));
    }),
  );
});

test('what differs is who is known to one box alone, and whose record is newer', () => {
  const own = new Map([
    ['a', 1],
    ['b', 2],
    ['c', 3],
    ['d', 4],
  ]);
  const theirs = new Map([
    ['a', 1],
    ['b', 1],
    ['c', 4],
    ['e', 5],
  ]);
  expect(compareMembers(own, theirs)).toEqual({ theirs: ['e'], ours: ['d'], wanted: ['c'], newer: ['b'] });
});

test('each member is checked once before any is checked again, also while members come and go', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.uuid(), { minLength: 1, maxLength: 20 }), fc.array(fc.nat(19)), (ids, gone) => {
      const left = ids.filter((_, index) => !gone.includes(index));
      const first = nextToCheck(firstRound, ids, Math.random);
      let { round } = first;
      const checked = [first.next];
      while (round.queue.some((id) => left.includes(id))) {
        const step = nextToCheck(round, left, Math.random);
        round = step.round;
        checked.push(step.next);
      }
      expect(new Set(checked).size).toBe(checked.length);
      for (const id of left) expect(checked).toContain(id);
    }),
  );
  expect(nextToCheck(firstRound, [], Math.random)).toEqual({ next: undefined, round: firstRound });
});

test('a box that joins is checked in the round that is under way, and the next round begins with all', () => {
  fc.assert(
    fc.property(fc.uniqueArray(fc.uuid(), { minLength: 2, maxLength: 20 }), fc.nat(), (ids, seed) => {
      const [joining, ...before] = ids as [string, ...string[]];
      let round = firstRound;
      const checked: (string | undefined)[] = [];
      for (let count = 0; count < ids.length; count++) {
        const step = nextToCheck(round, count <= seed % before.length ? before : ids, Math.random);
        round = step.round;
        checked.push(step.next);
      }
      expect(checked.toSorted()).toEqual(ids.toSorted());
      expect(checked).toContain(joining);
      expect(nextToCheck(round, ids, Math.random).round.queue).toHaveLength(ids.length - 1);
    }),
  );
});

test('members that come and go do not keep a round open', () => {
  let round = firstRound;
  const checked: (string | undefined)[] = [];
  for (let count = 0; count < 300; count++) {
    const step = nextToCheck(round, ['stays', 'stays too', `guest ${count}`], Math.random);
    round = step.round;
    checked.push(step.next);
  }
  expect(checked.filter((id) => id === 'stays').length).toBeGreaterThan(10);
});

test.each([2, 10, 30, 100])('a killed box of %s is checked within 45 s, 99 times of 100', (count) => {
  const longest = periodOf(count, defaultTempo.peers.gossip) * 1.2;
  const random = randomFrom(count);
  const ids = Array.from({ length: count }, (_, index) => `box ${index}`);
  // Each of the others checks one box a period, none at the same time.
  const boxes = ids.map((own) => ({ others: ids.filter((id) => id !== own), round: firstRound, phase: random() }));
  const steps = 60;
  const checks = new Map(ids.map((id): [string, number[]] => [id, []]));
  for (let step = 0; step < steps; step += 1) {
    for (const box of boxes) {
      const { next, round } = nextToCheck(box.round, box.others, random);
      box.round = round;
      checks.get(next ?? '')?.push(step + box.phase);
    }
  }
  const mostPeriods = 45_000 / longest;
  const kills = ids.flatMap((id) => Array.from({ length: steps - 20 }, (_, step) => ({ id, at: step + random() })));
  const found = kills.filter(({ id, at }) => checks.get(id)?.some((check) => check >= at && check < at + mostPeriods));
  expect(found.length / kills.length).toBeGreaterThanOrEqual(0.99);
});
