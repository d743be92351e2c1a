/** The draft of a tab and what a box keeps of it, without a browser: where answers are lost or late, and two people edit. */
import { expect, test } from 'vitest';
import { draftKey } from '../../renderer/console/stores/left.ts';
import type { Draft } from '../../service/contract/console/drafts.ts';
import { patience } from '../support/observe.ts';
import { documentOf, openTab, pollOf, slide, type Tab, titlesIn } from './draft-tab.ts';

test('undo after a publication that the box has merged keeps what somebody else has published', async () => {
  const { edit, isSaved, publishOther, saved, draft, titles, playing } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  await publishOther(slide('a'), slide('b', 'Boris'), slide('c'));
  await saved.publish();
  expect([titles(), draft.isDirty.value]).toEqual([['Anna', 'Boris', 'c'], false]);
  draft.undo();
  expect(titles()).toEqual(['a', 'Boris', 'c']);
  draft.redo();
  expect(titles()).toEqual(await playing());
});

test.each([
  ['is lost', true],
  ['is older', false],
])(
  'what was merged comes later, with what was typed while it was published, where its first answer %s',
  async (_, isLost) => {
    const { edit, isSaved, publishOther, saved, draft, documents, titles, playing, loseNext, holdNext } =
      await openTab();
    edit(slide('a', 'Anna'), slide('b'));
    await isSaved();
    await publishOther(slide('a'), slide('b', 'Boris'), slide('c'));
    const held = holdNext('POST', '/drafts/');
    const older = isLost ? null : holdNext('GET', '/content', true);
    if (isLost) loseNext('GET', '/content', false);
    else void documents.load();
    const published = saved.publish();
    const go = await held;
    edit(slide('a', 'Anna again'), slide('b'));
    go();
    await expect.poll(playing, patience).toEqual(['Anna', 'Boris', 'c']);
    (await older)?.();
    await published;
    // The tab may have asked once more by itself.
    expect([
      ['Anna again', 'b'],
      ['Anna again', 'Boris', 'c'],
    ]).toContainEqual(titles());
    await documents.load();
    expect([titles(), draft.newer.value]).toEqual([['Anna again', 'Boris', 'c'], null]);
    await isSaved();
    await saved.publish();
    expect(await playing()).toEqual(['Anna again', 'Boris', 'c']);
  },
);

test('what was published and has not come yet takes nothing out of the draft that follows', async () => {
  const { edit, isSaved, saved, draft, documents, titles, loseNext } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  loseNext('GET', '/content', false);
  await saved.publish();
  await saved.putAside();
  await documents.load();
  expect([titles(), draft.isDirty.value]).toEqual([['Anna', 'b'], false]);
});

test('letters that are typed while the last save before a publication is under way stay in the draft', async () => {
  const { edit, saved, titles, playing, holdNext } = await openTab();
  const held = holdNext('PUT', '/drafts/');
  edit(slide('a', 'Anna'), slide('b'));
  const published = saved.publish();
  const go = await held;
  edit(slide('a', 'Anna again'), slide('b'));
  go();
  await published;
  expect([await playing(), titles()]).toEqual([
    ['Anna', 'b'],
    ['Anna again', 'b'],
  ]);
});

const oops = [slide('a'), slide('b'), slide('oops')];
test.each([
  ['the slide of the first save is deleted', [], [slide('a', 'Anna'), slide('b')], ['Anna', 'b']],
  [
    'the slide of a later save is deleted',
    [slide('a', 'Anna'), slide('b')],
    [slide('a', 'Anna'), slide('b')],
    ['Anna', 'b'],
  ],
  ['all of it is taken back', [], [slide('a'), slide('b')], undefined],
])('a save whose answer was lost is nobody else’s edit: %s', async (_, before, after, expected) => {
  const { edit, isSaved, saved, draft, merged, titles, stored, loseNext } = await openTab();
  if (before.length > 0) {
    edit(...before);
    await isSaved();
  }
  loseNext('PUT', '/drafts/');
  edit(...oops);
  await expect.poll(() => saved.state.value, patience).toBe('failed');
  expect(await stored()).toEqual(['a', 'b', 'oops']);
  edit(...after);
  await expect.poll(stored, patience).toEqual(expected);
  expect([titles(), draft.isDirty.value]).toEqual([expected ?? ['a', 'b'], expected !== undefined]);
  expect(merged).not.toHaveBeenCalled();
});

