/** The load that anonymous readers of snapshots cause on peers. */
import { createServer, type IncomingMessage } from 'node:http';
import { expect, test } from 'vitest';
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { emptyPeerState, listenOn, peersOf, startBox, startSite } from './support.ts';

const slugs = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'h'];
const content = {
  screens: slugs.map((slug) => ({ name: slug, slug, playlist_id: 'main' })),
  playlists: [{ id: 'main', slides: [{ kind: 'text', title: 'Hello' }] }],
};

const connectionOf = (slug: string) => ({
  id: `connection-${slug}`,
  clientId: `client-${slug}`,
  clientName: null,
  deviceId: null,
  label: slug,
  userAgent: null,
  viewport: null,
  page: `/screen/${slug}`,
  currentSlide: null,
  currentSlideId: null,
  currentSlideTitle: null,
  paused: false,
  blackout: false,
  clientIp: '192.0.2.1',
  remoteAddress: '192.0.2.1',
  connectedAt: '2026-01-01T00:00:00.000Z',
  lastSeenAt: '2026-01-01T00:00:00.000Z',
});

const notFound = { error: { code: 'not_found', message: 'There is nothing at this path.' } };

/** A peer with one page on each screen, which records the requests. */
const startPeer = async () => {
  const asked: { path: string; at: number }[] = [];
  const answer = ({ url = '' }: IncomingMessage): [number, unknown] => {
    const { pathname, searchParams } = new URL(url, 'http://peer');
    if (pathname === '/api/peers/state') return [200, emptyPeerState];
    if (pathname !== '/api/peers/connections') return [404, notFound];
    asked.push({ path: url, at: performance.now() });
    const wanted = (searchParams.get('screens') ?? slugs.join(',')).split(',');
    return [200, { screens: wanted.map((each) => ({ slug: each, connections: [connectionOf(each)] })) }];
  };
  const url = await listenOn(
    createServer((request, response) => {
      const [status, body] = answer(request);
      response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(body));
    }),
  );
  return { url, asked };
};

const startReader = async () => {
  const peer = await startPeer();
  const box = await startBox([peer], { content });
  await expect.poll(() => peersOf(box), patience).toMatchObject([{ state: 'alive' }]);
  const read = async (slug: string): Promise<ConnectionSnapshot> =>
    (await (await fetch(`${box.url}/api/screens/${slug}/connections`)).json()) as ConnectionSnapshot;
  return { box, read, asked: peer.asked };
};

/** Reads all screens continuously. */
const readFor = async (ms: number, read: (slug: string) => Promise<ConnectionSnapshot>) => {
  const until = performance.now() + ms;
  const seen: ConnectionSnapshot[] = [];
  const readers = slugs.flatMap((slug) => [slug, slug, slug]);
  await Promise.all(
    readers.map(async (slug) => {
      while (performance.now() < until) seen.push(await read(slug));
    }),
  );
  return seen;
};

/** The most requests that arrived within any second. */
const mostASecond = (asked: readonly { at: number }[]): number =>
  Math.max(...asked.map(({ at }) => asked.filter((each) => each.at >= at && each.at < at + 1_000).length));

test('any number of readers and screens causes at most four requests per second to a peer', async () => {
  const { read, asked } = await startReader();
  const seen = await readFor(2_000, read);
  // The sender spaces the rounds; the network may delay one of them.
  expect(mostASecond(asked)).toBeLessThanOrEqual(5);
  expect(seen.length).toBeGreaterThan(slugs.length * 3);
  for (const { screenSlug, connections, degraded } of seen) {
    expect({ degraded, ids: connections.map(({ id }) => id) }).toEqual({
      degraded: false,
      ids: [`connection-${screenSlug}`],
    });
  }
  const wanted = asked.map(({ path }) =>
    new URL(path, 'http://peer').searchParams.get('screens')?.split(',').toSorted(),
  );
  expect(wanted).toContainEqual(slugs);
});

test('neither do names for pages that are on no box', async () => {
  const { box, asked } = await startReader();
  const name = { command: 'setclientname', clientName: 'Door', deviceId: 'device-1', clientId: 'gone' };
  const until = performance.now() + 1_000;
  const send = async (slug: string) => {
    while (performance.now() < until) await box.post(`/api/screens/${slug}/commands`, name);
  };
  await Promise.all(slugs.flatMap((slug) => [send(slug), send(slug)]));
  expect(mostASecond(asked)).toBeLessThanOrEqual(5);
  // Of all screens in one question.
  expect(asked.map(({ path }) => path)).toContain('/api/peers/connections');
});

test('a snapshot is never older than its request, at any request rate', async () => {
  const [one, other] = await startSite();
  for (let count = 0; count < 5; count++) {
    const read = async () => (await (await one.get('/api/screens/lobby/connections')).json()).count;
    expect(await read()).toBe(count);
    await joinScreen(other, 'lobby', { clientId: `client-${count}` });
    expect(await read()).toBe(count + 1);
  }
});

test('a box returns to peers the connections of all screens, or of the requested ones', async () => {
  const box = await startBox([], { content });
  await joinScreen(box, 'b');
  const ask = async (query: string) => {
    const response = await box.get(`/api/peers/connections${query}`);
    const { screens = [], unproven } = (await response.json()) as {
      screens?: { slug: string; connections: object[] }[];
      unproven?: string[];
    };
    expect(unproven).toEqual(response.ok && query === '' ? [] : undefined);
    return [response.status, Object.fromEntries(screens.map(({ slug, connections }) => [slug, connections.length]))];
  };
  expect(await ask('')).toEqual([200, { ...Object.fromEntries(slugs.map((slug) => [slug, 0])), b: 1 }]);
  expect(await ask('?screens=a,b,nowhere')).toEqual([200, { a: 0, b: 1, nowhere: 0 }]);
  for (const bad of ['?screens=', '?screens=A', '?screens=a,,b', '?screens=a&screens=b']) {
    expect((await ask(bad))[0]).toBe(400);
  }
});
