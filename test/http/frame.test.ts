/** Frames that are written past ws must be the bytes that ws itself writes. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import fc from 'fast-check';
import { expect, onTestFinished, test } from 'vitest';
import { WebSocket, WebSocketServer } from 'ws';
import { frameOf, writeFrame } from '../../service/http/sockets.ts';

/** A socket of a server, the page at its other end, and the bytes that the server writes. */
const connect = async () => {
  const server = createServer().listen(0, '127.0.0.1');
  onTestFinished(() => void server.close());
  await once(server, 'listening');
  const sockets = new WebSocketServer({ server, perMessageDeflate: false });
  const page = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  onTestFinished(() => page.terminate());
  const [[socket, request]] = (await Promise.all([once(sockets, 'connection'), once(page, 'open')])) as [
    [WebSocket, { socket: { write(chunk: Buffer): boolean } }],
    unknown,
  ];
  const written: Buffer[] = [];
  const write = request.socket.write.bind(request.socket);
  request.socket.write = (chunk, ...rest: unknown[]) => {
    written.push(Buffer.from(chunk));
    return (write as (...all: unknown[]) => boolean)(chunk, ...rest);
  };
  return { socket, page, taken: () => written.splice(0) };
};

test('a frame has the bytes of ws, whatever its length, and is written at once', async () => {
  const { socket, taken } = await connect();
  const lengths = fc.oneof(fc.integer({ min: 0, max: 200 }), fc.constantFrom(60_000, 65_500, 65_535, 70_000));
  fc.assert(
    fc.property(lengths, fc.constantFrom('a', 'ü', '€'), (length, letter) => {
      const message = { type: 'command', text: letter.repeat(length) };
      socket.send(JSON.stringify(message));
      const byLibrary = Buffer.concat(taken());
      writeFrame(socket, frameOf(message));
      const [whole, ...more] = taken();
      expect(more).toEqual([]);
      expect(whole?.equals(byLibrary)).toBe(true);
    }),
    { numRuns: 60 },
  );
});

test('frames arrive in the order in which they, pings and messages of ws were written', async () => {
  const { socket, page } = await connect();
  const received: string[] = [];
  page.on('message', (data) => received.push(String(data)));
  page.on('ping', () => received.push('ping'));
  writeFrame(socket, frameOf({ number: 1 }));
  socket.ping();
  socket.send('{"number":2}');
  writeFrame(socket, frameOf({ number: 3 }));
  socket.close(1001);
  await once(page, 'close');
  expect(received).toEqual(['{"number":1}', 'ping', '{"number":2}', '{"number":3}']);
});