test('a draft that is submitted while it is being saved is submitted', async () => {
  const { edit, isSaved, saved, drafts, asked, holdNext } = await openTab();
  const held = holdNext('PUT', '/drafts/');
  edit(slide('a', 'Anna'), slide('b'));
  const go = await held;
  const submitted = saved.setState('submitted');
  go();
  await submitted;
  expect(await drafts()).toMatchObject([{ state: 'submitted' }]);
  await isSaved();
  // The box waits for so long.
  expect(asked.flatMap(([method, , , timeout]) => (method === 'PUT' ? timeout : []))).toEqual([60_000, 60_000]);
});

test('what somebody else types into a draft is looked at before it is published', async () => {
  const { edit, isSaved, saved, saveOther, titles, playing } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  await saveOther(slide('a', 'Anna'), slide('b', 'Bor'));
  edit(slide('a', 'Anna again'), slide('b'));
  await expect(saved.publish()).rejects.toMatchObject({ code: 'draft_changed' });
  expect([titles(), await playing()]).toEqual([
    ['Anna again', 'Bor'],
    ['a', 'b'],
  ]);
  await saved.publish();
  expect(await playing()).toEqual(['Anna again', 'Bor']);
});

test('a draft in which all of mine was kept over what plays is published before the list of drafts has come', async () => {
  const { edit, isSaved, saved, draft, documents, publishOther, playing } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  await publishOther(slide('a', 'Boris'), slide('b'));
  await documents.load();
  const [newer, mine] = [draft.newer.value, draft.content.value];
  if (newer === null || mine === null) throw new Error('nothing newer plays');
  draft.rebase(newer, mine);
  await saved.publish();
  expect(await playing()).toEqual(['Anna', 'b']);
});

test('two people who add a slide with one id to a draft have a draft each', async () => {
  const { edit, isSaved, saveOther, send, drafts, titles } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  await saveOther(slide('a', 'Anna'), slide('b'), slide('text', 'Boris'));
  edit(slide('a', 'Anna'), slide('b'), slide('text', 'Anna'));
  await expect.poll(async () => (await drafts()).length, patience).toBe(2);
  const contents = (await drafts()).map(async ({ id }) => (await send('GET', `/drafts/${id}`)).json());
  const stored = (await Promise.all(contents)).map(({ content }: Draft) => titlesIn(content)?.at(-1));
  expect([stored.toSorted(), titles()?.at(-1)]).toEqual([['Anna', 'Boris'], 'Anna']);
});

const picture = (name: string) => ({ id: 'p', kind: 'image', media_url: `/media/${name}.gif` });
/** A tab with a draft that names a file. @returns renames it */
const openDraftOfFile = async () => {
  const tab = await openTab([slide('a'), picture('hall')]);
  expect((await tab.service.get('/api/media/hall.gif', { method: 'PUT', body: 'GIF89a' })).status).toBe(201);
  tab.edit(slide('a', 'Anna'), picture('hall'));
  await tab.isSaved();
  const rename = async (): Promise<void> => {
    expect((await tab.send('POST', '/media/hall.gif/rename', { to: 'foyer.gif' })).status).toBe(200);
  };
  const urls = () => tab.draft.content.value?.playlists?.[0]?.slides.map(({ media_url }) => media_url);
  return { tab, rename, urls };
};

