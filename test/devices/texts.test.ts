import { readFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { texts as de } from '../../renderer/onboarding/texts/de.ts';
import { texts as en } from '../../renderer/onboarding/texts/en.ts';
import { choose } from '../../renderer/shared/language.ts';

it.each<[string[], string]>([
  [['de-AT', 'en'], 'de'],
  [['DE'], 'de'],
  [['fr-FR', 'de', 'en'], 'de'],
  [['fr-FR', 'it'], 'en'],
  [['en-GB', 'de'], 'en'],
  [[''], 'en'],
  [[], 'en'],
])('chooses for a browser that wants %j: %s', (wanted, expected) => {
  expect(choose(['de', 'en'], wanted)).toBe(expected);
});

it('has a text for each place in the pages, and a place for each text', () => {
  const places = ['landing', 'form'].flatMap((page) => {
    const html = readFileSync(new URL(`../../renderer/onboarding/${page}.html`, import.meta.url), 'utf8');
    return [...html.matchAll(/data-text="(\w+)"/g)].map(([, key]) => key);
  });
  for (const { plain } of [en, de]) {
    expect(Object.keys(plain).toSorted()).toStrictEqual([...new Set(places)].toSorted());
    expect(Object.values(plain).every((text) => text.trim() !== '')).toBe(true);
  }
});
