import fc from 'fast-check';
import { expect, it } from 'vitest';
import { suggestName } from '../../renderer/shared/name.ts';

it.each<[string, string[], number, string]>([
  ['Lobby', [], 64, 'Lobby'],
  ['Lobby', ['Gate 4'], 64, 'Lobby'],
  ['Lobby', ['Lobby'], 64, 'Lobby 2'],
  ['Lobby', ['Lobby', 'Lobby 2', 'Lobby 4'], 64, 'Lobby 3'],
  ['Foyer of the west wing', [], 22, 'Foyer of the west wing'],
  ['Foyer of the west wing', [], 21, 'Foyer of the west'],
  ['Foyer of the west wing', [], 17, 'Foyer of the west'],
  ['Foyer of the west wing', ['Foyer of the west'], 17, 'Foyer of the 2'],
  ['Verwaltungsgebäude', [], 10, 'Verwaltung'],
  ['A Verwaltungsgebäude', [], 10, 'A Verwaltu'],
  ['Gate 👩‍👩‍👧‍👦', [], 9, 'Gate'],
  ['👩‍👩‍👧‍👦👩‍👩‍👧‍👦', [], 12, '👩‍👩‍👧‍👦'],
])('of %j, where %j are taken, in %i: %j', (screenName, taken, most, expected) => {
  expect(suggestName(screenName, new Set(taken), most)).toBe(expected);
});

it('is free, fits, and breaks no character', () => {
  const word = fc.oneof(fc.string({ unit: 'grapheme' }), fc.constantFrom('👩‍👩‍👧‍👦', '🇩🇪', 'é', ' '));
  const name = fc.array(word, { minLength: 1, maxLength: 40 }).map((words) => words.join(''));
  fc.assert(
    fc.property(name, fc.array(name), fc.integer({ min: 16, max: 64 }), (screenName, others, most) => {
      const taken = new Set([screenName, ...others]);
      const suggested = suggestName(screenName, taken, most);
      expect(taken.has(suggested)).toBe(false);
      expect(suggested.length).toBeLessThanOrEqual(most);
      expect(() => encodeURIComponent(suggested)).not.toThrow();
    }),
  );
});
