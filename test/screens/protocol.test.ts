/** Pages that break the protocol: they are closed, and the service goes on. */
import { once } from 'node:events';
import { describe, expect, test } from 'vitest';
import type { WebSocket } from 'ws';
import { lobby } from '../content/samples.ts';
import { healthOf, logged, patience } from '../support/observe.ts';
import { joinScreen, openPage } from '../support/page.ts';
import { shareTestService, startTestService } from '../support/service.ts';

const service = shareTestService({ content: lobby });

const hello = { type: 'hello', clientId: 'a', page: '/screen/lobby' };
const state = { type: 'state', page: '/screen/lobby', paused: false, blackout: false };
const viewport = { width: 1, height: 1, devicePixelRatio: 1 };

const isNobodyThere = () => expect.poll(async () => (await healthOf(service())).connections, patience).toBe(0);

describe('closed with 1008', () => {
  test.each<[string, unknown]>([
    ['a state first', state],
    ['a fault first', { type: 'fault', slideId: 'a', reason: 'b' }],
    ['no JSON', 'hello'],
    ['half of it', '{"type":"hello",'],
    ['nothing', ''],
    ['null', 'null'],
    ['a list', [hello]],
    ['no type', { clientId: 'a', page: '/' }],
    ['an unknown type', { type: 'goodbye' }],
    ['a type of the prototype', { type: '__proto__' }],
    ['what the service says', { type: 'command', command: 'next' }],
    ['a hello without clientId', { ...hello, clientId: undefined }],
    ['a hello with an empty clientId', { ...hello, clientId: '' }],
    ['a hello with a clientId that is a number', { ...hello, clientId: 1 }],
    ['a hello with a deviceId that is none', { ...hello, deviceId: 'a b' }],
    ['a hello with a viewport in words', { ...hello, viewport: 'large' }],
    ['a hello with half a viewport', { ...hello, viewport: { width: 1 } }],
    ['a hello with a viewport below 0', { ...hello, viewport: { ...viewport, height: -1 } }],
  ])('a socket whose first message is %s', async (_, message) => {
    const page = await openPage(service(), 'lobby');
    page.send(message);
    expect(await page.closed).toBe(1008);
    expect(page.messages).toEqual([]);
    await isNobodyThere();
  });

  test.each<[string, unknown]>([
    ['a second hello', hello],
    ['an unknown type', { type: 'goodbye' }],
    ['no JSON', '{'],
    ['a state with paused in words', { ...state, paused: 'yes' }],
    ['a state with half a slide', { ...state, currentSlide: 0.5 }],
    ['a state with a slide below 0', { ...state, currentSlide: -1 }],
  ])('a page that then says %s', async (_, message) => {
    const page = await joinScreen(service(), 'lobby');
    page.send(message);
    expect(await page.closed).toBe(1008);
    await isNobodyThere();
  });

  test.each<[string, unknown, string]>([
    [
      'a deviceId with a space',
      { ...hello, deviceId: 'a b' },
      'deviceId is not valid: 1 to 128 of A-Z a-z 0-9 . _ : -.',
    ],
    ['no clientId', { ...hello, clientId: undefined }, 'clientId is missing.'],
    ['an unknown type', { type: 'goodbye' }, 'type is not valid: it has another form.'],
    ['no type', { clientId: 'a' }, 'type is missing.'],
    ['a list', [hello], 'a message must be a JSON object'],
    ['no JSON', '{', 'a message must be JSON'],
    ['a number', '7', 'a message must be a JSON object'],
  ])('the close frame names what is wrong: %s', async (_, message, reason) => {
    const page = await openPage(service(), 'lobby');
    const closed = once(page.socket, 'close');
    page.send(message);
    const [code, given] = await closed;
    expect([code, String(given)]).toEqual([1008, reason]);
  });

  test('a page that sends binary', async () => {
    const page = await openPage(service(), 'lobby');
    page.socket.send(Buffer.from(JSON.stringify(hello)), { binary: true });
    expect(await page.closed).toBe(1008);
  });

  test('a socket that says nothing for 5 s', async () => {
    const fresh = await startTestService({ content: lobby });
    const page = await openPage(fresh, 'lobby');
    expect(await page.closed).toBe(1008);
    expect(fresh.log()).toContain('no hello within 5 s');
    expect(page.messages).toEqual([]);
  });
});

