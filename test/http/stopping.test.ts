/** A server that stops accepts no connections, and cuts off those that stay. */
import { once } from 'node:events';
import { pino } from 'pino';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket } from 'ws';
import { createGate } from '../../service/http/gate.ts';
import { listen } from '../../service/http/server.ts';

type Accept = (socket: WebSocket) => void;

const listenWith = (admitSocket: () => Promise<Accept>) =>
  listen(
    {
      log: pino({ level: 'silent' }),
      gate: createGate({ machineName: 'box', publicUrl: null, allowedHosts: [] }),
      app: (_, response) => void response.end(),
      partyOf: () => '127.0.0.1',
      answerOpen: () => false,
      admitSocket,
    },
    { host: '127.0.0.1', port: 0 },
  );

const open = (port: number): WebSocket => {
  const socket = new WebSocket(`ws://127.0.0.1:${port}/`);
  // The test terminates the socket, which may be connecting.
  socket.on('error', () => undefined);
  onTestFinished(() => socket.terminate());
  return socket;
};

test('an upgrade that is admitted after the server began to close is refused', async () => {
  const accepted: WebSocket[] = [];
  let admit = (_: Accept): void => undefined;
  const asked = new EventTarget();
  const server = await listenWith(() => {
    asked.dispatchEvent(new Event('now'));
    return new Promise((resolve) => {
      admit = resolve;
    });
  });
  const isAsked = once(asked, 'now');
  const refused = once(open(server.port), 'unexpected-response');
  await isAsked;
  const closed = server.close();
  admit((socket) => accepted.push(socket));
  const [, response] = await refused;
  expect(response.statusCode).toBe(503);
  await closed;
  expect(accepted).toEqual([]);
});

test('a socket that stays open is closed at the deadline', async () => {
  const server = await listenWith(async () => () => undefined);
  const socket = open(server.port);
  await once(socket, 'open');
  const gone = once(socket, 'close');
  await server.close();
  expect((await gone)[0]).toBe(1006);
});
