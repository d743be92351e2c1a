/** A box that speaks another protocol takes commands alone. */
import { createServer } from 'node:http';
import { expect, test } from 'vitest';
import type { PeerState } from '../../service/contract/peers.ts';
import { patience } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import { joinScreen } from '../support/page.ts';
import { emptyPeerState, listenOn, peersOf, startBox } from './support.ts';

test('a box tells its protocol and its version', async () => {
  const box = await startBox([]);
  const state = (await (await box.get('/api/peers/state')).json()) as PeerState;
  expect(state).toMatchObject({ protocol: 1, version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
});

test('a box of another protocol is named, takes commands over the command API, is sent nothing else, and degrades what lacks it', async () => {
  const asked: string[] = [];
  let relayed: string | string[] | undefined;
  const url = await listenOn(
    createServer((request, response) => {
      const path = `${request.method} ${request.url?.split('?')[0]}`;
      asked.push(path);
      if (path === 'POST /api/screens/lobby/commands') relayed = request.headers['x-signage-relay'];
      const { nodeId, site, content } = {
        ...emptyPeerState,
        content: { counter: 9, nodeId: 'b', sha256: '0'.repeat(64) },
      };
      const answers: Record<string, object> = {
        'GET /api/peers/state': { nodeId, site, protocol: 2, version: '3.0.0', content, more: true },
        'POST /api/screens/lobby/commands': { sent: 2, degraded: false },
      };
      const answer = answers[path];
      response.writeHead(answer === undefined ? 404 : 200, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(answer ?? { error: { code: 'not_found', message: 'There is nothing.' } }));
    }),
  );
  const box = await startBox([{ url }]);
  const reason = expect.stringContaining('speaks protocol 2 (version 3.0.0)');
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ url, state: 'away', reason }]);
  const page = await joinScreen(box, 'lobby');
  const answer = await (await box.post('/api/screens/lobby/commands', { command: 'next' })).json();
  expect(answer).toMatchObject({ sent: 3, degraded: false });
  await page.message(({ command }) => command === 'next');
  expect(relayed).toMatch(/^[\w-]{36}$/);
  box.writeContent({ screens: [{ name: 'Lobby', slug: 'lobby' }] });
  await box.post('/api/onboarding', { deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'lobby' });
  const operator = createOperator(box, null);
  const takeover = { targets: ['lobby'], level: 'info', title: 'Drill', until: new Date(Date.now() + 60_000) };
  expect((await operator('PUT', '/console/api/takeovers/drill', takeover)).status).toBe(201);
  expect((await operator('DELETE', '/console/api/devices/device-1')).status).toBe(204);
  const read = async (path: string) => (await box.get(path)).json();
  expect(await read('/api/screens/lobby/connections')).toMatchObject({ count: 1, degraded: true });
  const boxes = [{ status: 'here' }, { url, status: 'away' }];
  expect(await read('/console/api/site')).toMatchObject({ boxes, degraded: true });
  expect((await box.get('/console/api/plays')).headers.get('x-signage-degraded')).toBe('true');
  const others = asked.filter((path) => path.includes('/api/peers/') && path !== 'GET /api/peers/state');
  expect(others.filter((path) => path !== 'GET /api/peers/time')).toEqual([]);
  expect(asked).toContain('POST /api/onboarding');
});

test('a box that does not gossip is asked for its state, again and again, and at a refresh', async () => {
  let asked = 0;
  const url = await listenOn(
    createServer((request, response) => {
      const isState = request.url?.startsWith('/api/peers/state') === true;
      if (isState) asked += 1;
      response.writeHead(isState ? 200 : 404, { 'Content-Type': 'application/json' });
      response.end(JSON.stringify(isState ? emptyPeerState : { error: { code: 'not_found', message: 'No.' } }));
    }),
  );
  const box = await startBox([{ url }]);
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ state: 'alive' }]);
  await expect.poll(() => asked, patience).toBeGreaterThan(3);
  const before = asked;
  await box.post('/api/screens/lobby/commands', { command: 'refresh' }, { 'x-signage-relay': emptyPeerState.nodeId });
  await expect.poll(() => asked, patience).toBeGreaterThan(before);
});
