/** Takeovers over HTTP: their slides in the playlists, their ends, and who shows them. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import type { Takeover } from '../../service/contract/console/takeovers.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { createOperator, refusalOf, secretModes, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'welcome', tags: ['public', 'ground-floor'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'welcome', tags: ['public'] },
    { name: 'Office', slug: 'office', playlist_id: 'welcome' },
  ],
  playlists: [{ id: 'welcome', slides: [{ id: 'hello', kind: 'text', title: 'Hello' }] }],
};

const inMinutes = (minutes: number, from = Date.now()): string => new Date(from + minutes * 60_000).toISOString();
const pathOf = (id: string): string => `/console/api/takeovers/${id}`;
const lift = (changes: object = {}) => ({
  targets: ['tag:public'],
  level: 'warning',
  title: 'The lift is out of order',
  until: inMinutes(30),
  ...changes,
});

const slidesOf = async (service: TestService, slug: string): Promise<string[]> =>
  (await payloadOf(service, slug)).slides.map(({ id }) => id);

const overviewOf = async (ask: ReturnType<typeof createOperator>): Promise<SiteOverview> =>
  (await (await ask('GET', '/console/api/site')).json()) as SiteOverview;

describe.each(secretModes)('%s', (_, secret) => {
  const start = async (env: Record<string, string> = {}) => {
    const service = await startTestService({ content, env: { ...secretSettings(secret), ...env } });
    return { service, ask: createOperator(service, secret) };
  };
  const openPage = async (service: TestService, slug: string) =>
    joinScreen(service, slug, {}, { protocols: await protocolsOf(service, slug, secret) });

  test('a takeover leads the playlists of its targets, is counted, and leaves no trace when it is ended', async () => {
    const { service, ask } = await start();
    const page = await openPage(service, 'lobby');
    const before = await payloadOf(service, 'lobby');
    const written = readFileSync(join(service.dataDir, 'content.json'), 'utf8');

    const started = await ask('PUT', pathOf('lift'), lift({ body: 'Please use the stairs.' }));
    const record = (await started.json()) as Takeover;
    expect(started.status).toBe(201);
    expect(record).toEqual({
      id: 'lift',
      targets: ['tag:public'],
      level: 'warning',
      title: 'The lift is out of order',
      body: 'Please use the stairs.',
      media_url: null,
      from: expect.any(String),
      until: expect.any(String),
      updatedAt: expect.any(String),
      shown: 0,
      expected: 1,
    });
    await page.message(({ type }) => type === 'revision');
    const during = await payloadOf(service, 'lobby');
    expect(during.revision).not.toBe(before.revision);
    expect(during.slides).toEqual([
      {
        ...before.slides[0],
        id: 'takeover-lift',
        title: record.title,
        body: record.body,
        schedule_mode: 'between',
        schedule_start_datetime: record.from,
        schedule_end_datetime: record.until,
        content: { takeover: { id: 'lift', level: 'warning' } },
      },
      ...before.slides,
    ]);
    expect(await slidesOf(service, 'bar')).toEqual(['takeover-lift', 'hello']);
    expect(await slidesOf(service, 'office')).toEqual(['hello']);
    expect(readFileSync(join(service.dataDir, 'content.json'), 'utf8')).toBe(written);

    page.send({ type: 'state', currentSlide: 0, currentSlideId: 'takeover-lift', currentSlideTitle: record.title });
    await expect.poll(async () => (await overviewOf(ask)).takeovers, patience).toEqual([{ ...record, shown: 1 }]);

    const replaced = await ask('PUT', pathOf('lift'), lift({ targets: ['office'], level: 'info' }));
    expect(replaced.status).toBe(200);
    expect(await slidesOf(service, 'lobby')).toEqual(['hello']);
    expect(await slidesOf(service, 'office')).toEqual(['takeover-lift', 'hello']);

    expect((await ask('DELETE', pathOf('lift'))).status).toBe(204);
    expect(await payloadOf(service, 'lobby')).toEqual(before);
    expect(await slidesOf(service, 'office')).toEqual(['hello']);
    expect((await overviewOf(ask)).takeovers).toEqual([]);
    expect(await refusalOf(await ask('DELETE', pathOf('lift')))).toEqual([404, 'takeover_not_found']);
    expect((await ask('PUT', pathOf('lift'), lift())).status).toBe(201);
  });

  test('what is no takeover is refused, and names the field', async () => {
    const { ask } = await start();
    const soon = inMinutes(30);
    const refused: [Record<string, unknown>, string, string][] = [
      [{ targets: undefined }, 'missing_field', 'targets'],
      [{ targets: [] }, 'invalid_field', 'targets'],
      [{ targets: 'all' }, 'invalid_field', 'targets'],
      [{ targets: Array(101).fill('all') }, 'invalid_field', 'targets'],
      [{ targets: ['lobby', 'gate'] }, 'invalid_field', 'targets'],
      [{ targets: ['tag:roof'] }, 'invalid_field', 'targets'],
      [{ level: undefined }, 'missing_field', 'level'],
      [{ level: 'panic' }, 'invalid_field', 'level'],
      [{ title: undefined }, 'missing_field', 'title'],
      [{ title: ' ' }, 'missing_field', 'title'],
      [{ title: 7 }, 'invalid_field', 'title'],
      [{ title: 'x'.repeat(501) }, 'invalid_field', 'title'],
      [{ body: 'x'.repeat(2_001) }, 'invalid_field', 'body'],
      [{ media_url: 'javascript:alert(1)' }, 'invalid_field', 'media_url'],
      [{ media_url: '/media/plan.pdf' }, 'invalid_field', 'media_url'],
      [{ until: undefined }, 'missing_field', 'until'],
      [{ until: 'tomorrow' }, 'invalid_field', 'until'],
      [{ until: '2026-12-01T10:00:00' }, 'invalid_field', 'until'],
      [{ until: inMinutes(-1) }, 'invalid_field', 'until'],
      [{ from: soon, until: soon }, 'invalid_field', 'until'],
      [{ from: inMinutes(-60), until: inMinutes(-30) }, 'invalid_field', 'until'],
      [{ from: inMinutes(0), until: inMinutes(31 * 24 * 60 + 1) }, 'invalid_field', 'until'],
      [{ from: 'now' }, 'invalid_field', 'from'],
    ];
    for (const [changes, code, field] of refused) {
      const response = await ask('PUT', pathOf('lift'), lift(changes));
      expect([changes, response.status, await response.json()]).toMatchObject([
        changes,
        400,
        { error: { code, field } },
      ]);
    }
    for (const id of ['Lift', 'a_b', 'x'.repeat(65)]) {
      for (const method of ['PUT', 'DELETE']) {
        const response = await ask(method, pathOf(id), method === 'PUT' ? lift() : undefined);
        expect([response.status, await response.json()]).toMatchObject([400, { error: { field: 'id' } }]);
      }
    }
    expect(await refusalOf(await ask('PUT', pathOf('lift'), '{'))).toEqual([400, 'invalid_json']);
    const plain = await ask('PUT', pathOf('lift'), 'x', { 'Content-Type': 'text/plain' });
    expect(await refusalOf(plain)).toEqual([415, 'unsupported_media_type']);
    expect((await overviewOf(ask)).takeovers).toEqual([]);
  });

  test('a picture or a film is shown in place of the text, and needs no title', async () => {
    const { service, ask } = await start();
    await ask('PUT', pathOf('exit'), lift({ title: null, media_url: '/media/exit.png', targets: ['all', 'all'] }));
    await ask('PUT', pathOf('film'), lift({ media_url: 'https://example.com/evacuate.mp4', level: 'emergency' }));
    await ask('PUT', pathOf('later'), lift({ from: '2100-01-01T09:00:00+01:00', until: '2100-01-02T09:00:00+01:00' }));
    const { slides } = await payloadOf(service, 'lobby');
    expect(slides.map(({ id, kind, media_url, media_type }) => [id, kind, media_url, media_type])).toEqual([
      ['takeover-film', 'video', 'https://example.com/evacuate.mp4', 'video/mp4'],
      ['takeover-later', 'text', null, null],
      ['takeover-exit', 'image', '/media/exit.png', 'image/png'],
      ['hello', 'text', null, null],
    ]);
    const { takeovers } = await overviewOf(ask);
    expect(takeovers.map(({ id, targets, from }) => [id, targets, from])).toMatchObject([
      ['film', ['tag:public'], expect.any(String)],
      ['later', ['tag:public'], '2100-01-01T08:00:00.000Z'],
      ['exit', ['all'], expect.any(String)],
    ]);
  });
});

test.each(secretModes)(
  'once over it stays over, whatever the clock says later, and over a restart, %s',
  { timeout: 60_000 },
  async (_, secret) => {
    const env = secretSettings(secret);
    let behind = 0;
    const dataDir = temporaryFolder();
    const wall = (): number => Date.now() - behind;
    const service = await startTestService({ content, dataDir, wall, env });
    const page = await joinScreen(service, 'lobby', {}, { protocols: await protocolsOf(service, 'lobby', secret) });
    // A signature is judged by the latest time that the box has seen.
    const ask = createOperator(service, secret);
    expect((await ask('PUT', pathOf('lift'), lift({ until: inMinutes(0.06) }))).status).toBe(201);
    await page.message(({ type }) => type === 'revision');
    await expect.poll(() => slidesOf(service, 'lobby'), { ...patience, interval: 250 }).toEqual(['hello']);
    expect(page.messages.filter(({ type }) => type === 'revision').length).toBeGreaterThan(1);
    const isNoted = () => JSON.stringify(readFileSync(join(dataDir, 'takeovers.json'), 'utf8')).includes('lift 20');
    await expect.poll(isNoted, patience).toBe(true);
    expect(await refusalOf(await ask('DELETE', pathOf('lift')))).toEqual([404, 'takeover_not_found']);

    behind = 5 * 60_000;
    expect((await overviewOf(ask)).takeovers).toEqual([]);
    service.writeContent({ ...content, playlists: [{ id: 'welcome', slides: [{ kind: 'text', title: 'Bye' }] }] });
    await expect.poll(() => slidesOf(service, 'lobby'), patience).toEqual(['welcome-1']);
    await service.close();
    const again = await startTestService({ dataDir, wall, env });
    expect(await slidesOf(again, 'lobby')).toEqual(['welcome-1']);
  },
);

/** Stores a takeover in a new data folder, by a service that is closed again. */
const storeTakeover = async (secret: string | null): Promise<string> => {
  const dataDir = temporaryFolder();
  const service = await startTestService({ content, dataDir, env: secretSettings(secret) });
  expect((await createOperator(service, secret)('PUT', pathOf('lift'), lift())).status).toBe(201);
  await service.close();
  return dataDir;
};

