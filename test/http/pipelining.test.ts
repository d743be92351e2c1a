/** Several requests in a row on one connection. */
import { once } from 'node:events';
import { readdirSync, readlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { text as consumeText } from 'node:stream/consumers';
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { startTestService } from '../support/service.ts';
import { connectTo, hostLine } from './raw.ts';

/** How many descriptors of this process are of a file (proc(5)). */
const openCount = (path: string): number =>
  readdirSync('/proc/self/fd').filter((descriptor) => {
    try {
      return readlinkSync(`/proc/self/fd/${descriptor}`) === path;
    } catch {
      return false;
    }
  }).length;

test.runIf(process.platform === 'linux')('a lost connection closes the files of all its requests', async () => {
  const service = await startTestService({ content: lobby });
  const file = join(service.dataDir, 'uploads', 'large.bin');
  writeFileSync(file, Buffer.alloc(32 * 1024 ** 2));
  const socket = await connectTo(service.url);
  socket.pause();
  socket.write(`GET /media/large.bin HTTP/1.1\r\n${hostLine(service.url)}\r\n\r\n`.repeat(12));
  await expect.poll(() => openCount(file), patience).toBeGreaterThan(1);
  socket.destroy();
  await expect.poll(() => openCount(file), patience).toBe(0);
});

test.each([
  ['GET /media/large.bin', ''],
  ['GET /api/screens/lobby/playlist', ''],
  ['POST /api/screens/lobby/commands', ''],
  ['POST /nothing', 'Expect: 100-continue'],
])('a connection that asks %s too often before it has read the answers is closed', async (start, line) => {
  const service = await startTestService({ content: lobby });
  writeFileSync(join(service.dataDir, 'uploads', 'large.bin'), Buffer.alloc(32 * 1024 ** 2));
  const lines = [`${start} HTTP/1.1`, hostLine(service.url), line];
  const request = `${lines.filter((each) => each !== '').join('\r\n')}\r\n\r\n`;
  const socket = await connectTo(service.url);
  const closed = once(socket, 'close');
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += chunk.toString('latin1').replaceAll('\0', '');
  });
  socket.write(request.repeat(200));
  await closed;
  expect(text.match(/HTTP\/1\.1 (?!100)/g)?.length ?? 0).toBeLessThanOrEqual(16);
  expect((await service.get('/healthz')).status).toBe(200);
});

test('sixteen requests at once are answered', async () => {
  const { url } = await startTestService({ content: lobby });
  const request = `GET /healthz HTTP/1.1\r\n${hostLine(url)}\r\n\r\n`;
  expect(await statusesOf(url, Array(16).fill(request))).toEqual(Array(16).fill('200'));
});

const offer = ['Connection: Upgrade, HTTP2-Settings', 'Upgrade: h2c', 'HTTP2-Settings: AAMAAABkAAQAoAAAAAIAAAAA'];

/** The statuses of what a connection answers to requests that are sent at once. */
const statusesOf = async (url: string, requests: readonly string[]): Promise<string[]> => {
  const socket = await connectTo(url);
  let text = '';
  socket.on('data', (chunk: Buffer) => {
    text += String(chunk);
  });
  socket.write(requests.join(''));
  const statuses = () => [...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => String(status));
  await expect.poll(() => statuses().length, patience).toBe(requests.length);
  socket.destroy();
  return statuses();
};

test('pipelined requests with an upgrade header receive all responses in order', async () => {
  const { url } = await startTestService({ content: lobby });
  const ask = (start: string, lines: readonly string[] = [], body = '') =>
    `${[`${start} HTTP/1.1`, hostLine(url), ...lines].join('\r\n')}\r\n\r\n${body}`;
  const order = JSON.stringify({ command: 'next' });
  const json = ['Content-Type: application/json', `Content-Length: ${order.length}`];
  const commands = 'POST /api/screens/lobby/commands';
  const requests = [
    ask('GET /healthz'),
    ask('GET /healthz', offer),
    ask(commands, [...offer, ...json], order),
    ask('GET /nothing', offer),
    ask(commands, json, order),
    ask('GET /api/screens/lobby/playlist', offer),
    ask('GET /screen/gone'),
  ];
  expect(await statusesOf(url, requests)).toEqual(['200', '200', '200', '404', '200', '200', '404']);
});

test('repeated upgrade headers on one connection do not accumulate listeners', async () => {
  const { url } = await startTestService({ content: lobby });
  const warnings: string[] = [];
  const note = ({ name, message }: Error) => void warnings.push(`${name} ${message}`);
  process.on('warning', note);
  const request = `${['GET /api/screens/lobby/playlist HTTP/1.1', hostLine(url), ...offer].join('\r\n')}\r\n\r\n`;
  expect(
    await statusesOf(
      url,
      Array.from({ length: 60 }, () => request),
    ),
  ).toEqual(Array(60).fill('200'));
  process.off('warning', note);
  expect(warnings).toEqual([]);
});

test.each([
  ['a malformed request', 'hello\r\n\r\n', ['200', '400']],
  ['a request behind one that closes the connection', 'GET / HTTP/1.1\r\n\r\n', ['200']],
])('%s does not displace the response to the request before it', async (label, next, expected) => {
  const { url } = await startTestService({ content: lobby });
  const close = label.includes('closes') ? 'Connection: close\r\n' : '';
  const socket = await connectTo(url);
  socket.write(`GET /healthz HTTP/1.1\r\n${hostLine(url)}\r\n${close}\r\n${next}`);
  const text = await consumeText(socket);
  expect([...text.matchAll(/HTTP\/1\.1 (\d+) /g)].map(([, status]) => status)).toEqual(expected);
});
