/** What people with tags, editors and viewers may and may not do. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signAsPerson } from '../../service/auth/sign.ts';
import { isAllInScope } from '../../service/domain/targets.ts';
import { startSite } from '../peers/support.ts';
import { makeDevice } from '../support/device-key.ts';
import { createOperator, operatorSecret, refusalOf, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { addPerson, holdBody } from '../support/people.ts';
import { startTestService } from '../support/service.ts';

const api = '/console/api';
const content = {
  screens: [
    { name: 'Lobby', slug: 'lobby', playlist_id: 'main', tags: ['front'] },
    { name: 'Bar', slug: 'bar', playlist_id: 'main', tags: ['front', 'bar'] },
    { name: 'Hall', slug: 'hall', playlist_id: 'main' },
  ],
  playlists: [
    {
      id: 'main',
      slides: [
        {
          id: 'one',
          kind: 'text',
          title: 'One',
          body: 'see <a href="https://u:MARK@h/?key=KEY">https://u:MARK@[h/</a>',
        },
        { id: 'two', kind: 'image', media_url: '/media/used.png' },
      ],
    },
  ],
  rssFeeds: [{ id: 'news', name: 'News', url: 'https://user:password@example.com/feed?key=KEY#top' }],
};

const start = async () => {
  const box = await startTestService({ content, env: secretSettings(operatorSecret) });
  return { box, admin: createOperator(box, operatorSecret) };
};
const until = (): string => new Date(Date.now() + 600_000).toISOString();

test('each screen that a target matches must have a tag of the person, and all or another tag never do', () => {
  const screens = content.screens.map(({ slug, tags = [] }) => ({ slug, tags }));
  for (const [tags, targets, isIn] of [
    [['front'], ['lobby', 'bar'], true],
    [['bar'], ['lobby'], false],
    [['bar'], ['bar'], true],
    [['bar'], ['tag:bar'], true],
    [['bar'], ['tag:front'], false],
    [['front'], ['all'], false],
    [['front'], ['tag:empty'], false],
    [['front'], ['bar', 'hall'], false],
    [['front'], ['nowhere'], true],
  ] as const) {
    expect([tags, targets, isAllInScope(tags, targets, screens)]).toEqual([tags, targets, isIn]);
  }
});

describe('a publisher with tags', () => {
  test('commands, shows, takes over, binds and names within them', async () => {
    const [box, other] = await startSite({ content, env: secretSettings(operatorSecret) });
    const admin = createOperator(box, operatorSecret);
    const { ask, key } = await addPerson(box, 'publisher', { tags: ['bar'] });
    const statusOf = async (...given: Parameters<typeof ask>) => {
      const response = await ask(...given);
      return response.ok ? response.status : refusalOf(response);
    };
    const out = [403, 'out_of_scope'];
    const command = { command: 'next' };
    expect(await statusOf('POST', '/api/screens/bar/commands', command)).toBe(200);
    expect(await statusOf('POST', '/api/screens/lobby/commands', command)).toEqual(out);
    expect(await statusOf('POST', `${api}/screens/bar/show`, { slide_id: 'one' })).toBe(200);
    expect(await statusOf('POST', `${api}/screens/lobby/show`, { slide_id: 'one' })).toEqual(out);
    const takeover = (targets: string[]) => ({ targets, level: 'info', title: 'Hello', until: until() });
    expect(await statusOf('PUT', `${api}/takeovers/mine`, takeover(['tag:bar']))).toBe(201);
    expect(await statusOf('PUT', `${api}/takeovers/all`, takeover(['all']))).toEqual(out);
    await admin('PUT', `${api}/takeovers/theirs`, takeover(['lobby']));
    expect(await statusOf('PUT', `${api}/takeovers/theirs`, takeover(['bar']))).toEqual(out);
    expect(await statusOf('DELETE', `${api}/takeovers/theirs`)).toEqual(out);
    // Others take the id while the body is still to come.
    const replace = await holdBody(box, key, ['PUT', `${api}/takeovers/next`, takeover(['bar'])]);
    await admin('PUT', `${api}/takeovers/next`, takeover(['lobby']));
    expect(await replace()).toEqual(out);
    expect(await statusOf('DELETE', `${api}/takeovers/mine`)).toBe(204);
    const bind = (deviceId: string, screenSlug: string) => ({ deviceId, clientName: deviceId, screenSlug });
    expect(await statusOf('POST', '/api/onboarding', bind('d1', 'bar'))).toBe(200);
    expect(await statusOf('POST', '/api/onboarding', bind('d1', 'lobby'))).toEqual(out);
    await admin('POST', '/api/onboarding', bind('d2', 'lobby'));
    expect(await statusOf('POST', '/api/onboarding', bind('d2', 'bar'))).toEqual(out);
    expect(await statusOf('DELETE', `${api}/devices/d2`)).toEqual(out);
    const name = { command: 'setclientname', deviceId: 'd2', clientName: 'Mine' };
    expect(await statusOf('POST', '/api/screens/bar/commands', name)).toEqual(out);
    // A device that is bound to nothing, and shows a screen of others, on whatever box.
    for (const [shown, deviceId] of [[box, 'd3'] as const, [other, 'd4'] as const]) {
      const page = await joinScreen(shown, 'lobby', { deviceId }, { protocols: await protocolsOf(shown, 'lobby', '') });
      expect(await statusOf('POST', '/api/onboarding', bind(deviceId, 'bar'))).toEqual(out);
      expect(await statusOf('POST', '/api/screens/bar/commands', { ...name, deviceId })).toEqual(out);
      // What was sent to it before has arrived by then.
      await admin('POST', '/api/screens/lobby/commands', { command: 'reload' });
      await page.message(({ command }) => command === 'reload');
      expect(page.messages.flatMap(({ command }) => command ?? [])).toEqual(['reload']);
    }
    // A page that only says that it is a device does not keep anybody from it.
    const { deviceId } = makeDevice();
    await joinScreen(other, 'lobby', { deviceId }, { protocols: await protocolsOf(other, 'lobby', '') });
    expect(await statusOf('POST', '/api/screens/bar/commands', { ...name, deviceId })).toBe(200);
    expect(await statusOf('DELETE', `${api}/devices/d1`)).toBe(204);
    expect(await statusOf('PUT', `${api}/content`, content, { 'If-Match': '*' })).toEqual(out);
    expect(await statusOf('PUT', `${api}/drafts/mine`, { title: 'Mine', base_sha256: null, content })).toBe(201);
    expect(await statusOf('POST', `${api}/drafts/mine/publish`, undefined, { 'If-Match': '*' })).toEqual(out);
    expect(await statusOf('POST', `${api}/boxes/${box.nodeId}/actions`, { action: 'identify' })).toEqual(out);
  });
});

test('media: an editor takes new names and deletes their own, a publisher replaces, an admin deletes what is used', async () => {
  const { box, admin } = await start();
  const [eve, paul, tagged, anna] = [
    await addPerson(box, 'editor'),
    await addPerson(box, 'publisher'),
    await addPerson(box, 'publisher', { tags: ['bar'] }),
    await addPerson(box, 'admin'),
  ];
  const put = async ({ ask }: typeof eve, name: string) => {
    const response = await ask('PUT', `/api/media/${name}`, `by ${name}`, { 'Content-Type': 'text/plain' });
    return response.ok ? response.status : refusalOf(response);
  };
  const remove = async ({ ask }: typeof eve, name: string) => {
    const response = await ask('DELETE', `/api/media/${name}`);
    return response.ok ? response.status : refusalOf(response);
  };
  const low = [403, 'role_required'];
  expect(await put(eve, 'own.txt')).toBe(201);
  expect(await put(eve, 'own.txt')).toEqual(low);
  // The content names it, so that it would play at once.
  expect(await put(eve, 'used.png')).toEqual(low);
  expect(await put(tagged, 'used.png')).toEqual([403, 'out_of_scope']);
  await admin('PUT', '/api/media/used.png', 'picture', { 'Content-Type': 'image/png' });
  expect(await put(eve, 'used.png')).toEqual(low);
  expect(await put(tagged, 'used.png')).toEqual([403, 'out_of_scope']);
  expect(await put(paul, 'used.png')).toBe(200);
  await admin('PUT', '/api/media/others.txt', 'text', { 'Content-Type': 'text/plain' });
  expect(await remove(eve, 'others.txt')).toEqual(low);
  expect(await remove(eve, 'own.txt')).toBe(204);
  expect(await remove(paul, 'others.txt')).toBe(204);
  expect(await remove(paul, 'used.png')).toEqual(low);
  expect(await remove(anna, 'used.png')).toBe(204);
  // Whose they were is over with them: otherwise names that are gone would leave no room for new ones.
  expect(readFileSync(join(box.dataDir, 'shared', 'uploads.json'), 'utf8')).not.toMatch(/"by": ?"[^"]/);
});

test('a name that is taken while an editor uploads is not replaced', async () => {
  const { box, admin } = await start();
  const { key } = await addPerson(box, 'editor');
  const upload = async (name: string, meanwhile: () => Promise<unknown>): Promise<number> => {
    const url = `${box.url}/api/media/${name}`;
    const chunks = ['by an ', 'editor'];
    const signed = await signAsPerson(key, { method: 'PUT', url, body: chunks.join(''), recipient: box.nodeId });
    const body = new ReadableStream({
      pull: async (controller) => {
        const chunk = chunks.shift();
        if (chunks.length === 0) await meanwhile();
        if (chunk === undefined) controller.close();
        else controller.enqueue(new TextEncoder().encode(chunk));
      },
    });
    const response = await fetch(url, { method: 'PUT', headers: signed, body, duplex: 'half' } as RequestInit);
    await response.text();
    return response.status;
  };
  const headers = { 'Content-Type': 'text/plain' };
  expect(await upload('taken.txt', () => admin('PUT', '/api/media/taken.txt', 'first', headers))).toBe(403);
  expect(await (await box.get('/media/taken.txt')).text()).toBe('first');
  expect(await upload('free.txt', async () => undefined)).toBe(201);
  // Nor is it refused where what names it was published meanwhile.
  const [playlist] = content.playlists;
  const slides = [{ id: 'new', kind: 'image', media_url: '/media/new.txt' }, ...(playlist?.slides ?? [])];
  const next = { ...content, playlists: [{ id: 'main', slides }] };
  const publish = () => admin('PUT', `${api}/content`, next, { 'If-Match': '*' });
  const answers: number[] = [];
  expect(await upload('new.txt', async () => answers.push((await publish()).status))).toBe(201);
  expect(answers[0]).toBe(200);
});

test('a viewer and an editor bind a device as a page does, with the code that it shows', async () => {
  const { box } = await start();
  const [vera, paul] = [await addPerson(box, 'viewer'), await addPerson(box, 'publisher')];
  const body = { deviceId: 'd1', clientName: 'Door', screenSlug: 'lobby' };
  expect(await refusalOf(await vera.ask('POST', '/api/onboarding', body))).toEqual([403, 'claim_required']);
  expect((await paul.ask('POST', '/api/onboarding', body)).status).toBe(200);
  const renewed = await vera.ask('POST', '/api/auth/page');
  expect((await renewed.json()).token).toMatch(/^ey/);
  expect(await refusalOf(await vera.ask('GET', '/api/rtmp/session?source=rtmp%3A%2F%2Fexample.com%2Flive'))).toEqual([
    403,
    'source_not_allowed',
  ]);
});

test('a viewer sees addresses without what is a key to them', async () => {
  const { box } = await start();
  const [vera, eve] = [await addPerson(box, 'viewer'), await addPerson(box, 'editor')];
  const seen = await (await vera.ask('GET', `${api}/content`)).json();
  expect(seen.content.rssFeeds[0].url).toBe('https://example.com/feed');
  expect(seen.content.playlists[0].slides[0].body).toBe('see <a href="https://h/">https://[h/</a>');
  const whole = await (await eve.ask('GET', `${api}/content`)).json();
  expect(whole.content).toEqual(content);
  await eve.ask('PUT', `${api}/drafts/a`, { title: 'A', base_sha256: null, content });
  expect((await (await vera.ask('GET', `${api}/drafts/a`)).json()).content).toEqual(seen.content);
  const { versions } = await (await vera.ask('GET', `${api}/content/versions`)).json();
  const version = await (await vera.ask('GET', `${api}/content/versions/${versions[0].sha256}`)).text();
  expect(version).not.toMatch(/KEY|MARK/);
});

test('an editor submits, a publisher publishes, and both stand in the version', async () => {
  const { box } = await start();
  const [eve, paul, vera] = [
    await addPerson(box, 'editor', { name: 'Eve' }),
    await addPerson(box, 'publisher', { name: 'Paul' }),
    await addPerson(box, 'viewer'),
  ];
  const { sha256, content: document } = await (await eve.ask('GET', `${api}/content`)).json();
  const draft = {
    title: 'A',
    base_sha256: sha256,
    content: { ...document, screens: document.screens.slice(0, 1) },
    state: 'submitted',
  };
  const saved = await eve.ask('PUT', `${api}/drafts/a`, draft);
  const match = { 'If-Match': saved.headers.get('etag') ?? '' };
  expect(await refusalOf(await eve.ask('POST', `${api}/drafts/a/publish`, undefined, match))).toEqual([
    403,
    'role_required',
  ]);
  expect(await refusalOf(await vera.ask('PUT', `${api}/drafts/a`, draft, match))).toEqual([403, 'role_required']);
  expect((await paul.ask('POST', `${api}/drafts/a/publish`, undefined, match)).status).toBe(200);
  const { versions } = await (await vera.ask('GET', `${api}/content/versions`)).json();
  expect(versions[0]).toMatchObject({
    operator: 'Eve',
    person: { id: eve.id, name: 'Eve' },
    approved_by: { id: paul.id, name: 'Paul' },
  });
  await eve.ask('PUT', `${api}/drafts/b`, draft);
  const other = await addPerson(box, 'editor');
  expect(await refusalOf(await other.ask('DELETE', `${api}/drafts/b`))).toEqual([403, 'role_required']);
  expect((await eve.ask('DELETE', `${api}/drafts/b`)).status).toBe(204);
});