test.each(['looks on', 'publishes', 'types'])(
  'a file that is renamed is nobody’s edit where the author %s',
  async (what) => {
    const { tab, rename, urls } = await openDraftOfFile();
    await rename();
    if (what === 'looks on') await pollOf(tab);
    if (what === 'types') tab.edit(slide('a', 'Anna again'), picture('hall'));
    if (what !== 'looks on') await tab.saved.publish();
    expect(urls()).toEqual([undefined, '/media/foyer.gif']);
    const title = { 'looks on': 'a', publishes: 'Anna', types: 'Anna again' }[what];
    expect([(await tab.playing())?.[0], tab.merged.mock.calls]).toEqual([title, []]);
  },
);

test('a file that is renamed is no edit of whoever has saved last, and is looked at before it is published', async () => {
  const { tab, rename, urls } = await openDraftOfFile();
  await tab.saveOther(slide('a', 'Anna'), picture('hall'), slide('b', 'Boris'));
  await pollOf(tab);
  await rename();
  await expect(tab.saved.publish()).rejects.toMatchObject({ code: 'draft_changed' });
  await tab.saved.publish();
  expect([urls(), tab.merged.mock.calls]).toEqual([[undefined, '/media/foyer.gif', undefined], [['Boris']]]);
});

test('what the person at a tab has saved elsewhere is merged without a word', async () => {
  const tab = await openTab();
  const { edit, isSaved, saveOther, titles, merged, names } = tab;
  names.other = 'Anna';
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  await saveOther(slide('a', 'Anna'), slide('b', 'too'));
  await pollOf(tab);
  expect([titles(), merged.mock.calls]).toEqual([['Anna', 'too'], []]);
});

