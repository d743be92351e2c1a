/** Large answers and bodies: clients that ask for many at once, and clients that stop in the middle. */
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { request as httpRequest, IncomingMessage, ServerResponse } from 'node:http';
import { Socket } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished, test, vi } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { endIfUnread } from '../../service/http/transfers.ts';
import { lobby, lobbyWith } from '../content/samples.ts';
import { startHeadless } from '../platform/options/process.ts';
import { playAgo } from '../records/plays/pages.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret as secret, secretSettings } from '../support/operator.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { repeats, walk } from '../support/soak.ts';
import { connectTo, hostLine } from './raw.ts';

const gets = repeats(100, 1_000, 'SIGNAGE_TEST_GETS');
const MIB = 1024 ** 2;

interface Asked {
  method?: string;
  headers?: Record<string, string>;
  /** The address of the client. */
  from?: string;
  body?: string;
}

/** Sends a request; the answer is not read until its caller does. */
const ask = async (url: string, { method = 'GET', headers = {}, from = '127.0.0.1', body }: Asked = {}) => {
  const request = httpRequest(url, { method, headers, localAddress: from, agent: false });
  onTestFinished(() => void request.destroy());
  if (body === undefined) request.flushHeaders();
  if (method === 'GET' || body !== undefined) request.end(body);
  const [response] = (await once(request, 'response')) as [IncomingMessage];
  response.on('error', () => undefined);
  return response;
};
const statusOf = async (...asked: Parameters<typeof ask>): Promise<number | undefined> => {
  const response = await ask(...asked);
  response.destroy();
  return response.statusCode;
};

const publishing = { method: 'PUT', headers: { 'Content-Type': 'application/json', 'If-Match': '*' } };

test(`${gets} parallel requests for versions of 3 MB, old and new, take little memory`, {
  ...walk,
  timeout: 60_000,
}, async ({ annotate, skip }) => {
  if (process.platform !== 'linux') skip();
  const slides = Array.from({ length: 3_000 }, (_, index) => ({
    kind: 'text',
    title: `${index} ${'x'.repeat(1_000)}`,
  }));
  const box = startHeadless({ SIGNAGE_DATA_DIR: temporaryFolder(), SIGNAGE_LOG_LEVEL: 'silent' });
  const path = `${await box.ready()}/console/api/content`;
  const put = async (content: object) =>
    (await (await fetch(path, { ...publishing, body: JSON.stringify(content) })).json()) as { sha256: string };
  const { sha256 } = await put(lobbyWith(slides));
  await put(lobbyWith(slides.toReversed()));
  const peak = () => Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${box.child.pid}/status`, 'utf8'))?.[1]) / 1024;
  const before = peak();
  const read = async (_: unknown, index: number): Promise<number> => {
    let bytes = 0;
    const answer = await ask(index % 2 === 0 ? path : `${path}/versions/${sha256}`);
    for await (const piece of answer) bytes += (piece as Buffer).length;
    return bytes;
  };
  const sizes = new Set(await Promise.all(Array.from({ length: gets }, read)));
  expect(sizes.size).toBe(2);
  expect(Math.min(...sizes)).toBeGreaterThan(3 * MIB);
  await annotate(`${Math.round(peak() - before)} MB more than ${Math.round(before)} MB`);
  expect(peak() - before).toBeLessThan(150);
});

test('readers that stop hold the exports of their own address alone, and only for a while', async () => {
  const dataDir = temporaryFolder();
  mkdirSync(join(dataDir, 'plays'));
  const known = {
    site: 'default',
    node_id: 'a',
    device_id: null,
    client_name: null,
    screen: 'lobby',
    media_sha256: null,
  };
  const day = playAgo(86_400).started_at.slice(0, 10);
  const play = { ...playAgo(86_400), ...known, slide_title: 'x'.repeat(400) };
  const lines = Array.from({ length: 25_000 }, (_, index) => `${JSON.stringify({ ...play, play_id: `${index}` })}\n`);
  writeFileSync(join(dataDir, 'plays', `${day}.jsonl`), lines.join(''));
  const { url } = await startTestService({ dataDir, content: lobby });
  const path = `${url}/console/api/plays`;
  // At once: on a busy machine the first would be given up before the last one asks.
  const readers = await Promise.all(Array.from({ length: 4 }, () => ask(path)));
  expect(readers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 200, 200]);
  expect(await statusOf(path)).toBe(429);
  expect(await statusOf(path, { from: '127.0.0.2' })).toBe(200);
  await expect.poll(() => statusOf(path), patience).toBe(200);
});

test('bodies that do not arrive hold the publishing of their own address alone, and only for a while', async () => {
  const { url } = await startTestService({ content: lobby });
  const path = `${url}/console/api/content`;
  const headers = { ...publishing.headers, 'Content-Length': String(4 * MIB) };
  const unfinished = Array.from({ length: 3 }, () => statusOf(path, { ...publishing, headers }));
  const publish = (from?: string) =>
    statusOf(path, { ...publishing, body: JSON.stringify(lobby), ...(from && { from }) });
  await expect.poll(() => publish(), patience).toBe(429);
  expect(await publish('127.0.0.2')).toBe(200);
  expect(await Promise.all(unfinished)).toEqual([408, 408, 408]);
  await expect.poll(() => publish(), patience).toBe(200);
});

test('a client that leaves before its credentials are judged holds no backup', async () => {
  const service = await startTestService({ content: lobby, env: secretSettings(secret) });
  const path = '/console/api/backup';
  const socket = await connectTo(service.url);
  // When they are judged: a time that is slightly ahead is waited for.
  const now = Date.now() + 45;
  const signature = signRequest({ secret, method: 'GET', url: service.url + path, now });
  const headers = Object.entries(signature).map(([name, value]) => `${name}: ${value}`);
  socket.end([`GET ${path} HTTP/1.1`, hostLine(service.url), ...headers, '', ''].join('\r\n'));
  await once(socket.resume(), 'close');
  const ask = createOperator(service, secret, () => Math.max(Date.now(), now + 1));
  expect((await ask('GET', path)).status).toBe(200);
});

test('an answer whose client has left is not watched', () => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval'] });
  onTestFinished(() => void vi.useRealTimers());
  const response = new ServerResponse(new IncomingMessage(new Socket()));
  endIfUnread(response, 1_000);
  expect(vi.getTimerCount()).toBe(1);
  response.emit('close');
  response.destroy();
  endIfUnread(response, 1_000);
  expect(vi.getTimerCount()).toBe(0);
});
