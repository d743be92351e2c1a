import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { createRounds, cycleOf, longestRound, type RoundList, roundSizes } from '../../service/domain/rounds.ts';

const days = { today: '2026-11-25', yesterday: '2026-11-24' };
const listOf = (id: string, items: readonly string[], more: Partial<RoundList<string>> = {}): RoundList<string> => ({
  id,
  order: 'listed',
  insert: null,
  items: items.map((item) => (item.startsWith('>') ? { playlist_id: item.slice(1) } : { slide: item })),
  ...more,
});
const lists = (...all: RoundList<string>[]) => new Map(all.map((each) => [each.id, each]));
const roundOf = (id: string, all: ReturnType<typeof lists>, on = days) =>
  createRounds(all, on, (slide) => slide)(id).join('');

describe('a round', () => {
  it('has the slides of nested playlists in their places', () => {
    expect(roundOf('a', lists(listOf('a', ['1', '>b', '2', '>b']), listOf('b', ['x', 'y'])))).toBe('1xy2xy');
  });

  it('lasts until the inserted list comes out even', () => {
    const insert = { playlist_id: 'b', every: 2, count: 1 };
    expect(roundOf('a', lists(listOf('a', ['1', '2', '3'], { insert }), listOf('b', ['x', 'y'])))).toBe(
      '12x31y23x12y31x23y',
    );
  });

  it('begins with the first inserted slide where it would be too long to come out even', () => {
    const own = Array.from({ length: 101 }, (_, index) => `${index} `);
    const other = Array.from({ length: 97 }, (_, index) => `x${index} `);
    const insert = { playlist_id: 'b', every: 50, count: 3 };
    const round = createRounds(lists(listOf('a', own, { insert }), listOf('b', other)), days, (slide) => slide)('a');
    expect(round.length).toBe(107);
    expect(round.filter((slide) => slide.startsWith('x'))).toEqual(other.slice(0, 6));
  });

  it('has inserts at equal distances, across its seam too, where the inserted list does not come out even', () => {
    const own = Array.from({ length: 10 }, (_, index) => `${index} `);
    const other = Array.from({ length: 97 }, (_, index) => `x${index} `);
    const insert = { playlist_id: 'b', every: 3, count: 1 };
    const round = createRounds(lists(listOf('a', own, { insert }), listOf('b', other)), days, (slide) => slide)('a');
    const played = [...round, ...round].map((slide) => (slide.startsWith('x') ? 'x' : 'o')).join('');
    expect(played).toBe('ooox'.repeat(20));
    expect(round.filter((slide) => slide.startsWith('x'))).toEqual(other.slice(0, 10));
  });

  it('has no slides where it would be too long, unless it is a list as it stands', () => {
    const slides = Array.from({ length: longestRound + 1 }, () => '1');
    const nested = (id: string) => Array.from({ length: 100 }, () => `>${id}`);
    const all = lists(
      listOf('long', slides),
      listOf('shuffled', slides, { order: 'shuffled' }),
      ...['a', 'b', 'c', 'd'].map((id, at) => listOf(id, nested('bcde'[at] ?? ''))),
      listOf('e', ['1']),
    );
    expect(['long', 'shuffled', 'a', 'd'].map((id) => roundOf(id, all).length)).toEqual([1_001, 0, 0, 100]);
  });

  it('plays a short list as often as one insert needs', () => {
    const insert = { playlist_id: 'b', every: 3, count: 1 };
    expect(roundOf('a', lists(listOf('a', ['1'], { insert }), listOf('b', ['x'])))).toBe('111x');
  });

  it('has the length and the size that are found without expanding it', () => {
    const part = fc.record({
      own: fc.integer({ min: 0, max: 30 }),
      nested: fc.integer({ min: 0, max: 3 }),
      inserts: fc.boolean(),
      every: fc.integer({ min: 1, max: 40 }),
      count: fc.integer({ min: 1, max: 9 }),
      order: fc.constantFrom('listed' as const, 'shuffled' as const),
    });
    fc.assert(
      fc.property(fc.array(part, { minLength: 1, maxLength: 5 }), (parts) => {
        const all = lists(
          ...parts.map(({ own, nested, inserts, every, count, order }, at) => {
            const slides = Array.from({ length: own }, (_, index) => `${at}-${index}`);
            const below = at === 0 ? [] : Array.from({ length: nested }, (_, index) => `>${(at + index) % at}`);
            const insert = at > 0 && inserts ? { playlist_id: String(at - 1), every, count } : null;
            return listOf(String(at), [...slides, ...below], { insert, order });
          }),
        );
        const id = String(parts.length - 1);
        const { slides = 0, bytes = 0 } = roundSizes(all, (slide) => slide.length).get(id) ?? {};
        fc.pre(slides <= longestRound);
        const round = createRounds(all, days, (slide) => slide)(id);
        expect(round.length).toBe(slides);
        expect(round.join('').length).toBeLessThanOrEqual(bytes);
      }),
    );
  });

  it('is counted at once where it has more slides than there are atoms', () => {
    const all = Array.from({ length: 400 }, (_, at) =>
      listOf(`${at}`, at === 0 ? ['1'] : Array.from({ length: 10 }, () => `>${at - 1}`)),
    );
    expect(roundSizes(lists(...all), () => 1).get('399')?.slides).toBeGreaterThan(longestRound);
  });

  it('is counted for a chain of twenty thousand playlists', () => {
    const all = Array.from({ length: 20_000 }, (_, at) => listOf(`${at}`, at === 0 ? ['1'] : [`>${at - 1}`]));
    expect(roundSizes(lists(...all), () => 1).get('19999')?.slides).toBe(1);
  });
});

