/** What pages hear when the content or the service changes under them. */
import { expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { joinScreen, openPage, openSocket } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

const screens = (...slugs: string[]) => ({ screens: slugs.map((slug) => ({ name: slug, slug })) });

test('the pages of a screen that is taken away are let go, and not let in again', async () => {
  const service = await startTestService({ content: screens('lobby', 'bar') });
  const gone = await joinScreen(service, 'bar');
  const stays = await joinScreen(service, 'lobby');
  service.writeContent(screens('lobby'));
  expect(await gone.closed).toBe(1001);
  await expect(openPage(service, 'bar')).rejects.toThrow('404');
  expect(stays.socket.readyState).toBe(stays.socket.OPEN);

  service.writeContent(screens('lobby', 'bar'));
  await expect.poll(() => joinScreen(service, 'bar').then(() => 'in', String), patience).toBe('in');
});

test('a page that says hello to a screen that has gone meanwhile is let go', async () => {
  const service = await startTestService({ content: screens('lobby', 'bar') });
  const page = await openPage(service, 'bar');
  service.writeContent(screens('lobby'));
  await expect.poll(async () => (await service.get('/screen/bar')).status, patience).toBe(404);
  page.send({ type: 'hello', clientId: 'a', page: '/screen/bar' });
  expect(await page.closed).toBe(1001);
  expect(page.messages).toEqual([]);
});

test('pages hear goodbye when the service stops, and those that do not answer are hung up on', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  const mute = await openSocket(service, '/api/screens/lobby/socket');
  mute.socket.pause();
  await service.close();
  expect(await page.closed).toBe(1001);
  mute.socket.resume();
  await mute.closed;
});

test('a page that answers the goodbye with nonsense does not disturb it', async () => {
  const service = await startTestService({ content: lobby });
  const page = await joinScreen(service, 'lobby');
  const closing = service.close();
  const stream = (page.socket as unknown as { _socket: NodeJS.WritableStream })._socket;
  stream.write(Buffer.from([0xf1, 0x80, 0, 0, 0, 0]));
  await closing;
  await page.closed;
});
