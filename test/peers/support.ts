/** A site: several real services on one machine; each is configured with the first as static peer. */
import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import type { AddressInfo, Server, Socket } from 'node:net';
import { pino } from 'pino';
import { afterAll, beforeAll, beforeEach, expect, onTestFinished } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { bindingBuckets } from '../../service/contract/gossip.ts';
import type { PeerHealth } from '../../service/contract/health.ts';
import { type DeviceBinding, type PeerState, protocol } from '../../service/contract/peers.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { isSoak } from '../support/soak.ts';

export const secret = 'a secret of all the boxes of a site';

/** As rows of `describe.each`: the settings of a site without a secret, and of one with it. */
export const withAndWithoutSecret: readonly (readonly [title: string, env: Record<string, string>])[] = [
  ['without a secret', {}],
  ['with a secret', { SIGNAGE_SHARED_SECRET: secret }],
];

/** With a secret, which is the stricter way; `npm run soak` runs both. */
export const secretModes = withAndWithoutSecret.slice(isSoak ? 0 : 1);

type Setup = NonNullable<Parameters<typeof startTestService>[0]>;
type OnEnd = Parameters<typeof startTestService>[1];

/** The state of a box that has nothing to share; tests put it behind addresses of their own. */
export const emptyPeerState: PeerState = {
  nodeId: '00000000-0000-4000-8000-000000000000',
  instance: 'another',
  site: 'default',
  protocol,
  version: '1.0.0',
  serverTime: 0,
  startedAt: 0,
  seq: 0,
  peers: [],
  content: null,
  bindings: '0'.repeat(64),
  media: '0'.repeat(64),
  takeovers: '0'.repeat(64),
};

/** What a part of the module receives in a test by fake timers: its waiting times are those of a box. */
export const unitContext = () => ({
  logs: () => pino({ level: 'silent' }),
  ids: { nodeId: randomUUID(), instance: 'one' },
  now: () => Date.now(),
  monotonicNow: () => Date.now(),
  random: Math.random,
  tempo: defaultTempo,
});

/** Starts a box with the given static peers. */
export const startBox = (peers: readonly Pick<TestService, 'url'>[], { env, ...setup }: Setup = {}, onEnd?: OnEnd) =>
  startTestService(
    {
      content: lobby,
      ...setup,
      env: { SIGNAGE_PEERS: peers.map(({ url }) => url).join(','), ...env },
    },
    onEnd,
  );

export const peersOf = async (box: Pick<TestService, 'get'>): Promise<PeerHealth[]> => {
  const health = (await (await box.get('/healthz')).json()) as { peers: PeerHealth[] };
  return health.peers;
};

export const aliveAt = async (box: Pick<TestService, 'get'>): Promise<number> =>
  (await peersOf(box)).filter(({ state }) => state === 'alive').length;

/** Waits until all boxes are peers of each other. */
export const untilTogether = async (boxes: readonly Pick<TestService, 'get'>[]): Promise<void> => {
  for (const box of boxes) await expect.poll(() => aliveAt(box), patience).toBe(boxes.length - 1);
};

type Site = [TestService, TestService, ...TestService[]];

const startBoxes = async (setup: Setup, more: number, onEnd?: OnEnd): Promise<Site> => {
  const first = await startBox([], setup, onEnd);
  const second = await startBox([first], setup, onEnd);
  return [first, second, ...(await Promise.all(Array.from({ length: more }, () => startBox([first], setup, onEnd))))];
};

/** Starts two or more boxes that are peers: the first is the static peer of the others. */
export const startSite = async (setup: Setup = {}, more = 0): Promise<Site> => {
  const boxes = await startBoxes(setup, more);
  await untilTogether(boxes);
  return boxes;
};

/** Two boxes that are peers, for all the tests of a group, which leave them as they were but for pages that close. */
export const shareSite = (setup: Setup = {}): (() => Site) => {
  const ends: (() => void | Promise<void>)[] = [];
  let boxes: Site;
  beforeAll(async () => {
    boxes = await startBoxes(setup, 0, (end) => ends.unshift(end));
  });
  beforeEach(async () => {
    await untilTogether(boxes);
    const pages = async () => (await (await boxes[0].get('/api/screens/lobby/connections')).json()).count;
    await expect.poll(pages, patience).toBe(0);
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => boxes;
};

/** Posts with a signature if the site has a secret. */
export const postTo = (
  box: Pick<TestService, 'url' | 'post'>,
  path: string,
  body: object,
  headers: Record<string, string> = {},
) =>
  box.post(path, body, {
    ...signRequest({ secret, method: 'POST', url: box.url + path, body: JSON.stringify(body) }),
    ...headers,
  });

/** Opens a page at the lobby of a box, signed if the site has a secret. */
export const joinLobby = (box: Pick<TestService, 'url'>, says?: Parameters<typeof joinScreen>[2]) => {
  const url = `${box.url}/api/screens/lobby/socket`;
  return joinScreen(box, 'lobby', says, { headers: signRequest({ secret, method: 'GET', url }) });
};

/** All bindings that a box knows: those in the buckets that differ from a box without any. */
export const bindingsOf = async (box: Pick<TestService, 'url'>): Promise<DeviceBinding[]> => {
  const url = `${box.url}/api/peers/bindings/differing`;
  const body = JSON.stringify({ digests: '0'.repeat(8 * bindingBuckets) });
  const headers = { 'Content-Type': 'application/json', ...signRequest({ secret, method: 'POST', url, body }) };
  return ((await (await fetch(url, { method: 'POST', body, headers })).json()) as { bindings: DeviceBinding[] })
    .bindings;
};

/** Starts a server on this machine; closes it after the test. */
export const listenOn = async (server: Server, port = 0): Promise<string> => {
  const sockets = new Set<Socket>();
  server.on('connection', (socket: Socket) => sockets.add(socket));
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy();
    server.close();
  });
  server.listen(port, '127.0.0.1');
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};