test.each(secretModes)(
  'one that seems over only by a clock that was ahead at the start is shown once the clock is right, %s',
  { timeout: 60_000 },
  async (_, secret) => {
    const env = secretSettings(secret);
    const dataDir = await storeTakeover(secret);

    let ahead = 60 * 60_000;
    const again = await startTestService({ dataDir, env, wall: () => Date.now() + ahead });
    expect(await slidesOf(again, 'lobby')).toEqual(['hello']);
    ahead = 0;
    await expect.poll(() => slidesOf(again, 'lobby'), patience).toEqual(['takeover-lift', 'hello']);
  },
);

test.each(secretModes)(
  'a takeover survives a restart, and neither an edit nor a content.json with errors starts, ends or prevents one, %s',
  async (_, secret) => {
    const env = secretSettings(secret);
    const dataDir = await storeTakeover(secret);

    const service = await startTestService({ dataDir, env });
    const ask = createOperator(service, secret);
    expect(await slidesOf(service, 'lobby')).toEqual(['takeover-lift', 'hello']);
    service.writeContent({ ...content, playlists: [{ id: 'welcome', slides: [{ kind: 'text', title: 'Bye' }] }] });
    await expect.poll(() => slidesOf(service, 'lobby'), patience).toEqual(['takeover-lift', 'welcome-1']);
    service.writeContent('{');
    await expect.poll(async () => (await overviewOf(ask)).content.status, patience).toBe('invalid');
    expect((await ask('PUT', pathOf('fire'), lift({ level: 'emergency' }))).status).toBe(201);
    expect(await slidesOf(service, 'lobby')).toEqual(['takeover-fire', 'takeover-lift', 'welcome-1']);
    expect((await ask('DELETE', pathOf('lift'))).status).toBe(204);
    expect(await slidesOf(service, 'lobby')).toEqual(['takeover-fire', 'welcome-1']);
  },
);