describe('a shuffled round', () => {
  const slides = Array.from('abcdefgh');

  it('is a permutation that is the same everywhere on one day, and another one on the next', () => {
    const all = lists(listOf('a', slides, { order: 'shuffled' }));
    const today = roundOf('a', all);
    expect(Array.from(today).sort()).toEqual(slides);
    expect(roundOf('a', all)).toBe(today);
    expect(today).not.toBe(slides.join(''));
    expect(roundOf('a', all, { today: '2026-11-26', yesterday: '2026-11-25' })).not.toBe(today);
  });

  it('shows no slide twice in a row, within it, from one round to the next, and from one day to the next', () => {
    const name = fc.string({ minLength: 1, maxLength: 8 });
    // Slides of which some stand in the list more than once, but none more often than in every other place.
    const own = fc
      .array(fc.integer({ min: 0, max: 8 }), { minLength: 2, maxLength: 12 })
      .map((ids) => ids.map((id) => `${id},`))
      .filter((ids) => ids.every((id) => 2 * ids.filter((each) => each === id).length <= ids.length));
    fc.assert(
      fc.property(name, own, fc.integer({ min: 1, max: 700 }), (id, own, ahead) => {
        const all = lists(listOf(id, own, { order: 'shuffled' }));
        const date = (each: number) => new Date(Date.UTC(2026, 0, 1) + each * 86_400_000).toISOString().slice(0, 10);
        const on = (each: number) =>
          createRounds(all, { today: date(each), yesterday: date(each - 1) }, (slide) => slide)(id);
        const [before, after] = [on(ahead - 1), on(ahead)];
        const played = [...before, ...before, ...after, ...after];
        expect(played.filter((slide, index) => slide === played[index + 1])).toEqual([]);
        expect([...after].sort()).toEqual([...own].sort());
      }),
    );
  });

  it('separates the slides of a playlist that is nested twice, as far as it can', () => {
    const all = lists(listOf('a', ['>b', '>b', '>b'], { order: 'shuffled' }), listOf('b', ['x', 'y', 'z']));
    const round = roundOf('a', all);
    expect(Array.from(round + round).filter((slide, index) => slide === (round + round)[index + 1])).toEqual([]);
  });
});

describe('a cycle', () => {
  it('is found through nested and inserted playlists, and names them', () => {
    const insert = { playlist_id: 'a', every: 1, count: 1 };
    const all = lists(listOf('a', ['>b']), listOf('b', ['>c']), listOf('c', ['1'], { insert }), listOf('d', ['>a']));
    const cycle = cycleOf(all) ?? [];
    expect(cycle.slice(0, -1).toSorted()).toEqual(['a', 'b', 'c']);
    expect(cycle[0]).toBe(cycle.at(-1));
    expect(cycleOf(lists(listOf('a', ['>b', '>b']), listOf('b', ['1'])))).toBe(null);
    expect(cycleOf(lists(listOf('a', ['>a'])))).toEqual(['a', 'a']);
  });
});
