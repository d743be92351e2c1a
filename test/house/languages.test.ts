import { readdirSync, readFileSync } from 'node:fs';
import { expect, it, test } from 'vitest';
import { choose, inRegion, localeOf } from '../../renderer/shared/language.ts';
import { createTexts, isPlural, type Message, placeholdersIn } from '../../renderer/texts/messages.ts';

const folder = new URL('../../renderer/texts/', import.meta.url);
const languages = readdirSync(folder)
  .filter((name) => name.endsWith('.json'))
  .map((name): [string, Message] => [
    name.replace('.json', ''),
    JSON.parse(readFileSync(new URL(name, folder), 'utf8')) as Message,
  ]);

/** What a page relies on: the keys, and the values that each text is given. */
const shapeOf = (message: Message): unknown => {
  if (typeof message === 'string') return placeholdersIn(message).toSorted();
  if (!isPlural(message)) return Object.fromEntries(Object.entries(message).map(([key, each]) => [key, shapeOf(each)]));
  const names = Object.values(message).flatMap(placeholdersIn);
  return { count: [...new Set([...names, 'count'])].toSorted() };
};

const textsIn = (message: Message): string[] =>
  typeof message === 'string' ? [message] : Object.values(message).flatMap(textsIn);

const pluralsIn = (message: Message): Readonly<Record<string, string>>[] => {
  if (typeof message === 'string') return [];
  return isPlural(message) ? [message] : Object.values(message).flatMap(pluralsIn);
};

const english = languages.find(([tag]) => tag === 'en')?.[1] ?? {};

test.each(languages)('%s has the keys and the placeholders of English, and no empty text', (_, messages) => {
  expect(shapeOf(messages)).toStrictEqual(shapeOf(english));
  expect(textsIn(messages).filter((text) => text.trim() === '')).toStrictEqual([]);
});

test.each(languages)('%s is named by a language, and has each of its plural forms', (tag, messages) => {
  expect(Intl.getCanonicalLocales(tag)).toStrictEqual([tag]);
  const forms = new Intl.PluralRules(tag).resolvedOptions().pluralCategories.toSorted();
  const plurals = pluralsIn(messages);
  expect(plurals.length).toBeGreaterThan(10);
  for (const plural of plurals) {
    expect(
      Object.keys(plural)
        .filter((form) => !form.startsWith('='))
        .toSorted(),
    ).toStrictEqual(forms);
  }
});

it.each<[string[], string]>([
  [['de-AT', 'en'], 'de'],
  [['DE'], 'de'],
  [['fr-FR', 'de', 'en'], 'de'],
  [['fr-FR', 'it'], 'en'],
  [['en-GB', 'de'], 'en'],
  [['pt-BR'], 'pt-BR'],
  [['pt-PT'], 'pt-BR'],
  [[''], 'en'],
  [[], 'en'],
])('chooses for a browser that wants %j: %s', (wanted, expected) => {
  expect(choose(['de', 'en', 'pt-BR'], wanted)).toBe(expected);
});

it.each<[string[], string]>([
  [['en-US@posix'], 'en'],
  [['en-US@posix', 'de-AT', 'en-GB'], 'en-GB'],
  [['en', 'en-US'], 'en-US'],
  [[], 'en'],
])('writes the dates of an English page for a browser that wants %j as in %s', (wanted, expected) => {
  expect(inRegion('en', wanted)).toBe(expected);
});

it.each<[string, number, string]>([
  ['en', 0, 'none of 1,000'],
  ['en', 1, '1 file of 1,000'],
  ['en', 1234, '1,234 files of 1,000'],
  ['de', 1234, '1.234 files of 1.000'],
])('speaks of a number, in %s: %i', (tag, count, expected) => {
  const messages = { files: { '=0': 'none of {all}', one: '{count} file of {all}', other: '{count} files of {all}' } };
  const { files } = createTexts<{ files(values: { count: number; all: number }): string }>(messages, tag);
  expect(files({ count, all: 1000 })).toBe(expected);
});

it('has a text for each place in the onboarding pages, and a place for each text', () => {
  const places = ['landing', 'form'].flatMap((page) => {
    const html = readFileSync(new URL(`../../renderer/onboarding/${page}.html`, import.meta.url), 'utf8');
    return [...html.matchAll(/data-text="(\w+)"/g)].map(([, key]) => key);
  });
  const { onboarding } = english as unknown as { onboarding: { plain: Record<string, string> } };
  expect(Object.keys(onboarding.plain).toSorted()).toStrictEqual([...new Set(places)].toSorted());
});

test.each([
  ['de-AT', 'de-AT'],
  ['en-US@posix', 'en-US'],
  ['C', 'en'],
  ['', 'en'],
])('slides of a browser that says %j are in %s', (language, expected) => {
  expect(localeOf({ language })).toBe(expected);
});
