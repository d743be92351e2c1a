/** Socket.IO with its WebSocket transport. The second argument is the folder that it is installed in. */
import { createServer } from 'node:http';
import { createRequire } from 'node:module';
import type { AddressInfo } from 'node:net';

interface SocketIo {
  Server: new (
    server: unknown,
    options: object,
  ) => { emit(name: string, message: object): void; engine: { clientsCount: number } };
}

const { Server } = createRequire(`${process.argv[3]}/`)('socket.io') as SocketIo;
const server = createServer((request, response) => {
  request.resume().on('end', () => {
    io.emit('message', { type: 'command', command: 'next' });
    const answer = JSON.stringify({ sent: io.engine.clientsCount });
    response.writeHead(200, { 'Content-Type': 'application/json', 'Content-Length': answer.length }).end(answer);
  });
});
const io = new Server(server, { transports: ['websocket'], serveClient: false });
server.listen(0, '127.0.0.1', () => {
  console.log(`listening on http://127.0.0.1:${(server.address() as AddressInfo).port}`);
});
