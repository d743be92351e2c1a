/**
 * A client process with many WebSockets, which reads no more than it must: it counts frames, and learns when the last
 * socket has a command. It speaks Socket.IO's handshake too.
 */
import { once } from 'node:events';
import { connect, type Socket } from 'node:net';
import { serveCalls } from '../harness/client.ts';

interface Site {
  port: number;
  /** Target of the upgrade. */
  path: string;
  protocol?: string;
  /** Text frames to send once the socket is open; each is answered by one frame. `INDEX` is the number of the socket. */
  greetings: string[];
  /** Frames that come unasked when the socket is open. */
  unasked: number;
  count: number;
  /** What a frame contains that is counted; default: a command. */
  counted?: string;
}

/** A masked text frame of less than 64 KiB; the mask is zero. */
const frameOf = (text: string): Buffer => {
  const payload = Buffer.from(text);
  const head =
    payload.length < 126
      ? Buffer.from([0x81, 0x80 | payload.length, 0, 0, 0, 0])
      : Buffer.from([0x81, 0x80 | 126, payload.length >> 8, payload.length & 255, 0, 0, 0, 0]);
  return Buffer.concat([head, payload]);
};

const pong = Buffer.from([0x8a, 0x80, 0, 0, 0, 0]);

/** Calls `listener` with each complete text frame of a server; answers the pings of WebSockets and of Socket.IO. */
const onText = (socket: Socket, listener: (text: Buffer) => void): void => {
  let rest: Buffer = Buffer.alloc(0);
  socket.on('data', (chunk: Buffer) => {
    const data = rest.length === 0 ? chunk : Buffer.concat([rest, chunk]);
    let at = 0;
    while (data.length - at >= 2) {
      const short = (data[at + 1] ?? 0) & 127;
      const head = short === 126 ? 4 : short === 127 ? 10 : 2;
      if (data.length - at < head) break;
      const length = short === 126 ? data.readUInt16BE(at + 2) : short === 127 ? data.readUIntBE(at + 4, 6) : short;
      if (data.length - at < head + length) break;
      const opcode = (data[at] ?? 0) & 15;
      if (opcode === 9) socket.write(pong);
      else if (opcode === 1 && length === 1) socket.write(frameOf('3'));
      else if (opcode === 1) listener(data.subarray(at + head, at + head + length));
      at += head + length;
    }
    rest = data.subarray(at);
  });
};

let received = 0;
let wanted = 0;
let done = (): void => {};

const untilReceived = (count: number): Promise<void> => {
  wanted = received + count;
  return new Promise((resolve) => {
    done = resolve;
  });
};

const upgrade = async (site: Site, index: number): Promise<Socket> => {
  const { port, path, protocol, greetings, unasked, counted = '"next"' } = site;
  const socket = connect(port, '127.0.0.1').setNoDelay(true);
  await once(socket, 'connect');
  const protocolLine = protocol === undefined ? '' : `Sec-WebSocket-Protocol: ${protocol}\r\n`;
  socket.write(
    `GET ${path} HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nConnection: Upgrade\r\nUpgrade: websocket\r\n` +
      `Sec-WebSocket-Version: 13\r\nSec-WebSocket-Key: ${Buffer.alloc(16, index).toString('base64')}\r\n${protocolLine}\r\n`,
  );
  const [head] = (await once(socket, 'data')) as [Buffer];
  const end = head.indexOf('\r\n\r\n') + 4;
  if (!head.toString('latin1', 0, 20).includes(' 101 ')) throw new Error(head.toString('latin1', 0, end));
  let expected = unasked + greetings.length;
  await new Promise<void>((resolve) => {
    const onFrame = (text: Buffer): void => {
      expected -= 1;
      if (expected === 0) resolve();
      if (!text.includes(counted)) return;
      received += 1;
      if (received === wanted) done();
    };
    if (expected === 0) resolve();
    onText(socket, onFrame);
    if (head.length > end) socket.emit('data', head.subarray(end));
    for (const text of greetings) socket.write(frameOf(text.replace('INDEX', String(index))));
  });
  return socket;
};

const open = new Map<number, Socket[]>();

/** Opens the sockets of a site, a hundred at a time. */
const join = async (site: Site): Promise<void> => {
  const sockets: Socket[] = [];
  while (sockets.length < site.count) {
    const wave = Math.min(100, site.count - sockets.length);
    const from = sockets.length;
    sockets.push(...(await Promise.all(Array.from({ length: wave }, (_, index) => upgrade(site, from + index)))));
  }
  open.set(site.port, sockets);
};

const body = JSON.stringify({ command: 'next' });

/** Sends commands one after another. @returns ms to the last socket, and to the answer, median of the commands */
const command = async ({ port, times }: { port: number; times: number }) => {
  const sockets = open.get(port) ?? [];
  // A new one each time: servers close a connection that was idle for some seconds.
  const post = connect(port, '127.0.0.1').setNoDelay(true);
  await once(post, 'connect');
  const request =
    `POST /api/screens/lobby/commands HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nContent-Type: application/json\r\n` +
    `Content-Length: ${body.length}\r\n\r\n${body}`;
  const last: number[] = [];
  const answers: number[] = [];
  for (let sent = 0; sent < times; sent++) {
    const startedAt = performance.now();
    const answered = once(post, 'data').then(() => answers.push(performance.now() - startedAt));
    const arrived = untilReceived(sockets.length);
    post.write(request);
    await arrived;
    last.push(performance.now() - startedAt);
    await answered;
  }
  post.destroy();
  const middle = (values: number[]): number => values.toSorted((a, b) => a - b)[values.length >> 1] ?? Number.NaN;
  return { last: middle(last), answer: middle(answers) };
};

/** @returns how many frames were counted since the sockets were opened, once every socket has received another one */
const untilAll = async ({ port }: { port: number }): Promise<number> => {
  await untilReceived(open.get(port)?.length ?? 0);
  return received;
};

const calls = { join, command, untilAll };
export type SocketCalls = typeof calls;

serveCalls(calls);