test.each(secretModes)(
  'in an emergency a screen is open whatever its hours, and closes again when it is over, %s',
  async (_, secret) => {
    const hours = [{ days: [1], open: '03:00', close: '03:01' }];
    const screens = content.screens.map((screen) => ({ ...screen, hours }));
    const service = await startTestService({ content: { ...content, screens }, env: secretSettings(secret) });
    const ask = createOperator(service, secret);
    await ask('PUT', pathOf('fire'), lift({ level: 'emergency', targets: ['lobby'] }));
    await ask('PUT', pathOf('later'), lift({ level: 'emergency', targets: ['bar'], from: inMinutes(5) }));
    await ask('PUT', pathOf('lift'), lift({ targets: ['office'] }));
    expect(['lobby', 'bar', 'office'].map(service.hours)).toEqual([null, hours, hours]);
    await ask('DELETE', pathOf('fire'));
    expect(service.hours('lobby')).toEqual(hours);
  },
);

test.each(secretModes)('a hundred takeovers are the limit, and one that is ended makes room, %s', async (_, secret) => {
  const service = await startTestService({ content, env: secretSettings(secret) });
  const ask = createOperator(service, secret);
  const put = (id: string) => ask('PUT', pathOf(id), lift({ from: inMinutes(5) }));
  const answers = await Promise.all(Array.from({ length: 105 }, (_, index) => put(`t-${index}`)));
  expect(answers.map(({ status }) => status).toSorted()).toEqual([...Array(100).fill(201), ...Array(5).fill(409)]);
  expect(await refusalOf(await put('one-more'))).toEqual([409, 'too_many_takeovers']);
  expect((await put('t-7')).status).toBe(200);
  await ask('DELETE', pathOf('t-8'));
  expect((await put('one-more')).status).toBe(201);
});

