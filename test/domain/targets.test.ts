import { expect, test } from 'vitest';
import { isTargeted, screensOf, unknownTargets } from '../../service/domain/targets.ts';

const lobby = { slug: 'lobby', tags: ['ground floor', 'public'] };
const bar = { slug: 'bar', tags: ['public'] };
const office = { slug: 'office', tags: [] };
const all = [lobby, bar, office];

test.each([
  [['all'], ['lobby', 'bar', 'office']],
  [['bar'], ['bar']],
  [['tag:public'], ['lobby', 'bar']],
  [['tag:ground floor'], ['lobby']],
  [
    ['office', 'tag:public'],
    ['lobby', 'bar', 'office'],
  ],
  [
    ['bar', 'tag:public', 'bar'],
    ['lobby', 'bar'],
  ],
  [['public'], []],
  [['tag:lobby'], []],
  [['tag:'], []],
  [['Lobby'], []],
  [[], []],
])('the targets %j are for the screens %j', (targets, slugs) => {
  expect(screensOf(targets, all).map(({ slug }) => slug)).toEqual(slugs);
  expect(all.filter((screen) => isTargeted(targets, screen)).map(({ slug }) => slug)).toEqual(slugs);
});

test('a target is unknown where it is for no screen', () => {
  expect(unknownTargets(['all', 'lobby', 'tag:public', 'gate', 'tag:roof', 'tag:'], all)).toEqual([
    'gate',
    'tag:roof',
    'tag:',
  ]);
  expect(unknownTargets(['all', 'lobby'], [])).toEqual(['lobby']);
});
