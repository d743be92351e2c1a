/** A command at any box reaches the pages at every box, each exactly once. */
import { createServer } from 'node:net';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { connectionSnapshot } from '../../service/contract/connections.ts';
import { lobby } from '../content/samples.ts';
import { openLanding } from '../devices/support.ts';
import { joinScreen, type TestPage } from '../support/page.ts';
import type { TestService } from '../support/service.ts';
import {
  aliveAt,
  joinLobby,
  listenOn,
  postTo,
  secret,
  shareSite,
  startBox,
  startSite,
  untilTogether,
  withAndWithoutSecret,
} from './support.ts';

const path = '/api/screens/lobby/commands';
const next = { command: 'next' };

/** How often each page received `next`, once all have received a later command. */
const counts = async (box: TestService, pages: readonly TestPage[]): Promise<number[]> => {
  await postTo(box, path, { command: 'reload' });
  await Promise.all(pages.map((page) => page.message(({ command }) => command === 'reload')));
  return pages.map(({ messages }) => messages.filter(({ command }) => command === 'next').length);
};

const answerOf = async (box: TestService, body: object, headers?: Record<string, string>) => {
  const response = await postTo(box, path, body, headers);
  return { status: response.status, ...(await response.json()) };
};

describe.each(withAndWithoutSecret)('%s', (_, env) => {
  test('a command at any box reaches every connection of the screen on every box once', async () => {
    const boxes = await startSite({ env }, 1);
    const join = (box: TestService, clientId: string) => joinLobby(box, { clientId });
    const pages = [
      await join(boxes[0], 'a'),
      await join(boxes[0], 'b'),
      ...(await Promise.all(boxes.slice(1).map((box, n) => join(box, `c${n}`)))),
    ];
    for (const box of boxes) {
      expect(await answerOf(box, next)).toMatchObject({ sent: 4, connectionId: null, degraded: false });
    }
    expect(await counts(boxes[1], pages)).toEqual([3, 3, 3, 3]);
  });
});

test('copies of one request, signed for one box after the other, are carried out once at the site', async () => {
  const boxes = await startSite({ env: { SIGNAGE_SHARED_SECRET: secret } });
  const pages = await Promise.all(boxes.map((box) => joinLobby(box)));
  const nonce = 'the-nonce-of-all-copies';
  const bodies = [];
  for (const { url, nodeId: recipient, post } of boxes) {
    const signed = { secret, method: 'POST', url: url + path, body: JSON.stringify(next), recipient, nonce };
    bodies.push(await (await post(path, next, signRequest(signed))).json());
  }
  expect(bodies).toMatchObject([{ sent: 2 }, { sent: 2 }]);
  expect(await counts(boxes[0], pages)).toEqual([1, 1]);
});

