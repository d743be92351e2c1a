/** A command to a thousand pages, against a server that serialises for each of them. */
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { WebSocket, WebSocketServer } from 'ws';
import { startBenchService } from './service.ts';
import { compare } from './table.ts';

const CONNECTIONS = 1_000;
const COMMANDS = 20;

const openAll = async (url: string, protocols: string[], hello: boolean): Promise<WebSocket[]> =>
  Promise.all(
    Array.from({ length: CONNECTIONS }, async (_, index) => {
      const socket = new WebSocket(url, protocols, { perMessageDeflate: false });
      await once(socket, 'open');
      if (hello) {
        const said = once(socket, 'message');
        socket.send(JSON.stringify({ type: 'hello', clientId: `client-${index}`, page: '/screen/lobby' }));
        await said;
      }
      return socket;
    }),
  );

/** Messages a second until everybody has every one. */
const time = async (sockets: WebSocket[], broadcast: () => Promise<unknown>): Promise<number> => {
  let left = sockets.length * COMMANDS;
  const done = new Promise<void>((resolve) => {
    for (const socket of sockets) {
      socket.removeAllListeners('message');
      socket.on('message', () => {
        left -= 1;
        if (left === 0) resolve();
      });
    }
  });
  const startedAt = performance.now();
  for (let sent = 0; sent < COMMANDS; sent++) await broadcast();
  await done;
  return (sockets.length * COMMANDS * 1000) / (performance.now() - startedAt);
};

export const benchFanOut = async (): Promise<void> => {
  const service = await startBenchService();
  const pages = await openAll(`${service.url.replace('http', 'ws')}/api/screens/lobby/socket`, ['signage.v1'], true);

  const naive = new WebSocketServer({ port: 0, host: '127.0.0.1' });
  await once(naive, 'listening');
  const clients = await openAll(`ws://127.0.0.1:${(naive.address() as AddressInfo).port}`, [], false);
  const message = { type: 'command', command: 'next' };

  await compare(`a command to ${CONNECTIONS} pages`, 'messages a second', {
    'this service, over HTTP': () =>
      time(pages, () =>
        fetch(`${service.url}/api/screens/lobby/commands`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify({ command: 'next' }),
        }).then((response) => response.json()),
      ),
    'ws, serialised for each, no HTTP': () =>
      time(clients, async () => {
        for (const client of naive.clients) client.send(JSON.stringify(message));
      }),
  });
  for (const socket of [...pages, ...clients]) socket.terminate();
  naive.close();
  await service.stop();
};
