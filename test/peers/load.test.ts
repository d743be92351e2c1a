/**
 * Anonymous readers at one box of two, as many as the machine can make, while operators send commands to both. A short
 * run; SIGNAGE_TEST_FLOOD_SECONDS and SIGNAGE_TEST_FLOOD_CLIENTS set a longer and a harder one.
 */
import { fork } from 'node:child_process';
import { once } from 'node:events';
import { connect, createServer } from 'node:net';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startBenchService } from '../bench/service.ts';
import type { TestService } from '../support/service.ts';
import { repeats, walk } from '../support/soak.ts';
import { joinLobby, listenOn, postTo, secret, untilTogether } from './support.ts';

const SECONDS = repeats(2, 600, 'SIGNAGE_TEST_FLOOD_SECONDS');
/** Each client waits for the next round: 1,250 of them make 5,000 requests a second. */
const CLIENTS = repeats(64, 1_250, 'SIGNAGE_TEST_FLOOD_CLIENTS');

/** A TCP proxy that counts requests. */
const startCounter = async (port: number) => {
  const counted = { requests: 0 };
  const url = await listenOn(
    createServer((client) => {
      const box = connect(port, '127.0.0.1');
      client.on('data', (data) => {
        counted.requests += data.toString('latin1').split(/^(?:GET|POST) \/api\//m).length - 1;
      });
      for (const socket of [client, box]) socket.on('error', () => socket.destroy());
      client.on('close', () => box.destroy());
      client.pipe(box).pipe(client);
    }),
  );
  return { url, counted };
};

/** A box in a process of its own, so that the load on the other box does not slow it down. */
const startBox = async (env: Record<string, string>): Promise<Pick<TestService, 'url' | 'get' | 'post'>> => {
  const { url, stop } = await startBenchService({ SIGNAGE_SHARED_SECRET: secret, ...env });
  onTestFinished(stop);
  return {
    url,
    get: (path) => fetch(url + path),
    post: (path, body, headers = {}) =>
      fetch(url + path, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json', ...headers },
        body: JSON.stringify(body),
      }),
  };
};

test(`${SECONDS} s of anonymous readers leave signed commands working on both boxes, and cost the peer four requests a second`, {
  ...walk,
  timeout: (SECONDS + 60) * 1_000,
}, async () => {
  const other = await startBox({});
  const { url, counted } = await startCounter(Number(new URL(other.url).port));
  const read = await startBox({ SIGNAGE_PEERS: url });
  await untilTogether([read, other]);
  await joinLobby(read);
  await joinLobby(other);

  const reader = fork(
    join(import.meta.dirname, 'readers-worker.ts'),
    [`${read.url}/api/screens/lobby/connections`, String(CLIENTS), String(SECONDS)],
    { execArgv: ['--import', 'tsx'] },
  );
  onTestFinished(() => void reader.kill());
  const ended = once(reader, 'message') as Promise<[{ answers: number; wrong: number }]>;
  await once(reader, 'spawn');
  const before = counted.requests;
  const begun = performance.now();
  const until = begun + SECONDS * 1_000;
  let commands = 0;
  while (performance.now() < until) {
    for (const box of [read, other]) {
      const answer = await postTo(box, '/api/screens/lobby/commands', { command: 'next' });
      expect(await answer.json()).toMatchObject({ sent: 2, degraded: false });
      commands += 1;
    }
    await pause(100);
  }
  const [{ answers, wrong }] = await ended;
  const tookSeconds = (performance.now() - begun) / 1_000;
  // The remaining requests are one relay per command at the box under load, and a few state exchanges.
  const rounds = counted.requests - before - commands / 2;
  console.log(`${answers} answers in ${SECONDS} s, ${commands} commands, ${rounds} other requests to the peer`);
  expect(wrong).toBe(0);
  expect(answers).toBeGreaterThan(SECONDS * 100);
  // As long as it took: a busy machine begins late, and may still exchange what boxes that have just met lack.
  expect(rounds).toBeLessThanOrEqual(tookSeconds * 5 + 20);
});
