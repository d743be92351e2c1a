/** Pages that say too much. */
import { once } from 'node:events';
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { healthOf, logged, patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

const fault = { type: 'fault', slideId: 'a', reason: 'broken' };
const state = { type: 'state', currentSlideTitle: 'a' };

test('more than 200 messages in 10 s close a socket with 1008, and 200 do not', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby', { clientId: 'busy' });
  for (let count = 0; count < 199; count += 1) page.send(state);
  page.send({ type: 'time', t0: 1 });
  // With the hello this was one too many, and it was not answered.
  expect(await page.closed).toBe(1008);
  expect(page.messages.map(({ type }) => type)).not.toContain('time');
  const calm = await joinScreen(service, 'lobby', { clientId: 'calm' });
  for (let count = 0; count < 198; count += 1) calm.send(state);
  calm.send({ type: 'time', t0: 1 });
  await calm.message(({ type }) => type === 'time');
});

test('pings count as messages', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  for (let count = 0; count < 201 && page.socket.readyState === page.socket.OPEN; count += 1) {
    page.socket.ping();
    await Promise.race([once(page.socket, 'pong'), page.closed]);
  }
  expect(await page.closed).toBe(1008);
});

test('a socket that goes on sending is hung up on, and the service answers meanwhile', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  const flooding = setInterval(() => {
    for (let count = 0; count < 500; count += 1) page.socket.send(JSON.stringify(fault));
  }, 5);
  await page.closed;
  clearInterval(flooding);
  expect((await healthOf(service)).status).toBe('ok');
  await expect.poll(async () => (await healthOf(service)).connections, patience).toBe(0);
});

test('a page writes at most 20 lines a minute to the log, and takes none from others', async () => {
  const service = await startTestService({ content: lobby });
  const loud = await joinScreen(service, 'lobby', { clientId: 'loud' });
  for (let count = 0; count < 150; count += 1) loud.send(fault);
  loud.send({ type: 'time', t0: 1 });
  await loud.message(({ type }) => type === 'time');
  expect(logged(service, 'a slide was skipped')).toHaveLength(20);
  const other = await joinScreen(service, 'lobby', { clientId: 'other' });
  other.send(fault);
  await expect
    .poll(() => logged(service, 'a slide was skipped').map(({ connectionId }) => connectionId), patience)
    .toContain(other.connectionId);
});

test('an address writes at most 20 lines a minute, however often it connects or sends commands', async () => {
  const service = await startTestService({ content: lobby });
  for (let count = 0; count < 15; count += 1) {
    const page = await joinScreen(service, 'lobby');
    await service.post('/api/screens/lobby/commands', { command: 'next' });
    page.socket.terminate();
  }
  const lines = ['a page connected', 'a page disconnected', 'ran a command'];
  expect(lines.flatMap((line) => logged(service, line))).toHaveLength(20);
});