describe('two boxes', () => {
  const bar = { name: 'Bar', slug: 'bar', playlist_id: 'welcome' };
  const site = shareSite({ content: { ...lobby, screens: [...lobby.screens, bar] } });

  describe('a target', () => {
    test.each(['here', 'there'] as const)('that is %s is the only one that is reached', async (place) => {
      const [one, other] = site();
      const here = await joinScreen(one, 'lobby', { clientId: 'here' });
      const there = await joinScreen(other, 'lobby', { clientId: 'there' });
      const { connectionId } = place === 'here' ? here : there;
      for (const target of [{ connectionId }, { clientId: place }, { connectionId, clientId: place }]) {
        expect(await answerOf(one, { ...next, ...target })).toMatchObject({ connectionId, sent: 1, degraded: false });
      }
      expect(await counts(one, [here, there])).toEqual(place === 'here' ? [3, 0] : [0, 3]);
    });

    test('by clientId is its newest connection on any box', async () => {
      const [one, other] = site();
      const pages = [await joinScreen(one, 'lobby'), await joinScreen(other, 'lobby')];
      const { connectionId } = pages[1] ?? {};
      expect(await answerOf(one, { ...next, clientId: 'client-1' })).toMatchObject({ connectionId, sent: 1 });
      expect(await counts(one, pages)).toEqual([0, 1]);
    });

    test('that is connected to no box is no error', async () => {
      const [one] = site();
      expect(await answerOf(one, { ...next, clientId: 'gone' })).toMatchObject({ connectionId: null, sent: 0 });
      expect(await answerOf(one, { ...next, connectionId: 'gone' })).toMatchObject({ connectionId: 'gone', sent: 0 });
    });

    test('that names two clients is refused, even if they are on another box', async () => {
      const [one, other] = site();
      const { connectionId } = await joinScreen(other, 'lobby');
      const answer = await answerOf(one, { ...next, connectionId, clientId: 'another' });
      expect(answer).toMatchObject({ status: 400, error: { code: 'invalid_field', field: 'clientId' } });
    });

    test('that names two clients reaches no client on any box', async () => {
      const [one, other] = site();
      const { connectionId } = await joinScreen(other, 'lobby', { deviceId: 'device-1' });
      const rename = { command: 'setclientname', deviceId: 'device-1', clientName: 'Front door' };
      expect(await answerOf(one, { ...rename, connectionId, clientId: 'another' })).toMatchObject({ status: 400 });
      for (const box of [one, other]) {
        const status = await (await box.get('/api/onboarding/status?deviceId=device-1')).json();
        expect(status.clientName).toBeNull();
      }
      expect(await answerOf(one, { ...rename, connectionId, clientId: 'client-1' })).toMatchObject({ sent: 1 });
    });
  });

  test('a relayed command is not relayed again', async () => {
    const [one, other] = site();
    const pages = [await joinScreen(one, 'lobby'), await joinScreen(other, 'lobby')];
    expect(await answerOf(one, next, { 'x-signage-relay': 'another-box' })).toMatchObject({ sent: 1, degraded: false });
    expect(await counts(one, pages)).toEqual([1, 0]);
  });

  test('a request addressed to another box is not carried out', async () => {
    const [one] = site();
    const answer = await answerOf(one, next, { 'x-signage-relay': 'a', 'x-signage-recipient': 'b' });
    expect(answer).toMatchObject({ status: 421, error: { code: 'misdirected' } });
  });

  test('a new name reaches the device on any box, however its id is typed, and every box stores it', async () => {
    const [one, other] = site();
    const page = await joinScreen(other, 'lobby', { deviceId: '4K7QM3X9FT2WD0AZ' });
    const rename = { command: 'setclientname', deviceId: '4K7Q M3X9 FT2W D0AZ', clientName: 'Front door' };
    expect(await answerOf(one, rename)).toMatchObject({ sent: 1 });
    expect(await page.message(({ command }) => command === 'setclientname')).toMatchObject({
      clientName: 'Front door',
    });
    for (const box of [one, other]) {
      const status = await (await box.get('/api/onboarding/status?deviceId=4k7q-m3x9-ft2w-d0az')).json();
      expect(status.clientName).toBe('Front door');
    }
  });

  test('a name is for the target on whatever screen and box it is, and for none of another device', async () => {
    const [one, other] = site();
    const mine = await joinScreen(other, 'bar', { deviceId: 'device-3', clientId: 'mine' });
    const theirs = await joinScreen(other, 'bar', { deviceId: 'device-4', clientId: 'theirs' });
    const rename = { command: 'setclientname', deviceId: 'device-3', clientName: 'Counter' };
    for (const target of [{ connectionId: theirs.connectionId }, { clientId: 'theirs' }]) {
      const refused = await answerOf(one, { ...rename, ...target });
      expect(refused).toMatchObject({ status: 400, error: { code: 'invalid_field', field: 'deviceId' } });
    }
    const status = await (await one.get('/api/onboarding/status?deviceId=device-3')).json();
    expect(status.clientName).toBeNull();
    const { connectionId } = mine;
    for (const target of [{ connectionId }, { clientId: 'mine' }, { connectionId, clientId: 'mine' }]) {
      expect(await answerOf(one, { ...rename, ...target })).toMatchObject({ connectionId, sent: 1, degraded: false });
    }
    expect(await answerOf(one, { ...rename, clientId: 'gone' })).toMatchObject({ connectionId: null, sent: 0 });
    // What was sent to it before has arrived by then.
    await postTo(one, '/api/screens/bar/commands', { command: 'reload' });
    await theirs.message(({ command }) => command === 'reload');
    expect(theirs.messages.filter(({ command }) => command === 'setclientname')).toEqual([]);
  });

  test('a landing page on another box is notified of its binding at once', async () => {
    const [one, other] = site();
    const page = await openLanding(other, 'device-2');
    const binding = { deviceId: 'device-2', clientName: 'Front desk', screenSlug: 'lobby' };
    expect(await (await one.post('/api/onboarding', binding)).json()).toMatchObject({ queued: false });
    expect(await page.message(({ onboarded }) => onboarded === true)).toMatchObject({ clientName: 'Front desk' });
  });

  test('the snapshot has the connections of every box, oldest first', async () => {
    const [one, other] = site();
    for (const [box, clientId] of [
      [other, 'a'],
      [one, 'b'],
      [other, 'c'],
    ] as const) {
      await joinScreen(box, 'lobby', { clientId });
    }
    for (const box of [one, other]) {
      const snapshot = await (await box.get('/api/screens/lobby/connections')).json();
      expect(snapshot).toMatchObject({ count: 3, degraded: false });
      const { connections } = connectionSnapshot.parse(snapshot);
      expect(new Set(connections.map(({ clientId }) => clientId))).toEqual(new Set(['a', 'b', 'c']));
      const times = connections.map(({ connectedAt }) => connectedAt);
      expect(times).toEqual(times.toSorted());
    }
    const relayed = await one.get('/api/screens/lobby/clients', { headers: { 'x-signage-relay': 'another-box' } });
    expect(await relayed.json()).toMatchObject({ count: 1, degraded: false });
  });
});

