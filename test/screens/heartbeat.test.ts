/** The heartbeat: on a clock that is turned by hand, and as a page sees it. */
import { EventEmitter, once } from 'node:events';
import { pino } from 'pino';
import { afterEach, beforeEach, describe, expect, test, vi } from 'vitest';
import { WebSocket } from 'ws';
import { createSockets } from '../../service/http/sockets.ts';
import { lobby } from '../content/samples.ts';
import { payloadOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

class FakeSocket extends EventEmitter {
  readyState: number = WebSocket.OPEN;
  pings = 0;
  payload: string | undefined;
  ping(payload?: string): void {
    this.pings += 1;
    this.payload = payload;
  }
  terminate(): void {
    this.readyState = WebSocket.CLOSED;
    this.emit('close');
  }
}

test('a page receives a heartbeat with the revision beside the ping of a real service', {
  timeout: 30_000,
}, async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  const pinged = once(page.socket, 'ping');
  const heartbeat = await page.message(({ type }) => type === 'heartbeat');
  await pinged;
  const { revision } = await payloadOf(service);
  expect(heartbeat).toEqual({ type: 'heartbeat', revision });
});

describe('on a clock that is turned by hand', () => {
  beforeEach(() => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'performance', 'Date'] });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  const start = () => {
    const sockets = createSockets();
    const fake = new FakeSocket();
    const socket = fake as unknown as WebSocket;
    sockets.add(socket, pino({ level: 'silent' }), {});
    return {
      fake,
      isLive: () => sockets.isLive(socket),
      whenHeard: (then: () => void) => sockets.whenHeard(socket, then),
    };
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

  test('a socket that is silent for 40 s is not counted any more, and terminated at the next heartbeat', () => {
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

  test('who waits for an answer is told by the pong to their own ping, and by nothing that was on its way', () => {
    const { fake, whenHeard } = start();
    const [first, second] = [vi.fn(), vi.fn()];
    whenHeard(first);
    const before = fake.payload;
    whenHeard(second);
    const own = fake.payload;
    for (const payload of ['', String(before)]) fake.emit('pong', Buffer.from(payload));
    fake.emit('message');
    expect(second).not.toHaveBeenCalled();
    for (let times = 0; times < 2; times += 1) fake.emit('pong', Buffer.from(String(own)));
    expect([first.mock.calls.length, second.mock.calls.length]).toEqual([0, 1]);
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
});
