/** Long texts of pages are cut at their bound and never refused. */
import { expect, test } from 'vitest';
import type { Connection, ConnectionSnapshot } from '../../service/contract/connections.ts';
import { lobby } from '../content/samples.ts';
import { healthOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { shareTestService } from '../support/service.ts';

const service = shareTestService({ content: lobby });

const connectionOf = async (id: string): Promise<Connection | undefined> => {
  const response = await service().get('/api/screens/lobby/connections');
  return ((await response.json()) as ConnectionSnapshot).connections.find((connection) => connection.id === id);
};

const long = 'x'.repeat(100_000);

test('the texts of a hello are cut, and so is the name of its browser', async () => {
  const { connectionId } = await joinScreen(
    service(),
    'lobby',
    { clientId: long.slice(0, 20_000), clientName: long.slice(0, 10_000), page: `/${long.slice(0, 20_000)}` },
    { headers: { 'User-Agent': 'y'.repeat(6_000) } },
  );
  const connection = await connectionOf(connectionId);
  expect(connection).toMatchObject({ clientId: long.slice(0, 500), clientName: long.slice(0, 64) });
  expect(connection?.page).toBe(`/${long.slice(0, 4_095)}`);
  expect(connection?.userAgent).toBe('y'.repeat(500));
});

test.each<[string, string, string]>([
  ['of 500 characters stays as it is', 'x'.repeat(500), 'x'.repeat(500)],
  ['of 501 characters loses one', 'x'.repeat(501), 'x'.repeat(500)],
  ['is not cut inside a character', `${'x'.repeat(499)}😀😀`, 'x'.repeat(499)],
  ['is cut behind a character that just fits', `${'x'.repeat(498)}😀😀`, `${'x'.repeat(498)}😀`],
  ['of 100,000 characters is cut', long, long.slice(0, 500)],
  ['of 20,000 emoji is cut', '😀'.repeat(20_000), '😀'.repeat(250)],
])('the title of a slide that %s', async (_, title, expected) => {
  const page = await joinScreen(service(), 'lobby');
  page.send({ type: 'state', currentSlideTitle: title });
  await expect.poll(() => connectionOf(page.connectionId)).toMatchObject({ currentSlideTitle: expected });
  page.send({ type: 'state', currentSlideId: title });
  await expect.poll(() => connectionOf(page.connectionId)).toMatchObject({ currentSlideId: expected });
});

test('a fault with a long reason is kept, cut', async () => {
  const page = await joinScreen(service(), 'lobby');
  page.send({ type: 'fault', slideId: long.slice(0, 20_000), reason: long.slice(0, 20_000) });
  const lastFault = async () =>
    (await healthOf(service())).pages.find(({ connectionId }) => connectionId === page.connectionId)?.lastFault;
  await expect.poll(lastFault).toMatchObject({ slideId: long.slice(0, 500), reason: long.slice(0, 500) });
});