describe('a peer that is away', () => {
  test('degrades the answer until it is back', async () => {
    const [one, other] = await startSite();
    const port = Number(new URL(other.url).port);
    await other.close();
    expect((await answerOf(one, next)).degraded).toBe(true);
    expect((await (await one.get('/api/screens/lobby/connections')).json()).degraded).toBe(true);
    const back = await startBox([one], { dataDir: other.dataDir, env: { SIGNAGE_PORT: String(port) } });
    await untilTogether([one, back]);
    expect((await answerOf(one, next)).degraded).toBe(false);
  });

  test('degrades the answer if it has never answered', async () => {
    const one = await startBox([{ url: 'http://127.0.0.1:9' }]);
    expect((await answerOf(one, next)).degraded).toBe(true);
  });

  test('degrades every answer if it hangs, and delays only the first one, by a second', async () => {
    const [one, other] = await startSite();
    const port = Number(new URL(other.url).port);
    await other.close();
    // It accepts connections and never answers, like a machine whose program hangs.
    const heard: string[] = [];
    await listenOn(
      createServer((socket) => socket.on('data', (data) => heard.push(String(data)))),
      port,
    );
    expect((await answerOf(one, next)).degraded).toBe(true);
    const startedAt = performance.now();
    for (let n = 0; n < 9; n++) expect((await answerOf(one, next)).degraded).toBe(true);
    expect(performance.now() - startedAt).toBeLessThan(4_500);
    // None if the first command was sent over a connection to the previous box.
    expect(heard.filter((request) => request.startsWith('POST /api/screens')).length).toBeLessThanOrEqual(1);
    expect(await aliveAt(one)).toBe(0);
  });

  test('does not degrade the answer if the target was reached', async () => {
    const one = await startBox([{ url: 'http://127.0.0.1:9' }]);
    const { connectionId } = await joinScreen(one, 'lobby');
    expect(await answerOf(one, { ...next, connectionId })).toMatchObject({ sent: 1, degraded: false });
  });
});