test('the whole document is asked for until it comes, once a viewer becomes an editor', async () => {
  const { documents, overview, mayEdit, rules, loseNext, asked } = await openTab();
  rules.push((_, at, answer) => {
    if (at !== '/content' || mayEdit.peek()) return null;
    return answer().then((response) => {
      const redacted = response.headers.get('ETag')?.replace(/"$/, '-redacted"') ?? '';
      return response.text().then((text) => new Response(text, { headers: { ETag: redacted } }));
    });
  });
  const loaded = () => asked.filter(([, at]) => at === '/content').length;
  mayEdit.value = false;
  await expect.poll(() => documents.current.value?.isWhole, patience).toBe(false);
  loseNext('GET', '/content', false);
  const before = loaded();
  mayEdit.value = true;
  await expect.poll(() => documents.error.value, patience).not.toBeNull();
  expect([loaded() - before, documents.current.value?.isWhole]).toEqual([1, false]);
  overview.value = { content: { sha256: documents.current.value?.sha256 } };
  await expect.poll(() => documents.current.value?.isWhole, patience).toBe(true);
  overview.value = { content: { sha256: documents.current.value?.sha256 } };
  expect(loaded() - before).toBe(2);
});

test('a draft whose base this box does not have is compared with what plays, and published', async () => {
  const tab = await openTab();
  const { send, saved, draft, titles, playing, asked } = tab;
  const content = documentOf(slide('a', 'Boris'), slide('b'));
  const unknown = { title: 'Easter', base_sha256: 'f'.repeat(64), content };
  expect((await send('PUT', '/drafts/easter', unknown)).status).toBe(201);
  await pollOf(tab);
  await expect.poll(() => saved.list.value.length, patience).toBe(1);
  await saved.open('easter');
  expect([titles(), titlesIn(draft.base.value?.content)]).toEqual([
    ['Boris', 'b'],
    ['a', 'b'],
  ]);
  // It is somebody else's until it is published.
  await expect.poll(() => saved.state.value, patience).toBe('saved');
  expect(asked.filter(([method]) => method === 'PUT')).toEqual([]);
  await saved.publish();
  expect(await playing()).toEqual(['Boris', 'b']);
});

test('a draft that was taken back is deleted, though the first request for that is lost', async () => {
  const { edit, isSaved, drafts, draft, saved, loseNext } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  loseNext('DELETE', '/drafts/', false);
  draft.undo();
  await expect.poll(() => saved.state.value, patience).toBe('failed');
  expect(saved.id.value).not.toBeNull();
  await expect.poll(async () => (await drafts()).length, patience).toBe(0);
  await expect.poll(() => saved.id.value, patience).toBeNull();
});

test('a draft that was deleted elsewhere is not called saved, and the list goes on', async () => {
  const tab = await openTab();
  const { edit, isSaved, drafts, saved, send, stored } = tab;
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  const [own] = await drafts();
  expect((await send('DELETE', `/drafts/${own?.id}`)).status).toBe(204);
  await pollOf(tab);
  expect([saved.id.value, saved.state.value]).toEqual([null, 'none']);
  edit(slide('a', 'Anna again'), slide('b'));
  await expect.poll(stored, patience).toEqual(['Anna again', 'b']);
});

test.each([
  ['all edits of it are dropped', (tab: Tab) => tab.draft.discard()],
  ['its changes are taken back', ({ edit }: Tab) => edit(slide('a'), slide('b'))],
])('a draft of somebody else that was opened stays on the box when %s', async (_, drop) => {
  const tab = await openTab();
  const { edit, isSaved, send, saved, draft, stored, drafts } = tab;
  const content = documentOf(slide('a', 'Boris'), slide('b'));
  const begun = { title: 'Easter', base_sha256: draft.base.value?.sha256, content, state: 'submitted' };
  expect((await send('PUT', '/drafts/easter', begun)).status).toBe(201);
  await saved.open('easter');
  edit(slide('a', 'Boris'), slide('b', 'Anna'));
  await isSaved();
  drop(tab);
  await expect.poll(() => saved.state.value, patience).toBe('none');
  expect([saved.id.value, await stored(), draft.isDirty.value]).toEqual([null, ['Boris', 'Anna'], false]);
  // What follows is a draft of its own.
  edit(slide('a', 'Anna'), slide('b'));
  await expect.poll(async () => (await drafts()).length, patience).toBe(2);
  draft.discard();
  await expect.poll(async () => (await drafts()).map(({ id }) => id), patience).toEqual(['easter']);
});

test('a draft that is forgotten before its edits are dropped stays on the box', async () => {
  const { edit, isSaved, saved, draft, asked, stored, holdNext } = await openTab();
  edit(slide('a', 'Anna'), slide('b'));
  await isSaved();
  const held = holdNext('PUT', '/drafts/');
  edit(slide('a', 'Anna again'), slide('b'));
  const go = await held;
  saved.forget();
  draft.discard();
  go();
  await expect.poll(stored, patience).toEqual(['Anna again', 'b']);
  await saved.putAside();
  expect([await stored(), asked.filter(([method]) => method === 'DELETE')]).toEqual([['Anna again', 'b'], []]);
});

const saveFirst = async (tab: Tab): Promise<void> => {
  tab.edit(slide('a', 'Anna'), slide('b', 'Bo'));
  await tab.isSaved();
};
test.each([
  ['has saved', saveFirst, ['Anna', 'Boris']],
  [
    'has opened',
    async (tab: Tab) => {
      await saveFirst(tab);
      const own = String(tab.saved.id.value);
      await tab.saved.putAside();
      await tab.saved.open(own);
      // Until it is stored.
      await expect.poll(() => tab.kept.getItem(draftKey), patience).toContain('Bo');
    },
    ['Anna', 'Boris'],
  ],
  [
    'has typed into and hidden',
    async (tab: Tab) => {
      await saveFirst(tab);
      tab.loseNext('PUT', '/drafts/', false);
      tab.edit(slide('a', 'Anna again'), slide('b', 'Bo'));
      tab.hide();
    },
    ['Anna again', 'Boris'],
  ],
])('what somebody else saves stays in a draft that a tab %s before it ends without an event', async (_, begin, all) => {
  const tab = await openTab();
  await begin(tab);
  tab.close();
  await tab.saveOther(slide('a', 'Anna'), slide('b', 'Boris'));
  const restored = await openTab([], tab);
  await restored.isSaved();
  await pollOf(restored);
  await expect.poll(restored.titles, patience).toEqual(all);
  await expect.poll(restored.stored, patience).toEqual(all);
});
