/** Many commands at once at every box of a site: each page hears each of them exactly once. */
import { createServer } from 'node:http';
import { connect } from 'node:net';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { PeerState } from '../../service/contract/peers.ts';
import { startBenchService } from '../bench/service.ts';
import { logged, patience } from '../support/observe.ts';
import { repeats, walk } from '../support/soak.ts';
import {
  aliveAt,
  emptyPeerState,
  joinLobby,
  listenOn,
  secret,
  secretModes,
  startBox,
  untilTogether,
} from './support.ts';

const warningsAt = async (box: Box, url: string): Promise<string[]> => {
  const { warnings } = (await (await box.get('/healthz')).json()) as { warnings: string[] };
  return warnings.filter((each) => each.includes(url));
};

const BURST = repeats(40, 1_000, 'SIGNAGE_TEST_BURST');
const path = '/api/screens/lobby/commands';

interface Box {
  url: string;
  get(path: string): Promise<Response>;
}

/** A box in a process of its own. */
const startAlone = async (env: Record<string, string>): Promise<Box> => {
  const { url, stop } = await startBenchService(env);
  onTestFinished(stop);
  return { url, get: (asked) => fetch(url + asked) };
};

/** Sends a redirect over a connection of its own, in one write; resolves with the status line. */
const send = (box: Box, url: string): Promise<string> => {
  const body = JSON.stringify({ command: 'redirect', url });
  const { hostname, port, host } = new URL(box.url);
  const signed = Object.entries(signRequest({ secret, method: 'POST', url: box.url + path, body }));
  const head = [
    `POST ${path} HTTP/1.1`,
    ...[`Host: ${host}`, 'Connection: close', 'Content-Type: application/json', `Content-Length: ${body.length}`],
    ...signed.map(([name, value]) => `${name}: ${value}`),
  ];
  return new Promise((resolve, reject) => {
    const socket = connect({ host: hostname, port: Number(port) }, () =>
      socket.write(`${head.join('\r\n')}\r\n\r\n${body}`),
    );
    let answer = '';
    socket.on('data', (data) => {
      answer += String(data);
    });
    socket.on('end', () => resolve(answer.split('\r\n')[0] ?? ''));
    socket.on('error', reject);
  });
};

describe.each(secretModes)('%s', (_, env) => {
  test(`${BURST} commands at once at each of 3 boxes are heard exactly once by the pages of all`, {
    ...walk,
    timeout: 120_000,
  }, async () => {
    const first = await startAlone(env);
    const others = await Promise.all([0, 1].map(() => startAlone({ ...env, SIGNAGE_PEERS: first.url })));
    const boxes = [first, ...others];
    await untilTogether(boxes);
    const pages = await Promise.all(boxes.map((box) => joinLobby(box)));
    const all = boxes.flatMap((box, at) => Array.from({ length: BURST }, (__, n) => ({ box, n: at * BURST + n })));
    const statuses = await Promise.all(all.map(({ box, n }) => send(box, `/screen/lobby?n=${n}`)));
    expect(new Set(statuses)).toEqual(new Set(['HTTP/1.1 200 OK']));
    const wanted = all.map(({ n }) => `/screen/lobby?n=${n}`).toSorted();
    for (const page of pages) {
      const heard = () => page.messages.filter(({ command }) => command === 'redirect').map(({ url }) => String(url));
      await expect.poll(() => heard().length, { timeout: 20_000 }).toBeGreaterThanOrEqual(all.length);
      expect(heard().toSorted()).toEqual(wanted);
    }
  });
});

test.each([
  ['commands alone', (path: string) => path.startsWith('/api/peers/')],
  ['all but its state', (path: string) => path === '/api/peers/state'],
])('a peer that hangs on %s degrades answers, delays one, and is named until it answers', async (_, isAnswered) => {
  const state: PeerState = emptyPeerState;
  let isBack = false;
  const url = await listenOn(
    createServer((request, response) => {
      response.setHeader('Content-Type', 'application/json');
      const [asked = ''] = (request.url ?? '').split('?');
      if (asked.endsWith('/commands')) return isBack && response.end('{"sent":0}');
      if (isBack || isAnswered(asked)) response.end(JSON.stringify(state));
    }),
  );
  const live = await startBox([]);
  const box = await startBox([live, { url }]);
  await expect.poll(() => aliveAt(box), patience).toBe(2);
  const page = await joinLobby(live);
  const command = async () => {
    const startedAt = performance.now();
    const answer = await (await box.post(path, { command: 'next' })).json();
    return { ...answer, ms: performance.now() - startedAt };
  };
  expect(await command()).toMatchObject({ sent: 1, degraded: true });
  const later: { sent: number; degraded: boolean; ms: number }[] = [];
  for (let n = 0; n < 27; n++) later.push(await command());
  expect(later.filter(({ sent, degraded }) => sent !== 1 || !degraded)).toEqual([]);
  // Far less than the second that the peer would cost.
  expect(Math.max(...later.map(({ ms }) => ms))).toBeLessThan(700);
  await expect.poll(() => page.messages.filter((each) => each.command === 'next').length, patience).toBe(28);
  const named = () => warningsAt(box, url);
  expect(logged(box, 'a peer does not answer, and is left out until it does')).toHaveLength(1);
  if (isAnswered('/api/peers/time')) expect(await named()).toEqual([expect.stringContaining('answers leave it out')]);
  isBack = true;
  await expect.poll(async () => (await command()).degraded || (await named()).length > 0, patience).toBe(false);
});

test(
  'a peer that hangs on all that is gathered degrades each overview and list of connections, and delays one',
  walk,
  async () => {
    const url = await listenOn(
      createServer((request, response) => {
        const isState = request.url?.startsWith('/api/peers/state') === true || request.method === 'POST';
        if (isState) response.setHeader('Content-Type', 'application/json').end(JSON.stringify(emptyPeerState));
      }),
    );
    const box = await startBox([{ url }]);
    await expect.poll(() => aliveAt(box), patience).toBe(1);
    const begunAt = performance.now();
    const plays = await box.get('/console/api/plays');
    expect([plays.headers.get('x-signage-degraded'), await plays.json()]).toEqual(['true', []]);
    // It is not given the time that the first plays of a slow box may take.
    expect(performance.now() - begunAt).toBeLessThan(5_000);
    for (const asked of ['/console/api/site', '/api/screens/lobby/connections']) {
      const answers: boolean[] = [];
      const ask = async () => answers.push((await (await box.get(asked)).json()).degraded);
      await ask();
      const startedAt = performance.now();
      for (let n = 0; n < 4; n++) await ask();
      expect(performance.now() - startedAt).toBeLessThan(2_800);
      expect([asked, answers]).toEqual([asked, answers.map(() => true)]);
    }
  },
);
