/** Many pages, and pages that hold the others up. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import { createSockets, frameOf } from '../../service/http/sockets.ts';
import { hello, lobby, lobbyWith } from '../content/samples.ts';
import { healthOf, patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

test('two hundred pages connect, receive every message, and are removed when they disconnect', async () => {
  const service = await startTestService({ content: lobby });
  const pages = await Promise.all(
    Array.from({ length: 200 }, (_, at) => joinScreen(service, 'lobby', { clientId: `client-${at}` })),
  );
  const { count, connections } = (await (await service.get('/api/screens/lobby/clients')).json()) as ConnectionSnapshot;
  expect(count).toBe(200);
  expect(new Set(connections.map(({ id }) => id)).size).toBe(200);
  const result = await (await service.post('/api/screens/lobby/commands', { command: 'next' })).json();
  expect(result).toMatchObject({ sent: 200 });
  service.writeContent(lobbyWith([{ ...hello, title: 'Good evening' }]));
  await Promise.all(
    pages.flatMap((page) => [
      page.message(({ command }) => command === 'next'),
      page.message(({ type }) => type === 'revision'),
    ]),
  );
  for (const { socket } of pages) socket.close();
  await expect.poll(async () => (await healthOf(service)).connections, patience).toBe(0);
});

test('a page that reads nothing is dropped once a mebibyte waits for it, and costs the others nothing', async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const sockets = createSockets();
  onTestFinished(sockets.close);
  const accepted = new WebSocketServer({ server });
  const address = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
  const connect = async () => {
    const page = new WebSocket(address);
    onTestFinished(() => page.terminate());
    const [[socket]] = (await Promise.all([once(accepted, 'connection'), once(page, 'open')])) as [
      [WebSocket],
      unknown,
    ];
    sockets.add(socket, pino({ level: 'silent' }), {});
    return { page, socket };
  };
  const [mute, healthy] = [await connect(), await connect()];
  mute.page.pause();

  const frame = frameOf({ text: 'x'.repeat(64 * 1024) });
  let heard = 0;
  healthy.page.on('message', () => {
    heard += 1;
  });
  let written = 0;
  // The system's buffers take some megabytes before anything waits here.
  while (sockets.write(mute.socket, frame)) {
    written += 1;
    expect(mute.socket.bufferedAmount).toBeLessThanOrEqual(1024 ** 2 + 2 * frame.length);
    expect(sockets.write(healthy.socket, frame)).toBe(true);
    await new Promise((resolve) => setImmediate(resolve));
  }
  expect(written).toBeGreaterThan(16);
  expect([sockets.isLive(mute.socket), sockets.isLive(healthy.socket)]).toEqual([false, true]);
  await expect.poll(() => heard, patience).toBe(written);
});

test('other boxes are told of the displays of a box, however much strangers report', async () => {
  const service = await startTestService({ content: lobby });
  const long = (length: number) => '\u0001'.repeat(length);
  const join = async (at: number) => {
    const page = await joinScreen(service, 'lobby', { clientId: `${at}${long(490)}`, page: long(4_096) });
    page.send({ type: 'state', currentSlideId: long(500), currentSlideTitle: long(500) });
    page.send({ type: 'fault', slideId: long(500), reason: long(500) });
  };
  await Promise.all(Array.from({ length: 150 }, (_, at) => join(at)));
  const { connectionId } = await joinScreen(service, 'lobby');
  for (const path of ['/api/peers/connections', '/api/peers/connections?screens=lobby', '/api/peers/site']) {
    const body = await (await fetch(service.url + path)).text();
    expect(body.length).toBeGreaterThan(3 * 1024 ** 2);
    expect(body.length).toBeLessThan(5 * 1024 ** 2);
    expect(body).toContain(connectionId);
  }
});
