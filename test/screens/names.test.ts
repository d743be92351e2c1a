/** setclientname: a name that stays with the device. */
import { expect, test } from 'vitest';
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import { lobby } from '../content/samples.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const rename = (service: TestService, clientName: string, more: object = {}) =>
  service.post('/api/screens/lobby/commands', { command: 'setclientname', clientName, deviceId: 'device-1', ...more });

const connectionsOf = async (service: TestService) => {
  const snapshot = (await (await service.get('/api/screens/lobby/connections')).json()) as ConnectionSnapshot;
  return snapshot.connections.map(({ clientName, deviceId, label }) => ({ clientName, deviceId, label }));
};

test('it is told to the connections of the device, and shows in the snapshot', async () => {
  const service = await startTestService({ content: lobby });
  const one = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  const same = await joinScreen(service, 'lobby', { deviceId: 'device-1', clientId: 'client-2' });
  const other = await joinScreen(service, 'lobby', { deviceId: 'device-2', clientName: 'Window' });
  const response = await rename(service, ' Front door ');
  expect(await response.json()).toMatchObject({ command: 'setclientname', connectionId: null, sent: 2 });
  const told = { type: 'command', command: 'setclientname', clientName: 'Front door', deviceId: 'device-1' };
  for (const page of [one, same]) expect(await page.message(({ type }) => type === 'command')).toEqual(told);
  const named = { clientName: 'Front door', deviceId: 'device-1', label: 'Front door' };
  expect(await connectionsOf(service)).toEqual([
    named,
    named,
    { clientName: 'Window', deviceId: 'device-2', label: 'Window' },
  ]);
  expect(other.messages.map(({ type }) => type)).toEqual(['welcome']);
});

test.each(['4K7QM3X9FT2WD0AZ', '4k7q m3x9 ft2w d0az', '4K7Q-M3X9-FT2W-D0AZ'])(
  'an id that the product made is matched as a person types it: %s',
  async (deviceId) => {
    const service = await startTestService({ content: lobby });
    const page = await joinScreen(service, 'lobby', { deviceId: '4K7QM3X9FT2WD0AZ' });
    const response = await rename(service, 'Front door', { deviceId });
    expect([response.status, await response.json()]).toMatchObject([200, { sent: 1 }]);
    expect(await page.message(({ type }) => type === 'command')).toMatchObject({ clientName: 'Front door' });
    expect(await connectionsOf(service)).toMatchObject([{ clientName: 'Front door', deviceId: '4K7QM3X9FT2WD0AZ' }]);
  },
);

test('it outlives the service, and wins over what the page thinks it is called', async () => {
  const dataDir = temporaryFolder();
  const first = await startTestService({ dataDir, content: lobby });
  expect(await (await rename(first, 'Front door')).json()).toMatchObject({ sent: 0 });
  await first.close();
  const second = await startTestService({ dataDir });
  const page = await joinScreen(second, 'lobby', { deviceId: 'device-1', clientName: 'Old name' });
  expect(page.welcome.clientName).toBe('Front door');
  expect(await connectionsOf(second)).toEqual([
    { clientName: 'Front door', deviceId: 'device-1', label: 'Front door' },
  ]);
});

test('a target narrows down who counts, and the other pages of the device learn the name too', async () => {
  const bar = { ...lobby, screens: [...lobby.screens, { name: 'Bar', slug: 'bar', playlist_id: 'welcome' }] };
  const service = await startTestService({ content: bar });
  const one = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  const elsewhere = await joinScreen(service, 'bar', { deviceId: 'device-1', clientId: 'client-2' });
  const other = await joinScreen(service, 'lobby', { deviceId: 'device-2', clientId: 'client-3' });
  const { connectionId } = one;
  expect(await (await rename(service, 'A', { connectionId })).json()).toMatchObject({ connectionId, sent: 1 });
  for (const page of [one, elsewhere]) {
    expect(await page.message(({ type }) => type === 'command')).toMatchObject({ clientName: 'A' });
  }
  expect(await (await rename(service, 'B')).json()).toMatchObject({ connectionId: null, sent: 2 });

  const refused = await rename(service, 'C', { connectionId: other.connectionId });
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'invalid_field', field: 'deviceId' } },
  ]);
  expect(await (await rename(service, 'C', { clientId: 'client-3' })).json()).toMatchObject({
    error: { code: 'invalid_field' },
  });
  // Which screen the address names decides nothing: a name is that of a device.
  const far = await joinScreen(service, 'bar', { deviceId: 'device-2', clientId: 'client-4' });
  expect((await rename(service, 'C', { connectionId: far.connectionId })).status).toBe(400);
  expect((await rename(service, 'C', { clientId: 'client-4' })).status).toBe(400);
  expect((await connectionsOf(service)).map(({ clientName }) => clientName)).toEqual(['B', null]);
  const { connectionId: meant } = elsewhere;
  expect(await (await rename(service, 'D', { clientId: 'client-2' })).json()).toMatchObject({
    connectionId: meant,
    sent: 1,
  });
  for (const page of [one, elsewhere]) await page.message(({ clientName }) => clientName === 'D');
  expect([other.messages, far.messages].map(({ length }) => length)).toEqual([1, 1]);

  expect(await (await rename(service, 'E', { connectionId: 'gone' })).json()).toMatchObject({ sent: 0 });
  expect((await connectionsOf(service)).map(({ clientName }) => clientName)).toEqual(['E', null]);
});

test('an unnamed device has the name that its page remembers, or none', async () => {
  const service = await startTestService({ content: lobby });
  const remembered = await joinScreen(service, 'lobby', { deviceId: 'device-1', clientName: 'Remembered' });
  const nameless = await joinScreen(service, 'lobby', { deviceId: 'device-2' });
  expect([remembered.welcome.clientName, nameless.welcome.clientName]).toEqual(['Remembered', null]);
});
