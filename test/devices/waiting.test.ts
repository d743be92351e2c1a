/** Displays that wait for a screen: every console of the site lists them, and a signed request binds them. */
import { expect, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { signageHere } from '../cli/support.ts';
import { openConsole } from '../console/browser.ts';
import { startSite } from '../peers/support.ts';
import { makeDevice } from '../support/device-key.ts';
import { patience } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { protocolsOf } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { bind, content, openLanding } from './support.ts';

const askSite = async (box: TestService, secret: string | null): Promise<string> =>
  (await createOperator(box, secret)('GET', '/console/api/site')).text();

const waitingAt = async (box: TestService, secret: string | null = null): Promise<SiteOverview['waiting']> =>
  (JSON.parse(await askSite(box, secret)) as SiteOverview).waiting;

test('a display of one box is listed at the other, without its code, until a signed request binds it or its page closes', async () => {
  const [first, second] = await startSite({ content, env: secretSettings(operatorSecret) });
  const device = makeDevice();
  const proof = device.prove({ nodeId: second.nodeId });
  const status = await second.get(`/api/onboarding/status?deviceId=${device.deviceId}`, {
    headers: { 'x-signage-device-proof': proof },
  });
  const code = status.headers.get('x-signage-claim') ?? 'none';
  const options = { protocols: await protocolsOf(second, 'lobby', operatorSecret) };
  const typed = await openLanding(second, 'hall-display', options);
  await openLanding(second, 'hall-display', options);
  const coded = await openLanding(second, device.deviceId.toLowerCase(), options);
  await second.get('/api/onboarding/status?deviceId=asked-about');
  const there = (deviceId: string) => ({ deviceId, nodeId: second.nodeId });
  await expect
    .poll(() => waitingAt(first, operatorSecret), patience)
    .toEqual([there('hall-display'), there(device.deviceId)]);
  expect(code).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
  expect(await askSite(first, operatorSecret)).not.toContain(code);
  expect((await first.get('/console/api/site')).status).toBe(401);
  const env = { SIGNAGE_BOX: first.url, SIGNAGE_SHARED_SECRET: operatorSecret };
  const { stdout } = await signageHere(['devices', 'list'], env);
  expect(stdout).toMatch(/^NAME .*\n- +waiting +now +hall-display +-\n- +waiting +now +[0-9A-Z]{16} +-\n$/);

  const binding = { deviceId: 'hall-display', clientName: 'Hall', screenSlug: 'lobby' };
  expect((await bind(first, binding)).status).toBe(401);
  const bound = await createOperator(first, operatorSecret)('POST', '/api/onboarding', binding);
  expect(await bound.json()).toMatchObject({ deviceId: 'hall-display', screenSlug: 'lobby', queued: false });
  expect(await waitingAt(first, operatorSecret)).toEqual([there(device.deviceId)]);
  expect(await waitingAt(second, operatorSecret)).toEqual([there(device.deviceId)]);
  expect(await typed.message(({ onboarded }) => onboarded === true)).toMatchObject({ screenSlug: 'lobby' });

  coded.socket.close();
  await expect.poll(() => waitingAt(first, operatorSecret), patience).toEqual([]);
});

test('a box lists at most 100, and an address with many pages does not displace another one', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_TRUST_PROXY: 'on' } });
  const openFrom = (address: string, deviceId: string) =>
    openLanding(service, deviceId, { headers: { 'X-Forwarded-For': address } });
  await Promise.all(Array.from({ length: 101 }, (_, index) => openFrom('192.0.2.1', `invented-${index}`)));
  await openFrom('192.0.2.2', 'hall-display');
  const ids = (await waitingAt(service)).map(({ deviceId }) => deviceId);
  expect([ids.length, ids.slice(0, 2).includes('hall-display')]).toEqual([100, true]);

  const none = { screens: [], playlists: [] };
  const put = await createOperator(service, null)('PUT', '/console/api/content', none, { 'If-Match': '*' });
  expect(put.status).toBe(200);
  const { page } = await openConsole(service.url);
  await page.getByText('hall-display').waitFor();
  expect(await page.getByRole('button', { name: 'Connect' }).count()).toBe(0);
});
