/** An HTTP proxy on real sockets (CONNECT and absolute form) that leads every name to this machine. */
import { once } from 'node:events';
import { createServer, type IncomingMessage, request, type ServerResponse } from 'node:http';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { onTestFinished } from 'vitest';

interface Setup {
  /** `user:password` that the proxy wants; absent: none. */
  password?: string;
  /** Answers every request, CONNECT included, instead of the proxy. */
  instead?: (socket: Socket) => void;
}

export const startProxy = async ({ password, instead }: Setup = {}) => {
  const asked: string[] = [];
  const sockets = new Set<Socket>();
  const isKnown = ({ headers }: IncomingMessage): boolean =>
    password === undefined || headers['proxy-authorization'] === `Basic ${Buffer.from(password).toString('base64')}`;
  const server = createServer((incoming: IncomingMessage, response: ServerResponse) => {
    asked.push(`${incoming.method} ${incoming.url}`);
    if (instead !== undefined) return instead(incoming.socket);
    if (!isKnown(incoming)) return response.writeHead(407, { 'Proxy-Authenticate': 'Basic' }).end();
    const { port, pathname, search } = new URL(incoming.url ?? '');
    const { 'proxy-authorization': _, ...headers } = incoming.headers;
    const options = { host: '127.0.0.1', port, path: pathname + search, method: incoming.method ?? 'GET', headers };
    const onward = request(options, (answer) => {
      response.writeHead(answer.statusCode ?? 502, answer.headers);
      answer.pipe(response);
    });
    onward.on('error', () => response.writeHead(502, { 'Content-Type': 'text/html' }).end('<h1>Bad gateway</h1>'));
    incoming.pipe(onward);
  });
  server.on('connection', (socket) => {
    sockets.add(socket);
    socket.on('error', () => undefined).on('close', () => sockets.delete(socket));
  });
  server.on('connect', (incoming: IncomingMessage, socket: Socket) => {
    asked.push(`CONNECT ${incoming.url}`);
    if (instead !== undefined) return instead(socket);
    if (!isKnown(incoming)) return socket.end('HTTP/1.1 407 Proxy Authentication Required\r\n\r\n');
    const onward = connect(Number(incoming.url?.split(':').at(-1)), '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
      onward.pipe(socket).pipe(onward);
    });
    onward.on('error', () => socket.destroy());
    onward.on('close', () => socket.destroy());
    socket.on('close', () => onward.destroy());
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(async () => {
    server.close();
    for (const socket of sockets) socket.destroy();
    await once(server, 'close');
  });
  const { port } = server.address() as AddressInfo;
  return {
    asked,
    /** Its address. @param user `user:password` */
    at: (user?: string): string => `http://${user === undefined ? '' : `${user}@`}127.0.0.1:${port}`,
    open: (): number => sockets.size,
  };
};