describe.each(secretModes)('at a site of three boxes %s', (_, secret) => {
  const env = secretSettings(secret);

  test('a takeover starts and ends on all boxes at once, and on one that was away when it is back', {
    timeout: 60_000,
  }, async () => {
    const awayDir = temporaryFolder();
    const first = await startBox([], { content, env });
    const second = await startBox([first], { content, env });
    const away = await startBox([first], { content, env, dataDir: awayDir });
    await untilTogether([first, second, away]);
    const at = (box: TestService) => createOperator(box, secret);
    const leads = (box: TestService) => async () => (await slidesOf(box, 'lobby'))[0];

    expect((await at(first)('PUT', pathOf('lift'), lift())).status).toBe(201);
    // The answer comes once the other boxes have it.
    for (const box of [first, second, away]) expect(await leads(box)()).toBe('takeover-lift');
    expect((await payloadOf(second, 'lobby')).revision).toBe((await payloadOf(first, 'lobby')).revision);
    await away.close();

    expect((await at(second)('DELETE', pathOf('lift'))).status).toBe(204);
    for (const box of [first, second]) expect(await leads(box)()).toBe('hello');
    expect((await at(first)('PUT', pathOf('fire'), lift({ level: 'emergency' }))).status).toBe(201);

    const back = await startBox([first], { content, env, dataDir: awayDir });
    await expect.poll(() => slidesOf(back, 'lobby'), patience).toEqual(['takeover-fire', 'hello']);
    for (const box of [first, second]) expect(await slidesOf(box, 'lobby')).toEqual(['takeover-fire', 'hello']);
  });
});

test.each(secretModes)(
  'a picture that a takeover shows reaches the other boxes, as the media of the content do, %s',
  async (_, secret) => {
    const env = secretSettings(secret);
    const first = await startBox([], { content, env });
    const second = await startBox([first], { content, env });
    await untilTogether([first, second]);
    const png = Buffer.from(
      'iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAQAAAC1HAwCAAAAC0lEQVR42mNkYAAAAAYAAjCB0C8AAAAASUVORK5CYII=',
      'base64',
    );
    await createOperator(first, secret)('PUT', '/api/media/exit.png', png);
    await createOperator(second, secret)('PUT', pathOf('exit'), lift({ media_url: '/media/exit.png' }));
    const fetched = async () => (await second.get('/media/exit.png')).status;
    await expect.poll(fetched, patience).toBe(200);
  },
);
