/** Two people at once: what both did stays, and where they differ a person chooses. */
import fc from 'fast-check';
import { describe, expect, test } from 'vitest';
import { conflictKey, merge, spellConflict } from '../../service/domain/merge-documents.ts';

const slide = (id: string, title = id) => ({ id, kind: 'text', title });
const document = (slides: object[], more: object = {}) => ({
  screens: [{ slug: 'lobby', name: 'Lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', slides }],
  ...more,
});
const base = document([slide('a'), slide('b'), slide('c')]);

/** The slides after both edits: ids and titles, and how many conflicts there were. */
const merged = (mine: object[], theirs: object[], choices?: ReadonlySet<string>) => {
  const { value, conflicts } = merge(base, document(mine), document(theirs), choices);
  const { playlists } = value as typeof base;
  return { titles: playlists[0]?.slides.map((each) => (each as { title: string }).title), conflicts };
};

describe('edits of different things are both kept', () => {
  const [a, b, c] = [slide('a'), slide('b'), slide('c')];
  test.each([
    ['two slides are changed', [slide('a', 'mine'), b, c], [a, b, slide('c', 'theirs')], ['mine', 'b', 'theirs']],
    ['one is added by each', [a, slide('m'), b, c], [a, b, slide('t'), c], ['a', 'm', 'b', 't', 'c']],
    ['one is removed, another is changed', [a, c], [a, b, slide('c', 'theirs')], ['a', 'theirs']],
    ['one side moves, the other changes', [c, a, b], [a, slide('b', 'theirs'), c], ['c', 'a', 'theirs']],
    ['both remove the same', [a, b], [a, b], ['a', 'b']],
    ['both move alike', [c, b, a], [c, b, a], ['c', 'b', 'a']],
  ])('%s', (_, mine, theirs, titles) => {
    expect(merged(mine, theirs)).toEqual({ titles, conflicts: [] });
  });
});

test('a field that both changed is a conflict, mine unless theirs is chosen', () => {
  const [mine, theirs] = [[slide('a', 'mine')], [slide('a', 'theirs'), slide('b'), slide('c')]];
  const { titles, conflicts } = merged(mine, theirs);
  expect(titles).toEqual(['mine']);
  expect(conflicts).toEqual([
    { path: ['playlists', 'main', 'slides', 'a', 'title'], base: 'a', mine: 'mine', theirs: 'theirs' },
  ]);
  const choices = new Set(conflicts.map(conflictKey));
  expect(merged(mine, theirs, choices).titles).toEqual(['theirs']);
});

test('a slide that one side removed and the other changed is a conflict, and either side can be had', () => {
  const [mine, theirs] = [
    [slide('a'), slide('c')],
    [slide('a'), slide('b', 'theirs'), slide('c')],
  ];
  const { titles, conflicts } = merged(mine, theirs);
  expect([titles, conflicts.length]).toEqual([['a', 'c'], 1]);
  expect(merged(mine, theirs, new Set(conflicts.map(conflictKey))).titles).toEqual(['a', 'theirs', 'c']);
});

test('two slides that were added with one id are never mixed: each side is had whole', () => {
  const all = [slide('a'), slide('b'), slide('c')];
  const added = { ...slide('text', 'Sale on Saturday'), schedule_mode: 'weekly' };
  const [mine, theirs] = [document([...all, slide('text', 'Canteen closed')]), document([...all, added])];
  const { value, conflicts } = merge(base, mine, theirs);
  expect(value).toEqual(mine);
  expect(conflicts).toMatchObject([{ path: ['playlists', 'main', 'slides', 'text'], of: 'record', base: undefined }]);
  expect(merge(base, mine, theirs, new Set(conflicts.map(conflictKey))).value).toEqual(theirs);
});