test('what comes after a fault counts for nothing', async () => {
  const fresh = await startTestService({ content: lobby });
  const page = await openPage(fresh, 'lobby');
  page.send(state);
  page.send(hello);
  expect(await page.closed).toBe(1008);
  expect(page.messages).toEqual([]);
  expect(logged(fresh, 'a page connected')).toEqual([]);
});

test('a message of 256 KiB is read, a longer one closes with 1009', async () => {
  const page = await joinScreen(service(), 'lobby');
  const padded = (bytes: number) => JSON.stringify(state).padEnd(bytes);
  page.send(padded(256 * 1024));
  page.socket.ping();
  await once(page.socket, 'pong');
  page.send(padded(256 * 1024 + 1));
  expect(await page.closed).toBe(1009);
});

/** The stream under a WebSocket, for bytes that the library would not send. */
const streamOf = (socket: WebSocket) => (socket as unknown as { _socket: NodeJS.WritableStream })._socket;

/** A text message of this length without its last byte; it is masked with zeros. */
const begunMessage = (bytes: number): Buffer => {
  const head = Buffer.from([0x81, 0xff, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
  head.writeUInt32BE(bytes, 6);
  return Buffer.concat([head, Buffer.alloc(bytes - 1)]);
};

test('clients that begin messages and do not end them are closed, and pages that send long ones are not', async () => {
  const fresh = await startTestService({ content: lobby });
  const page = await joinScreen(fresh, 'lobby');
  // Together 40 MiB.
  const clients = await Promise.all(Array.from({ length: 160 }, () => joinScreen(fresh, 'lobby')));
  const begun = begunMessage(255 * 1024);
  for (const { socket } of clients) streamOf(socket).write(begun);
  for (let n = 0; n < 3; n++) page.send(JSON.stringify(state).padEnd(200 * 1024));
  expect(await Promise.race(clients.map(({ closed }) => closed))).toBe(1006);
  for (let n = 0; n < 3; n++) page.send(JSON.stringify(state).padEnd(200 * 1024));
  page.socket.ping();
  await once(page.socket, 'pong');
});

describe('bytes that are no message close the socket and nothing else', () => {
  test.each<[string, number[], number]>([
    ['a frame that is not masked', [0x81, 0x02, 0x68, 0x69], 1002],
    ['reserved bits', [0xf1, 0x80, 0, 0, 0, 0], 1002],
    ['an unknown opcode', [0x83, 0x80, 0, 0, 0, 0], 1002],
    ['a continuation of nothing', [0x80, 0x80, 0, 0, 0, 0], 1002],
    ['a ping that is too long', [0x89, 0xfe, 0x00, 0x7e, 0, 0, 0, 0], 1002],
    [
      'a frame that says it is 2^63 bytes',
      [0x81, 0xff, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0, 0, 0, 0],
      1009,
    ],
    ['text that is no UTF-8', [0x81, 0x81, 0, 0, 0, 0, 0xff], 1007],
    ['a close with a code that is none', [0x88, 0x82, 0, 0, 0, 0, 0x00, 0x01], 1002],
  ])('%s', async (_, bytes, code) => {
    const healthy = await joinScreen(service(), 'lobby');
    const page = await openPage(service(), 'lobby');
    streamOf(page.socket).write(Buffer.from(bytes));
    expect(await page.closed).toBe(code);
    healthy.socket.ping();
    await once(healthy.socket, 'pong');
    expect((await healthOf(service())).status).toBe('ok');
  });

  test('a page that is cut off', async () => {
    const page = await joinScreen(service(), 'lobby');
    page.socket.terminate();
    await isNobodyThere();
  });
});
