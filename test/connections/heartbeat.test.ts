/** The heartbeat, on a clock that is turned by hand. */
import { EventEmitter } from 'node:events';
import { pino } from 'pino';
import { afterEach, beforeEach, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createSockets } from '../../service/connections/sockets.ts';

class FakeSocket extends EventEmitter {
  readyState: number = WebSocket.OPEN;
  pings = 0;
  ping(): void {
    this.pings += 1;
  }
  terminate(): void {
    this.readyState = WebSocket.CLOSED;
    this.emit('close');
  }
}

beforeEach(() => {
  vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
});
afterEach(() => {
  vi.useRealTimers();
});

const start = () => {
  const sockets = createSockets(pino({ level: 'silent' }));
  const fake = new FakeSocket();
  const socket = fake as unknown as WebSocket;
  sockets.add(socket, {});
  return { fake, isLive: () => sockets.isLive(socket) };
};

test('a socket is pinged every 15 s, and lives as long as it answers', () => {
  const { fake, isLive } = start();
  for (let beat = 1; beat <= 20; beat += 1) {
    vi.advanceTimersByTime(15_000);
    expect(fake.pings).toBe(beat);
    fake.emit('pong');
  }
  expect(isLive()).toBe(true);
});

test('a socket that is silent for 40 s is not counted any more, and hung up on at the next beat', () => {
  const { fake, isLive } = start();
  vi.advanceTimersByTime(40_000);
  expect(isLive()).toBe(true);
  vi.advanceTimersByTime(1);
  expect(isLive()).toBe(false);
  expect(fake.readyState).toBe(WebSocket.OPEN);
  vi.advanceTimersByTime(5_000);
  expect(fake.readyState).toBe(WebSocket.CLOSED);
  expect(fake.pings).toBe(2);
});

test('a message is a sign of life like any', () => {
  const { fake, isLive } = start();
  for (let minute = 0; minute < 10; minute += 1) {
    vi.advanceTimersByTime(39_000);
    fake.emit('message');
  }
  expect(isLive()).toBe(true);
});

test('a wall clock that is set, as at the first contact with a time server, is no silence', () => {
  const { fake, isLive } = start();
  vi.setSystemTime(Date.now() + 86_400_000);
  expect(isLive()).toBe(true);
  vi.advanceTimersByTime(15_000);
  expect([isLive(), fake.pings]).toEqual([true, 1]);
});

test('a socket that is closing is not counted', () => {
  const { fake, isLive } = start();
  fake.readyState = WebSocket.CLOSING;
  expect(isLive()).toBe(false);
});
