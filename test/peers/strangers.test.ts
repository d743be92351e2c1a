/** Servers at a peer's address that are not peers are named in /healthz, and have no other effect. */
import { createServer, type RequestListener } from 'node:http';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import {
  emptyPeerState,
  listenOn,
  peersOf,
  postTo,
  secret,
  startBox,
  untilTogether,
  withAndWithoutSecret,
} from './support.ts';

const json =
  (body: unknown): RequestListener =>
  (_, response) =>
    void response.setHeader('Content-Type', 'application/json').end(JSON.stringify(body));

/** Sends an endless answer. */
const endless: RequestListener = (_, response) => {
  const more = (): void =>
    void (response.write(Buffer.alloc(64 * 1024, 'x')) ? setImmediate(more) : response.once('drain', more));
  response.on('close', () => response.removeAllListeners('drain'));
  response.on('error', () => {});
  more();
};

const strangers: [string, RequestListener, RegExp][] = [
  ['garbage', (_, response) => void response.end('<!doctype html>'), /not asked for/],
  ['nothing at all', (_, response) => void response.end(), /not asked for/],
  ['another shape', json({ ...emptyPeerState, nodeId: 7 }), /not asked for \(nodeId\)/],
  ['a list', json([emptyPeerState]), /not asked for/],
  ['nesting without end', (_, response) => void response.end('['.repeat(900_000)), /not asked for/],
  ['ten megabytes', (_, response) => void response.end(Buffer.alloc(10 * 1024 ** 2, ' ')), /too large a body/],
  ['without end', endless, /too large a body/],
  [
    'a length that is not so',
    (_, response) => void response.writeHead(200, { 'Content-Length': 99 }).end('{}'),
    /did not answer/,
  ],
  ['an error', (_, response) => void response.writeHead(500).end('{"error":{"code":7}}'), /answers 500/],
  ['a wrong method', (_, response) => void response.writeHead(405).end(), /answers 405/],
  ['silence', () => {}, /did not answer within 1000 ms/],
  ['half an answer', (_, response) => void response.writeHead(200).write('{"nodeId":'), /did not answer/],
  ['a closed door', (request) => void request.socket.destroy(), /cannot be reached/],
];

describe.each(withAndWithoutSecret)('%s', (_, env) => {
  test('a server with an invalid answer is not a peer', async () => {
    const urls = await Promise.all(strangers.map(([, listener]) => listenOn(createServer(listener))));
    const box = await startBox(
      urls.map((url) => ({ url })),
      { env },
    );
    const reasonOf = async (url: string | undefined) =>
      (await peersOf(box)).find((peer) => peer.url === url)?.reason ?? '';
    for (const [index, [name, , reason]] of strangers.entries()) {
      const expected =
        env.SIGNAGE_SHARED_SECRET && /not asked/.test(reason.source) ? /without knowing the secret/ : reason;
      await expect.poll(() => reasonOf(urls[index]), { ...patience, message: name }).toMatch(expected);
    }
    const answer = await (await postTo(box, '/api/screens/lobby/commands', { command: 'next' })).json();
    expect(answer).toMatchObject({ sent: 0, degraded: true });
  });
});

test('a redirect is not followed', async () => {
  const asked: string[] = [];
  const target = await listenOn(
    createServer((request, response) => {
      asked.push(request.url ?? '');
      json(emptyPeerState)(request, response);
    }),
  );
  const url = await listenOn(
    createServer((request, response) => void response.writeHead(307, { Location: target + request.url }).end()),
  );
  const box = await startBox([{ url }]);
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ url, state: 'away', reason: 'answers 307' }]);
  expect(asked).toEqual([]);
});

test('with a secret, a peer has to know it', async () => {
  const url = await listenOn(createServer(json(emptyPeerState)));
  const trusting = await startBox([{ url }]);
  await expect
    .poll(() => peersOf(trusting), patience)
    .toMatchObject([{ nodeId: emptyPeerState.nodeId, state: 'alive' }]);
  const careful = await startBox([{ url }], { env: { SIGNAGE_SHARED_SECRET: secret } });
  const reason = 'answers without knowing the secret';
  await expect.poll(() => peersOf(careful), patience).toMatchObject([{ nodeId: null, state: 'away', reason }]);
});

