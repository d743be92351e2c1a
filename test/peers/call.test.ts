/** Requests to a box over real sockets: keep-alive connections, and which requests are retried. */
import { createServer, type IncomingMessage } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { z } from 'zod';
import { createCaller } from '../../service/peers/call.ts';
import { listenOn } from './support.ts';

const schema = z.object({ n: z.number() });
const question = { path: '/', schema };
const request = { ...question, body: { command: 'next' } };

/** A server that counts; `isCut` says which requests it hangs up on instead of answering. */
const start = async (isCut: (n: number) => boolean) => {
  const asked: IncomingMessage[] = [];
  const url = await listenOn(
    createServer((message, response) => {
      const n = asked.push(message);
      message.resume();
      if (isCut(n)) message.socket.resetAndDestroy();
      else message.on('end', () => response.end(JSON.stringify({ n })));
    }),
  );
  const caller = createCaller({ options: { sharedSecret: null }, ids: { nodeId: 'here' }, now: Date.now });
  onTestFinished(caller.close);
  return { asked, url, caller };
};

test('one connection serves many calls', async () => {
  const { asked, url, caller } = await start(() => false);
  for (const n of [1, 2, 3])
    expect(await caller.call(url, request)).toEqual({ ok: true, status: 200, body: { n }, address: '127.0.0.1' });
  expect(new Set(asked.map(({ socket }) => socket.remotePort)).size).toBe(1);
});

test('a GET over a reused connection that the box has closed is retried once', async () => {
  const { asked, url, caller } = await start((n) => n === 2 || n > 3);
  await caller.call(url, question);
  expect(await caller.call(url, question)).toMatchObject({ ok: true, body: { n: 3 } });
  expect(await caller.call(url, question)).toMatchObject({ ok: false, status: null });
  expect(asked).toHaveLength(5);
});

test('a command is never retried, since the box may have carried it out', async () => {
  const { asked, url, caller } = await start((n) => n > 1);
  await caller.call(url, request);
  const reason = expect.stringContaining('ECONNRESET');
  expect(await caller.call(url, request)).toMatchObject({ ok: false, status: null, reason });
  expect(await caller.call(url, request)).toMatchObject({ ok: false, status: null, reason });
  expect(asked).toHaveLength(3);
});

test('a call in progress fails when the caller is closed', async () => {
  const url = await listenOn(createServer(() => {}));
  const caller = createCaller({ options: { sharedSecret: null }, ids: { nodeId: 'here' }, now: Date.now });
  const call = caller.call(url, { ...request, deadlineMs: 20_000 });
  setTimeout(caller.close, 50);
  expect(await call).toMatchObject({ ok: false, status: null });
});
