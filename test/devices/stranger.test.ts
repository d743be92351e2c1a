/** With a secret nobody can be a device by saying so, on any box. */
import { expect, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import type { PeerState } from '../../service/contract/peers.ts';
import { shareSite } from '../peers/support.ts';
import { makeDevice } from '../support/device-key.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import type { TestService } from '../support/service.ts';
import { content, openLanding } from './support.ts';

const site = shareSite({ content, env: secretSettings(operatorSecret) });

test('a page that names a device without a proof counts nowhere, whatever box has seen the device', async () => {
  const [first, second] = site();
  const protocols = await protocolsOf(second, 'lobby', operatorSecret);
  const own = makeDevice();
  const { deviceId } = own;
  const ask = createOperator(first, operatorSecret);
  const bind = async (screenSlug: string) => {
    const answer = await ask('POST', '/api/onboarding', { deviceId, clientName: 'Front desk', screenSlug });
    return (await answer.json()) as { queued: boolean };
  };
  const nameIt = async (clientName: string) => {
    const command = { command: 'setclientname', deviceId, clientName };
    return (await ask('POST', '/api/screens/lobby/commands', command)).json();
  };
  const lobbyAt = async (box: TestService) => {
    const answer = await createOperator(box, operatorSecret)('GET', '/console/api/site');
    const { screens } = (await answer.json()) as SiteOverview;
    const { devices = [], connections = [] } = screens.find(({ screen }) => screen.slug === 'lobby') ?? {};
    return [devices.map(({ state }) => state), connections.map((each) => each.deviceId)];
  };
  const toldToPeers = async (): Promise<PeerState['devices']> => {
    const answer = await createOperator(second, operatorSecret)('GET', '/api/peers/state');
    return ((await answer.json()) as PeerState).devices;
  };

  expect(await bind('lobby')).toMatchObject({ queued: true });
  const stranger = await joinScreen(second, 'lobby', { deviceId }, { protocols });
  await openLanding(second, deviceId, { protocols });
  for (const box of [first, second]) expect(await lobbyAt(box)).toEqual([['never'], [null]]);
  expect(await bind('lobby')).toMatchObject({ queued: true });
  expect(await nameIt('Counter')).toMatchObject({ sent: 0 });
  expect(await toldToPeers()).toEqual([]);
  // The form knows the device by the page, which still may be it.
  const status = await second.get(`/api/onboarding/status?deviceId=${deviceId}`);
  expect(status.headers.get('x-signage-device-known')).toBe('true');

  const proof = () => own.prove({ nodeId: second.nodeId });
  const page = await joinScreen(second, 'lobby', { deviceId, clientId: 'client-2', proof: proof() }, { protocols });
  expect(page.welcome.proven).toBe(true);
  for (const box of [first, second]) expect(await lobbyAt(box)).toEqual([['playing'], [null, deviceId]]);
  expect(await nameIt('Desk')).toMatchObject({ sent: 1 });
  await expect.poll(toldToPeers, patience).toEqual([deviceId]);
  expect(await bind('cafe')).toMatchObject({ queued: false });
  expect(await page.message(({ command }) => command === 'redirect')).toMatchObject({ url: '/screen/cafe' });
  expect(stranger.messages.map(({ type }) => type)).toEqual(['welcome']);
});

test('a landing page is told at once where it has proved its device', async () => {
  const [first, second] = site();
  const { deviceId, prove } = makeDevice();
  const landing = await openLanding(second, deviceId, {
    protocols: await protocolsOf(second, 'lobby', operatorSecret),
  });
  const headers = { 'x-signage-device-proof': prove({ nodeId: second.nodeId }) };
  await second.get(`/api/onboarding/status?deviceId=${deviceId}`, { headers });
  const binding = { deviceId, clientName: 'Front desk', screenSlug: 'cafe' };
  const bound = await createOperator(first, operatorSecret)('POST', '/api/onboarding', binding);
  expect(await bound.json()).toMatchObject({ queued: false });
  expect(await landing.message(({ onboarded }) => onboarded === true)).toMatchObject({ screenSlug: 'cafe' });
});