test('boxes that share a secret are peers even if their clocks differ by an hour or one is set', async () => {
  let ahead = 3_600_000;
  const wall = () => Date.now() + ahead;
  const env = { SIGNAGE_SHARED_SECRET: secret };
  const here = await startBox([], { env });
  const there = await startBox([here], { env, wall });
  await untilTogether([here, there]);
  const url = `${there.url}/api/screens/lobby/socket`;
  const headers = signRequest({ secret, method: 'GET', url, now: wall() });
  const page = await joinScreen(there, 'lobby', {}, { headers });
  const next = () => postTo(here, '/api/screens/lobby/commands', { command: 'next' });
  expect(await (await next()).json()).toMatchObject({ sent: 1, degraded: false });
  await page.message(({ command }) => command === 'next');

  ahead = -3_600_000;
  // Public endpoints work too.
  const snapshot = async () => (await here.get('/api/screens/lobby/connections')).json();
  await expect.poll(snapshot, patience).toMatchObject({ count: 1, degraded: false });
  ahead = 7_200_000;
  expect(await (await next()).json()).toMatchObject({ sent: 1, degraded: false });
});

test('a peer with an invalid answer does not affect the answer of the box', async () => {
  const url = await listenOn(
    createServer((request, response) =>
      json(request.url?.startsWith('/api/peers') ? emptyPeerState : { sent: -1, connections: [{}] })(request, response),
    ),
  );
  const box = await startBox([{ url }]);
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ state: 'alive' }]);
  await joinScreen(box, 'lobby');
  const answer = await (await postTo(box, '/api/screens/lobby/commands', { command: 'next' })).json();
  expect(answer).toMatchObject({ sent: 1, degraded: true });
  const snapshot = await (await box.get('/api/screens/lobby/connections')).json();
  expect(snapshot).toMatchObject({ count: 1, degraded: true });
});

test('a peer without the screen does not degrade the answer', async () => {
  const url = await listenOn(
    createServer((request, response) => {
      if (!request.url?.startsWith('/api/screens')) return json(emptyPeerState)(request, response);
      response.statusCode = 404;
      json({ error: { code: 'screen_not_found', message: 'There is no screen with this slug.' } })(request, response);
    }),
  );
  const box = await startBox([{ url }]);
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ state: 'alive' }]);
  const answer = await (await postTo(box, '/api/screens/lobby/commands', { command: 'next' })).json();
  expect(answer).toMatchObject({ sent: 0, degraded: false });
});

test.each([
  ['without a secret it is sent commands all the same', {}, 1],
  ['with a secret it is sent none', { SIGNAGE_SHARED_SECRET: secret }, 0],
])('a static peer that does not name itself is believed nothing: %s', async (_, env, sent) => {
  const posts: unknown[] = [];
  const url = await listenOn(
    createServer((request, response) => {
      if (request.method === 'POST') posts.push(request.url);
      json({ sent: 1, connections: [] })(request, response);
    }),
  );
  const box = await startBox([{ url }], { env });
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ nodeId: null, state: 'away' }]);
  await postTo(box, '/api/screens/lobby/commands', { command: 'next' });
  expect(posts).toEqual(Array.from({ length: sent }, () => '/api/screens/lobby/commands'));
});

test('a box with two addresses is one peer', async () => {
  const one = await startBox([]);
  const port = new URL(one.url).port;
  const other = await startBox([one, { url: `http://localhost:${port}` }]);
  const { nodeId } = await (await one.get('/healthz')).json();
  await expect.poll(() => peersOf(other), patience).toMatchObject([{ nodeId, state: 'alive' }]);
  await joinScreen(one, 'lobby');
  const answer = await (await postTo(other, '/api/screens/lobby/commands', { command: 'next' })).json();
  expect(answer).toMatchObject({ sent: 1, degraded: false });
});

test('a box is not its own peer, and a box with a copied node id is reported', async () => {
  const one = await startBox([]);
  const { nodeId } = await (await one.get('/healthz')).json();
  const SIGNAGE_PORT = new URL(one.url).port;
  await one.close();
  const url = await listenOn(createServer(json({ ...emptyPeerState, nodeId, startedAt: Date.now() + 3_600_000 })));
  const box = await startBox([one, { url }], { dataDir: one.dataDir, env: { SIGNAGE_PORT } });
  await expect.poll(() => box.log(), patience).toContain('is this box itself');
  const copy = { nodeId: null, url, state: 'away', reason: expect.stringContaining('same node id') };
  await expect.poll(() => peersOf(box), patience).toMatchObject([copy]);
});
