/** Clients that take their time: each waits for its answer, and none holds its connection for ever. */
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { healthOf } from '../support/observe.ts';
import { startTestService } from '../support/service.ts';
import { codeOf, connectTo, hostLine, parseAnswer } from './raw.ts';

/** Sends a beginning and then a byte now and then; resolves once the service has hung up, with the seconds until then. */
const trickle = async (url: string, beginning: string) => {
  const socket = await connectTo(url);
  const startedAt = performance.now();
  socket.write(beginning);
  const drops = setInterval(() => socket.write(' '), 500);
  const chunks: Buffer[] = [];
  socket.on('data', (chunk: Buffer) => chunks.push(chunk));
  // A client that keeps sending after the server closed may be reset; it has its response by then.
  socket.on('error', () => {});
  await new Promise((resolve) => socket.once('close', resolve));
  const text = Buffer.concat(chunks).toString();
  clearInterval(drops);
  return { answer: parseAnswer(text), seconds: (performance.now() - startedAt) / 1000 };
};

test('slow heads and bodies end at their deadlines, unread bodies too', { timeout: 90_000 }, async () => {
  const service = await startTestService({ content: lobby });
  const { url } = service;
  const host = hostLine(url);
  const type = 'Content-Type: application/json';
  const begin = (...lines: string[]) => `${lines.join('\r\n')}\r\n\r\n`;

  const [head, body, unread, refused] = await Promise.all([
    trickle(url, `GET /healthz HTTP/1.1\r\n${host}\r\nX-Slow:`),
    trickle(url, begin('POST /api/screens/lobby/commands HTTP/1.1', host, type, 'Content-Length: 9999')),
    trickle(url, begin('GET /api/screens/lobby/playlist HTTP/1.1', host, 'Content-Length: 9999')),
    trickle(url, begin('POST /api/gone HTTP/1.1', host, type, 'Content-Length: 9999')),
  ]);
  expect([head.answer.status, codeOf(head.answer)]).toEqual([408, 'request_timeout']);
  expect(head.seconds).toBeGreaterThan(9);
  expect([body.answer.status, codeOf(body.answer)]).toEqual([408, 'request_timeout']);
  expect(body.seconds).toBeGreaterThan(14);
  expect([unread.answer.status, refused.answer.status]).toEqual([200, 404]);
  expect((await healthOf(service)).status).toBe('ok');
});
