/**
 * A broadcast with ws: `naive` serializes for each socket, `prepared` writes one frame to all. `GET` answers with the
 * prepared answer, as the floor of what a snapshot beside it costs.
 */
import { createServer } from 'node:http';
import type { AddressInfo, Socket } from 'node:net';
import * as library from 'ws';
import { readAnswer } from './answer.ts';

const isNaive = process.argv[3] === 'naive';
const { headers, body } = readAnswer();
const ready = [...Object.entries(headers).flat(), 'Content-Length', String(body.length)];
const message = { type: 'command', command: 'next' };
const { Sender, WebSocketServer } = library as typeof library & {
  Sender: { frame(data: Buffer, options: object): Buffer[] };
};

const broadcast = (): void => {
  if (isNaive) {
    for (const client of sockets.clients) client.send(JSON.stringify(message));
    return;
  }
  const options = { fin: true, rsv1: false, opcode: 1, mask: false, readOnly: true };
  const frame = Buffer.concat(Sender.frame(Buffer.from(JSON.stringify(message)), options));
  for (const client of sockets.clients) (client as unknown as { _socket: Socket })._socket.write(frame);
};

const server = createServer((request, response) => {
  if (request.method === 'GET') return void response.writeHead(200, ready).end(body);
  request.resume().on('end', () => {
    broadcast();
    const answer = JSON.stringify({ sent: sockets.clients.size });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length }).end(answer);
  });
});
const sockets = new WebSocketServer({ server, perMessageDeflate: false });
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
