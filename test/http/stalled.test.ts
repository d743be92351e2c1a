/** Clients that ask and do not read, on a clock that is turned by hand. */
import { once } from 'node:events';
import { truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { beforeEach, expect, test, vi } from 'vitest';
import { lobby } from '../content/samples.ts';
import { healthOf, patience } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { connectTo, hostLine } from './raw.ts';

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance'] });
  return () => void vi.useRealTimers();
});

/** Asks for a file that no buffer of the system holds, and reads nothing. */
const stall = async () => {
  const service = await startTestService({ content: lobby });
  const file = join(service.dataDir, 'uploads', 'large.bin');
  writeFileSync(file, '');
  truncateSync(file, 64 * 1024 ** 2);
  const socket = await connectTo(service.url);
  socket.pause();
  let closed = false;
  socket.on('close', () => {
    closed = true;
  });
  const request = `GET /media/large.bin HTTP/1.1\r\n${hostLine(service.url)}\r\n\r\n`;
  socket.write(request);
  // Until the buffers of the system are full.
  await delay(500);
  return { service, socket, request, isClosed: () => closed };
};

/** Turns the clock on, and lets the sockets keep up. */
const pass = async (seconds: number): Promise<void> => {
  for (let second = 0; second < seconds; second += 1) {
    vi.advanceTimersByTime(1_000);
    await delay(2);
  }
};

/** A busy machine may take a while until its buffers are full. */
const passUntilDropped = async (service: TestService, eachSecond = () => {}): Promise<void> => {
  const isDropped = () => service.log().includes('closed the connection of a client that stopped reading');
  await expect
    .poll(async () => {
      eachSecond();
      await pass(1);
      return isDropped();
    }, patience)
    .toBe(true);
};

/** Of a response, until the service hangs up. */
const readAll = async (socket: Awaited<ReturnType<typeof connectTo>>): Promise<number> => {
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  socket.resume();
  if (!socket.closed) await once(socket, 'close');
  return bytes;
};

test('a connection whose client reads nothing for 30 s is closed', async () => {
  const { service, socket } = await stall();
  await passUntilDropped(service);
  expect(await readAll(socket)).toBeLessThan(64 * 1024 ** 2);
  expect((await healthOf(service)).status).toBe('ok');
});

test('a client that keeps sending requests without reading responses is disconnected too', async () => {
  const { service, socket, request } = await stall();
  await passUntilDropped(service, () => void socket.write(request));
  expect(await readAll(socket)).toBeLessThan(64 * 1024 ** 2);
});

test('a client that reads slowly keeps its connection', async () => {
  const { socket, isClosed } = await stall();
  let bytes = 0;
  socket.on('data', (chunk: Buffer) => {
    bytes += chunk.length;
  });
  for (let read = 0; read < 6; read += 1) {
    await pass(20);
    const before = bytes;
    socket.resume();
    await expect.poll(() => bytes - before, { ...patience, interval: 5 }).toBeGreaterThan(2 * 1024 ** 2);
    socket.pause();
  }
  expect(isClosed()).toBe(false);
  socket.resume();
  await expect.poll(() => bytes, patience).toBeGreaterThan(64 * 1024 ** 2);
});

test('an idle connection without pending data stays open', async () => {
  const service = await startTestService({ content: lobby });
  const socket = await connectTo(service.url);
  await pass(120);
  socket.write(`GET /healthz HTTP/1.1\r\n${hostLine(service.url)}\r\n\r\n`);
  expect(String((await once(socket, 'data'))[0])).toMatch(/^HTTP\/1\.1 200 /);
});
