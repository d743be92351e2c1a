import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { assignDisplays, assignSlots, type Display, type Slot, screenOfUnbound } from '../../main/windows/displays.ts';

const display = (id: number, x = id * 100, label = `TV ${id}`): Display => ({
  id,
  label,
  bounds: { x, y: 0, width: 100, height: 50 },
});
const slot = (number: number, displayId: number, label = `TV ${displayId}`): Slot => ({ number, displayId, label });

describe('a display keeps its slot', () => {
  it.each<[string, Slot[], number[], Slot[]]>([
    ['the primary one is first on the first start', [], [7, 3], [slot(1, 7), slot(2, 3)]],
    ['each keeps its own in any order', [slot(1, 7), slot(2, 3)], [3, 7], [slot(1, 7), slot(2, 3)]],
    [
      'one that is away keeps its own',
      [slot(1, 7), slot(2, 3), slot(3, 5)],
      [7, 5],
      [slot(1, 7), slot(2, 3), slot(3, 5)],
    ],
    ['a new one takes that of the one that is gone', [slot(1, 7), slot(2, 3)], [7, 9], [slot(1, 7), slot(2, 9)]],
    [
      'a new one beside the others is a new device',
      [slot(1, 7), slot(2, 3)],
      [7, 3, 9],
      [slot(1, 7), slot(2, 3), slot(3, 9)],
    ],
    ['the only one of a box is the box, when it was replaced', [slot(1, 7)], [8], [slot(1, 8)]],
  ])('%s', (_, slots, ids, expected) => {
    expect(
      assignSlots(
        slots,
        ids.map((id) => display(id)),
      ),
    ).toEqual(expected);
  });

  it.each<[string, Slot[], Display[], Slot[]]>([
    [
      'each is known by its name where the IDs are counted anew',
      [slot(1, 46, 'A'), slot(2, 47, 'B')],
      [display(50, 0, 'B'), display(51, 100, 'A')],
      [slot(1, 51, 'A'), slot(2, 50, 'B')],
    ],
    [
      'one that wakes up first does not become the other, whose ID it has',
      [slot(1, 46, 'A'), slot(2, 47, 'B')],
      [display(46, 0, 'B')],
      [slot(1, -1, 'A'), slot(2, 46, 'B')],
    ],
    [
      'nor does the one that wakes up late',
      [slot(1, -1, 'A'), slot(2, 46, 'B')],
      [display(46, 0, 'B'), display(48, 100, 'A')],
      [slot(1, 48, 'A'), slot(2, 46, 'B')],
    ],
    [
      'panels of one make are known by their IDs',
      [slot(1, 7, 'TV'), slot(2, 3, 'TV')],
      [display(3, 0, 'TV'), display(7, 100, 'TV')],
      [slot(1, 7, 'TV'), slot(2, 3, 'TV')],
    ],
    [
      'so is one of them while the other is away',
      [slot(1, 7, 'TV'), slot(2, 3, 'TV')],
      [display(3, 0, 'TV')],
      [slot(1, 7, 'TV'), slot(2, 3, 'TV')],
    ],
    [
      'what has no name yet is known by its ID, and gets one',
      [slot(1, 7, ''), slot(2, 3, '')],
      [display(3, 0, 'B'), display(7, 100, 'A')],
      [slot(1, 7, 'A'), slot(2, 3, 'B')],
    ],
    [
      'one without a name is known by its ID',
      [slot(1, 7, 'A'), slot(2, 3, 'B')],
      [display(3, 0, '')],
      [slot(1, 7, 'A'), slot(2, 3, '')],
    ],
    [
      'a panel that replaces another shows what that did',
      [slot(1, 7, 'A'), slot(2, 3, 'B')],
      [display(7, 0, 'A'), display(3, 100, 'C')],
      [slot(1, 7, 'A'), slot(2, 3, 'C')],
    ],
  ])('%s', (_, slots, displays, expected) => expect(assignSlots(slots, displays)).toEqual(expected));

  it('and no two share one, whatever comes and goes', () => {
    const named = fc.record({ id: fc.integer({ min: 1, max: 6 }), label: fc.constantFrom('', 'A', 'B', 'C') });
    const connected = fc.uniqueArray(named, { selector: ({ id }) => id, minLength: 1, maxLength: 5 });
    fc.assert(
      fc.property(fc.array(connected, { maxLength: 12 }), (starts) => {
        let slots: Slot[] = [];
        for (const present of starts) {
          slots = assignSlots(
            slots,
            present.map(({ id, label }) => display(id, id, label)),
          );
          const numbers = slots.map(({ number }) => number);
          expect(new Set(numbers).size).toBe(numbers.length);
          for (const { id } of present) expect(slots.filter(({ displayId }) => displayId === id)).toHaveLength(1);
        }
      }),
    );
  });
});