test('an order that both changed is one conflict of the list, and what else both did stays with either order', () => {
  const [a, b, c] = [slide('a'), slide('b'), slide('c')];
  const [mine, theirs] = [
    [b, slide('a', 'mine'), c, slide('m')],
    [a, c, slide('b', 'theirs'), slide('t')],
  ];
  const { titles, conflicts } = merged(mine, theirs);
  expect(titles).toEqual(['theirs', 't', 'mine', 'c', 'm']);
  expect(conflicts).toMatchObject([{ path: ['playlists', 'main', 'slides'], of: 'order' }]);
  expect(spellConflict(conflicts[0] ?? { path: [] }, [document(mine)])).toBe('playlists[0].slides');
  const chosen = merged(mine, theirs, new Set(conflicts.map(conflictKey)));
  expect(chosen.titles).toEqual(['mine', 'c', 'm', 'theirs', 't']);
});

test('slides with one id, which a file can have, are lost by no merge: the list is one conflict', () => {
  const mine = [slide('a', 'mine'), slide('b', 'one'), slide('b', 'two')];
  const { titles, conflicts } = merged(mine, [slide('a', 'theirs'), slide('b'), slide('c')]);
  expect(titles).toEqual(['mine', 'one', 'two']);
  expect(conflicts.map(({ path }) => path)).toEqual([['playlists', 'main', 'slides']]);
});

const ids = fc.uniqueArray(fc.constantFrom('a', 'b', 'c', 'd', 'e', 'f'), { maxLength: 6 });
const edit = ids.chain((order) =>
  fc.tuple(...order.map((id) => fc.constantFrom('1', '2').map((title) => slide(id, title)))),
);

test('an edit against an unchanged document is the edit, and the same edit twice is one', () => {
  fc.assert(
    fc.property(edit, edit, (before, after) => {
      const [from, to] = [document(before), document(after)];
      expect(merge(from, to, from)).toEqual({ value: to, conflicts: [] });
      expect(merge(from, from, to)).toEqual({ value: to, conflicts: [] });
      expect(merge(from, to, to)).toEqual({ value: to, conflicts: [] });
    }),
  );
});

test('nothing is doubled and nothing is invented, whatever both did', () => {
  fc.assert(
    fc.property(edit, edit, edit, (before, mine, theirs) => {
      const { value } = merge(document(before), document(mine), document(theirs));
      const found = (value as typeof base).playlists[0]?.slides.map((each) => (each as { id: string }).id) ?? [];
      const known = new Set([...mine, ...theirs].map(({ id }) => id));
      expect(new Set(found).size).toBe(found.length);
      expect(found.every((id) => known.has(id))).toBe(true);
    }),
  );
});

/** The slides of two edits of a document without any. */
const joined = (theirs: readonly string[], mine: readonly string[]): string[] => {
  const [own, other] = [mine, theirs].map((added) => document(added.map((id) => slide(id))));
  const { playlists } = merge(document([]), own, other).value as typeof base;
  return playlists[0]?.slides.map((each) => (each as { id: string }).id) ?? [];
};

test('what one side alone added comes after the one that it follows there', () => {
  fc.assert(
    fc.property(ids, ids, (theirs, mine) => {
      const expected = [...theirs];
      mine.forEach((id, index) => {
        const before = mine[index - 1];
        if (!expected.includes(id)) expected.splice(before === undefined ? 0 : expected.indexOf(before) + 1, 0, id);
      });
      expect(joined(theirs, mine)).toEqual(expected);
    }),
  );
});

test('tens of thousands of slides that both added are merged at once, and each conflict among them finds its place', () => {
  const many = Array.from({ length: 40_000 }, (_, index) => `s${index}`);
  expect(joined(['last'], many)).toEqual([...many, 'last']);
  const [mine, theirs] = ['mine', 'theirs'].map((title) => document(many.map((id) => slide(id, title))));
  const { conflicts } = merge(document([]), mine, theirs);
  const places = conflicts.map((each) => spellConflict(each, [mine, theirs]));
  expect(places).toEqual(many.map((_, index) => `playlists[0].slides[${index}]`));
});
