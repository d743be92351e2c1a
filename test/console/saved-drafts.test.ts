/** A draft in the console: kept on the box, gone on with in another browser, and merged where two people type. */
import { expect, test } from 'vitest';
import { placeOf } from '../../renderer/console/model/issue-place.ts';
import type { Draft } from '../../service/contract/console/drafts.ts';
import { itBrowser } from '../support/browser.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { invite } from '../support/people.ts';
import { lobby, patience } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { inLan, newPage, openConsole } from './browser.ts';

itBrowser('what is typed is found again in another browser, and what two people type is merged', async () => {
  const slides = ['one', 'two'].map((id) => ({ id, kind: 'text', title: id }));
  const service = await startTestService({ content: lobby(slides), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const drafts = async (): Promise<Draft[]> =>
    ((await (await service.get('/console/api/drafts')).json()) as { drafts: Draft[] }).drafts;
  const titles = async (): Promise<unknown> => {
    const [draft] = await drafts();
    if (draft === undefined) return null;
    const { content } = (await (await service.get(`/console/api/drafts/${draft.id}`)).json()) as {
      content: { playlists: { slides: { title: string }[] }[] };
    };
    return content.playlists[0]?.slides.map(({ title }) => title);
  };
  const [anna, boris] = [await openConsole(service.url), await openConsole(service.url)];
  const type = async ({ page }: typeof anna, slide: string, title: string): Promise<void> => {
    await page.getByRole('button', { name: new RegExp(`^\\d\\. ${slide}`) }).click();
    await page.getByLabel('Title').fill(title);
  };
  await anna.go('content/playlists/main');
  await type(anna, 'one', 'Anna');
  await anna.page.getByText('Saved on the box.').waitFor();
  await expect.poll(titles, patience).toEqual(['Anna', 'two']);

  await boris.go('content');
  await boris.page.getByText('1 draft').waitFor();
  await boris.page.getByRole('button', { name: 'Go on with it' }).click();
  await boris.go('content/playlists/main');
  await boris.page.getByRole('button', { name: '1. Anna' }).waitFor();
  await type(boris, 'two', 'Boris');
  await expect.poll(titles, patience).toEqual(['Anna', 'Boris']);
  await type(anna, 'Anna', 'Anna again');
  await expect.poll(titles, patience).toEqual(['Anna again', 'Boris']);
  await anna.page.getByRole('button', { name: '2. Boris' }).waitFor();

  // A change that arrives while publishing is shown before anything is published.
  await anna.page.route(/editing=1$/, (route) => route.abort());
  await anna.page.getByRole('button', { name: 'Publish …' }).click();
  await type(boris, 'Boris', 'Boris later');
  await expect.poll(titles, patience).toEqual(['Anna again', 'Boris later']);
  await anna.page.getByRole('button', { name: 'Publish now' }).click();
  await anna.page.getByRole('alert').filter({ hasText: 'Somebody else has typed into this draft' }).waitFor();
  // Once among the changes, and once in the list of what was typed.
  await anna.page
    .getByRole('dialog')
    .getByText(/Boris later/)
    .nth(1)
    .waitFor();
  await anna.page.getByText('Somebody without a name saved into this draft, too.').waitFor();
  const asked = anna.page.waitForRequest(/\/console\/api\/drafts\/[a-z0-9-]+\/publish$/);
  await anna.page.getByRole('button', { name: 'Publish now' }).click();
  expect((await asked).headers()['if-match']).toBeDefined();
  await expect
    .poll(async () => (await service.get('/api/screens/lobby/playlist')).text(), patience)
    .toContain('Boris later');
  await expect.poll(async () => (await drafts()).length, patience).toBe(0);
});

itBrowser('a submitted draft is sent back with a note, and an error leads to its field', walk, async () => {
  const service = await startTestService({
    content: lobby([{ id: 'hours', kind: 'text', title: 'Opening hours' }], {
      programmes: [{ id: 'night', name: 'Night', playlist_id: 'main', targets: ['lobby', 'tag:nobody'] }],
      calendars: [{ id: 'house', name: 'House', url: '/media/none.ics' }],
      style: { logo_url: '/media/none.png' },
    }),
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const [anna, boris] = [await openConsole(service.url), await openConsole(service.url)];
  await anna.go('content/playlists/main');
  await anna.page.getByLabel('Seconds on the screen').fill('-1');
  await anna.page.getByText('Saved on the box.').waitFor();
  await anna.page.getByText('1 error.').waitFor();
  await anna.page.getByRole('button', { name: 'Publish …' }).click();
  await anna.page.getByRole('link', { name: '1. Opening hours › Seconds on the screen' }).click();
  const focus = () =>
    anna.page.evaluate(() =>
      ['field', 'record'].map((name) =>
        document.activeElement?.closest(`[data-${name}]`)?.getAttribute(`data-${name}`),
      ),
    );
  await expect.poll(focus).toEqual(['duration_seconds', undefined]);
  await anna.page.getByLabel('Seconds on the screen').fill('20');
  await anna.page.getByText('1 error.').waitFor({ state: 'detached' });
  const places: [string, ...(string | undefined)[]][] = [
    ['House › Address', 'url', 'calendars house'],
    ['Night › On 2', 'targets', 'night'],
    ['Style › Logo', 'logo_url', undefined],
  ];
  for (const [name, ...place] of places) {
    await anna.page.getByRole('button', { name: 'Publish …' }).click();
    await anna.page.getByRole('link', { name, exact: true }).click();
    await expect.poll(focus, { message: name }).toEqual(place);
  }
  await anna.page.getByRole('button', { name: 'Submit' }).click();
  await anna.page.getByText('Submitted.').waitFor();

  await boris.go('content');
  await boris.page.getByRole('button', { name: 'Send back …' }).click();
  await boris.page.getByLabel('What should be changed?').fill('Ten seconds, please');
  await boris.page.getByRole('dialog').getByRole('button', { name: 'Send back' }).click();
  await boris.page.getByText('Ten seconds, please').waitFor();
  await anna.page.getByText('Sent back: Ten seconds, please').waitFor();
});

const placed = {
  screens: [{ name: 'Hall', slug: 'hall' }],
  playlists: [{ id: 'main', name: 'Main', slides: [{ kind: 'text', title: 'A' }] }],
  programmes: [
    { id: 'night', targets: ['gone', 'hall'], playlist_id: 'main' },
    { id: 'day', name: 'By day', targets: [], playlist_id: 'main' },
  ],
  calendars: [{ id: 'house', name: 'House', url: 'https://example.org' }],
  messages: [{ id: 'fire', title: 'Fire', level: 'emergency' as const, minutes: null }],
};
test.each([
  ['playlists[0].slides[0].title', ['content', 'playlists', 'main', 'main-1', 'title'], 'Main', '1. A', 'title'],
  [
    'playlists[0].slides[0].content.feed_id',
    ['content', 'playlists', 'main', 'main-1', 'feed_id'],
    'Main',
    '1. A',
    'feed_id',
  ],
  ['playlists[0].slides[0]', ['content', 'playlists', 'main', 'main-1'], 'Main', '1. A', null],
  ['playlists[0].insert', ['content', 'playlists', 'main'], 'Main', null, 'insert'],
  ['screens[0].hours[1].open', ['content', 'screens', 'hall', 'hours'], 'Hall', null, 'hours[1].open'],
  ['screens[4].hours', ['content', 'screens'], null, null, 'hours'],
  ['programmes', ['content', 'week'], null, null, null],
  ['programmes[0].targets[0]', ['content', 'week', 'hall', 'night', 'targets'], 'Main', null, 'targets[0]'],
  ['programmes[1]', ['content', 'week', 'all', 'day'], 'By day', null, null],
  ['calendars[0].url', ['content', 'sources', 'calendars', 'house', 'url'], 'House', null, 'url'],
  ['messages[0].media_url', ['content', 'json'], 'Fire', null, 'media_url'],
  ['style.fonts.display', ['content', 'style', 'fonts.display'], null, null, 'fonts.display'],
  ['style', ['content', 'style'], null, null, null],
  ['unknown.part', ['content', 'json'], null, null, 'unknown.part'],
  ['', ['content', 'json'], null, null, null],
])('an issue at %s is found by its names', (path, where, name, slide, field) => {
  expect(placeOf({ path }, placed)).toEqual({ path: where, name, slide, field });
});

itBrowser('entries of a list that both changed are told apart, whichever of their fields differs', walk, async () => {
  const slide = (title: string) => ({ id: title, kind: 'timetable', title, content: { group_id: 'trains' } });
  const timed = (platform: string) => [{ time: '08:15', title: 'Vienna', location: platform }];
  const contentWith = (platform: string, order: string) =>
    lobby(order.split(' ').map(slide), {
      timetableGroups: [{ id: 'trains', name: 'Trains', entries: timed(platform) }],
    });
  const service = await startTestService({
    content: contentWith('platform 1', 'Trains Buses Boats'),
    env: { SIGNAGE_HOST: '0.0.0.0' },
  });
  const put = (path: string, body: object, headers: Record<string, string> = {}) =>
    service.get(path, {
      method: 'PUT',
      headers: { 'Content-Type': 'application/json', ...headers },
      body: JSON.stringify(body),
    });
  const { sha256 } = (await (await service.get('/console/api/content')).json()) as { sha256: string };
  const draft = { title: 'Trains', base_sha256: sha256, content: contentWith('platform 2', 'Buses Trains Boats') };
  expect((await put('/console/api/drafts/trains', draft)).status).toBe(201);
  expect(
    (await put('/console/api/content', contentWith('platform 3', 'Trains Boats Buses'), { 'If-Match': '*' })).status,
  ).toBe(200);
  const { page, go } = await openConsole(service.url);
  await go('content');
  await page.getByRole('button', { name: 'Go on with it' }).click();
  await page.getByRole('button', { name: 'Changed meanwhile …' }).click();
  const dialog = page.getByRole('dialog');
  await dialog.getByText(/Vienna.*platform 2/).waitFor();
  await dialog.getByText(/Vienna.*platform 3/).waitFor();
  const order = dialog.getByRole('group', { name: /^Playlist “.*” › Slides › Order$/ });
  expect(await order.getByRole('listitem').allTextContents()).toEqual([
    'Buses',
    'Trains',
    'Boats',
    'Trains',
    'Boats',
    'Buses',
  ]);
});

itBrowser('a tab that is closed while the box takes nothing leaves what was typed to the next one', walk, async () => {
  const slide = { id: 'hours', kind: 'text', title: 'Opening hours' };
  const service = await startTestService({ content: lobby([slide]), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  const context = page.context();
  const drafts = '**/console/api/drafts/*';
  await go('content/playlists/main');
  const title = page.getByLabel('Title', { exact: true });
  await title.fill('Typed first');
  await page.getByText('Saved on the box.').waitFor();
  await context.route(drafts, (route) => route.abort());
  await title.fill('Typed last');
  // It is not said to be saved before it is.
  expect(await page.getByText('Saved on the box.').count()).toBe(0);
  await page.getByText('Not saved yet:').waitFor();
  page.on('dialog', (dialog) => void dialog.accept());
  const closed = page.waitForEvent('close');
  await page.close({ runBeforeUnload: true });
  await closed;

  await context.unroute(drafts);
  const next = await context.newPage();
  await next.goto(`${inLan(service.url)}/console#/content/playlists/main`);
  await next.getByRole('button', { name: '1. Typed last' }).waitFor();
  await next.getByText('Saved on the box.').waitFor();
  const { drafts: all } = (await (await service.get('/console/api/drafts')).json()) as { drafts: Draft[] };
  expect(all.map(({ title: of }) => of)).toEqual(['main']);
  // The one after it begins with what the box has.
  await next.close();
  const last = await context.newPage();
  await last.goto(`${inLan(service.url)}/console#/content/playlists/main`);
  await last.getByRole('button', { name: '1. Opening hours' }).waitFor();
});

itBrowser('each of two tabs keeps what was typed in it, and leaves it where it is closed', walk, async () => {
  const slide = { id: 'hours', kind: 'text', title: 'Opening hours' };
  const service = await startTestService({ content: lobby([slide]), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page: first } = await openConsole(service.url);
  const context = first.context();
  const drafts = '**/console/api/drafts/*';
  await context.route(drafts, (route) => route.abort());
  const type = async (page: typeof first, title: string): Promise<void> => {
    page.on('dialog', (dialog) => void dialog.accept());
    await page.goto(`${inLan(service.url)}/console#/content/playlists/main`);
    await page.getByLabel('Title', { exact: true }).fill(title);
    await page.getByText('Not saved yet:').waitFor();
  };
  const close = async (page: typeof first): Promise<void> => {
    const closed = page.waitForEvent('close');
    await page.close({ runBeforeUnload: true });
    await closed;
  };
  const second = await context.newPage();
  await type(first, 'Typed first');
  await type(second, 'Typed second');
  await close(first);
  await second.reload();
  await second.getByRole('button', { name: '1. Typed second' }).waitFor();
  await close(second);
  await context.unroute(drafts);
  for (const title of ['Typed second', 'Typed first', 'Opening hours']) {
    const next = await context.newPage();
    await next.goto(`${inLan(service.url)}/console#/content/playlists/main`);
    await next.getByRole('button', { name: `1. ${title}` }).waitFor();
  }
});

itBrowser(
  'who looks on changes nothing by keys, and edits once all of it came',
  { ...walk, timeout: 60_000 },
  async () => {
    const slides = [
      { id: 'page', kind: 'web', title: 'Page', media_url: 'https://anna:secret@example.org/' },
      { id: 'hours', kind: 'text', title: 'Opening hours' },
    ];
    const service = await startTestService({
      content: lobby(slides),
      env: { ...secretSettings(operatorSecret), SIGNAGE_HOST: '0.0.0.0' },
    });
    const ask = createOperator(service, operatorSecret);
    const vera = { name: 'Vera', role: 'viewer' };
    await ask('PUT', '/console/api/people/vera', vera);
    const page = await newPage();
    await page.goto(`${inLan(service.url)}/console#join=vera.${await invite(service, 'vera')}`);
    await page.getByLabel('Name of this device').fill('Laptop');
    await page.getByRole('button', { name: 'Join' }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.evaluate(() => {
      location.hash = '#/content/playlists/main';
    });
    await page.getByText(/look/).first().waitFor();
    const cards = page.locator('.strip .card');
    await expect.poll(() => cards.count(), patience).toBe(2);
    await page.evaluate(() =>
      document.body.dispatchEvent(new KeyboardEvent('keydown', { key: 'Delete', bubbles: true })),
    );
    await page.evaluate(() => new Promise((resume) => requestAnimationFrame(() => requestAnimationFrame(resume))));
    expect(await cards.count()).toBe(2);

    const content = '**/console/api/content';
    let asked = 0;
    await page.route(content, (route) => {
      asked += 1;
      return route.abort();
    });
    await ask('PUT', '/console/api/people/vera', { ...vera, role: 'editor' });
    await expect.poll(() => asked, patience).toBeGreaterThan(1);
    expect(await page.locator('fieldset.looking').count()).toBe(1);
    await page.unroute(content);
    await page.locator('fieldset.looking').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: '2. Opening hours' }).click();
    await page.getByLabel('Title', { exact: true }).fill('By Vera');
    await page.getByText('Saved on the box.').waitFor();
    const { drafts } = (await (await ask('GET', '/console/api/drafts')).json()) as { drafts: Draft[] };
    const path = `/console/api/drafts/${drafts[0]?.id}?editing=1`;
    const saved = await (await ask('GET', path, undefined, { 'x-signage-operator': 'Olga' })).text();
    // The tab asks at once, and its own name is among the answer.
    for (const hash of ['#/wall', '#/content/playlists/main']) {
      await page.evaluate((next) => {
        location.hash = next;
      }, hash);
    }
    await page.getByText('Olga is editing, too.').waitFor();
    expect(saved).toContain('By Vera');

    // What somebody published meanwhile is merged; she may not publish, and goes on with the draft.
    const later = slides.map((slide) => (slide.id === 'hours' ? { ...slide, title: 'Later' } : slide));
    await ask('PUT', '/console/api/content', lobby(later), { 'If-Match': '*' });
    await page.getByRole('button', { name: 'Changed meanwhile …' }).click();
    await page.getByRole('button', { name: 'Go on with both', exact: true }).click();
    await page.getByRole('dialog').waitFor({ state: 'detached' });
    await page.getByRole('button', { name: 'Submit' }).waitFor();
    expect(saved).toContain('https://anna:secret@example.org/');
  },
);

itBrowser('a draft that the box does not take is not left for another one', async () => {
  const slide = { id: 'hours', kind: 'text', title: 'Opening hours' };
  const service = await startTestService({ content: lobby([slide]), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { sha256, content } = (await (await service.get('/console/api/content')).json()) as {
    sha256: string;
    content: unknown;
  };
  const other = { title: 'Other', base_sha256: sha256, content };
  const headers = { 'Content-Type': 'application/json' };
  await service.get('/console/api/drafts/other', { method: 'PUT', headers, body: JSON.stringify(other) });
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  await page.route('**/console/api/drafts/*', (route) =>
    route.request().method() === 'PUT' ? route.abort() : route.continue(),
  );
  await page.getByLabel('Title', { exact: true }).fill('Typed');
  await page.getByText('Not saved yet:').waitFor();
  await go('content');
  await page.getByRole('button', { name: 'Go on with it' }).click();
  await page.locator('.toast.failure').waitFor();
  await go('content/playlists/main');
  await page.getByRole('button', { name: '1. Typed' }).waitFor();
});

itBrowser('a draft is put aside, and gone on with later', walk, async () => {
  const slide = { id: 'hours', kind: 'text', title: 'Opening hours' };
  const service = await startTestService({ content: lobby([slide]), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  await page.getByLabel('Title', { exact: true }).fill('For summer');
  await page.getByRole('button', { name: 'Put this draft aside' }).click();
  await page.getByText('Nothing to publish.').waitFor();
  await page.getByRole('button', { name: '1. Opening hours' }).waitFor();
  await page.getByLabel('Title', { exact: true }).fill('For today');
  await page.getByText('Saved on the box.').waitFor();
  await go('content');
  await page.getByText('1 draft').waitFor();
  await page.getByRole('button', { name: 'Go on with it' }).click();
  await go('content/playlists/main');
  await page.getByRole('button', { name: '1. For summer' }).waitFor();
  const { drafts } = (await (await service.get('/console/api/drafts')).json()) as { drafts: Draft[] };
  expect(drafts).toHaveLength(2);
});

itBrowser('a page that is loaded anew takes over what somebody else has typed meanwhile', walk, async () => {
  const slide = { id: 'hours', kind: 'text', title: 'Opening hours' };
  const service = await startTestService({ content: lobby([slide]), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  await go('content/playlists/main');
  await page.getByLabel('Title', { exact: true }).fill('By Anna');
  await page.getByText('Saved on the box.').waitFor();
  const path = '/console/api/drafts';
  const { drafts } = (await (await service.get(path)).json()) as { drafts: Draft[] };
  const own = `${path}/${drafts[0]?.id}`;
  const response = await service.get(own);
  const { title, base_sha256 } = (await response.json()) as Draft;
  const body = JSON.stringify({ title, base_sha256, content: lobby([{ ...slide, title: 'By Boris' }]) });
  const headers = { 'Content-Type': 'application/json', 'If-Match': response.headers.get('ETag') ?? '' };
  await page.route(/editing=1$/, (route) => route.abort());
  expect((await service.get(own, { method: 'PUT', headers, body })).status).toBe(200);
  await page.unroute(/editing=1$/);
  await page.reload();
  await page.getByRole('button', { name: '1. By Boris' }).waitFor();
  expect(await (await service.get(own)).text()).toContain('By Boris');
});

itBrowser('what is published while a text of JSON is incomplete stays when the text is complete', walk, async () => {
  const slides = ['one', 'two'].map((id) => ({ id, kind: 'text', title: id }));
  const [one, two] = slides;
  const service = await startTestService({ content: lobby(slides), env: { SIGNAGE_HOST: '0.0.0.0' } });
  const { page, go } = await openConsole(service.url);
  await go('content/json');
  const editor = page.getByRole('textbox');
  await editor.click();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText('{');
  await page.locator('.fault', { hasText: /./ }).waitFor();
  const read = page.waitForResponse((response) => response.url().endsWith('/console/api/content'));
  await service.get('/console/api/content', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
    body: JSON.stringify(lobby([one ?? {}, { ...two, title: 'By Boris' }])),
  });
  await (await read).finished();
  await page.keyboard.press('Control+a');
  await page.keyboard.insertText(JSON.stringify(lobby([{ ...one, title: 'By Anna' }, two ?? {}])));
  await page.getByText('Saved on the box.').waitFor();
  await editor.getByText('By Boris').waitFor();
  const { drafts } = (await (await service.get('/console/api/drafts')).json()) as { drafts: Draft[] };
  const saved = (await (await service.get(`/console/api/drafts/${drafts[0]?.id}`)).json()) as Draft;
  expect(saved.content).toEqual(
    lobby([
      { ...one, title: 'By Anna' },
      { ...two, title: 'By Boris' },
    ]),
  );
});