describe('the places', () => {
  const displays = [display(3, 200), display(1, 0), display(2, 100)];
  const slots = [slot(1, 1), slot(2, 2), slot(3, 3)];
  const idOf = (slot: number) => `box.${slot}`;
  const places = (settings: Parameters<typeof assignDisplays>[0]['settings'], given = displays) =>
    assignDisplays({ displays: given, primaryId: 1, slots, settings, idOf }).map(
      ({ display: { id }, deviceId, screen, rotation }) => [id, deviceId, screen, rotation],
    );

  it.each<[string, Parameters<typeof assignDisplays>[0]['settings'], unknown[]]>([
    [
      'all',
      { displays: 'all', rotation: 90 },
      [
        [1, 'box.1', null, 90],
        [2, 'box.2', null, 90],
        [3, 'box.3', null, 90],
      ],
    ],
    ['the primary one', { displays: 'primary', rotation: 0 }, [[1, 'box.1', null, 0]]],
    [
      'by number and by name',
      {
        displays: [
          { display: 3, screen: 'bar', rotation: 180 },
          { display: 'TV 2', deviceId: 'x' },
        ],
        rotation: 0,
      },
      [
        [3, 'box.3', 'bar', 180],
        [2, 'x', null, 0],
      ],
    ],
    [
      'one that is named twice, once',
      { displays: [{ display: 2 }, { display: 'TV 2', screen: 'bar' }], rotation: 0 },
      [[2, 'box.2', null, 0]],
    ],
    [
      'the primary one where none of the chosen is there',
      { displays: [{ display: 'gone', screen: 'bar' }], rotation: 0 },
      [[1, 'box.1', 'bar', 0]],
    ],
  ])('are %s', (_, settings, expected) => {
    expect(places(settings)).toEqual(expected);
  });

  it('have a storage each, so that two devices are two', () => {
    const all = assignDisplays({
      displays,
      primaryId: 1,
      slots,
      settings: { displays: 'all', rotation: 0 },
      idOf,
    });
    expect(new Set(all.map(({ partition }) => partition)).size).toBe(3);
  });

  it('are none where there is no display', () => {
    expect(places({ displays: 'all', rotation: 0 }, [])).toEqual([]);
  });
});

test.each<[string, 'baseline' | 'extended', string | null, string[], string | null]>([
  ['the first at the start', 'baseline', null, ['a', 'b'], 'a'],
  ['the same for as long as it exists', 'baseline', 'b', ['a', 'b'], 'b'],
  ['the first where its own is gone', 'baseline', 'c', ['a', 'b'], 'a'],
  ['none where there is none', 'baseline', 'a', [], null],
  ['none where the landing page is shown', 'extended', null, ['a', 'b'], null],
])('a display that is bound to no screen has %s', (_, variant, before, slugs, expected) => {
  expect(screenOfUnbound(before, { variant, screens: slugs.map((slug) => ({ slug })) })).toBe(expected);
});
