import { expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { bind } from '../devices/support.ts';
import { secret, startBox, startSite, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

const forget = (box: TestService, deviceId: string) =>
  box.get(`/console/api/devices/${deviceId}`, { method: 'DELETE' });

const isOnboarded = async (box: TestService, deviceId: string): Promise<boolean> => {
  const status = await (await box.get(`/api/onboarding/status?deviceId=${deviceId}`)).json();
  return (status as { onboarded: boolean }).onboarded;
};

const devicesOf = async (box: TestService): Promise<string[]> => {
  const { screens } = (await (await box.get('/console/api/site')).json()) as SiteOverview;
  return screens.flatMap(({ devices }) => devices.map(({ deviceId }) => deviceId));
};

test('a device is forgotten on all boxes, and a box that was away does not bring it back', {
  timeout: 60_000,
}, async () => {
  const [first, second] = await startSite();
  const awayDir = temporaryFolder();
  const away = await startBox([first], { dataDir: awayDir });
  await untilTogether([first, second, away]);
  const binding = { deviceId: 'd1', clientName: 'Lobby left', screenSlug: 'lobby' };
  expect((await bind(first, binding)).status).toBe(200);
  for (const box of [first, second, away]) await expect.poll(() => isOnboarded(box, 'd1'), patience).toBe(true);
  await away.close();

  expect((await forget(second, 'd1')).status).toBe(204);
  expect(await isOnboarded(second, 'd1')).toBe(false);
  await expect.poll(() => isOnboarded(first, 'd1'), patience).toBe(false);
  expect(await devicesOf(first)).toEqual([]);

  const back = await startBox([first], { dataDir: awayDir });
  await expect.poll(() => isOnboarded(back, 'd1'), patience).toBe(false);
  expect(await Promise.all([first, second].map((box) => isOnboarded(box, 'd1')))).toEqual([false, false]);

  expect((await bind(back, { ...binding, clientName: 'Back again' })).status).toBe(200);
  await expect.poll(() => isOnboarded(second, 'd1'), patience).toBe(true);
});

test('forgetting a device that is not known is no error, and an id that can not be one is', async () => {
  const service = await startTestService();
  expect((await forget(service, 'nobody')).status).toBe(204);
  const refused = await forget(service, '%20%21');
  expect([refused.status, await refused.json()]).toMatchObject([
    400,
    { error: { code: 'invalid_field', field: 'deviceId' } },
  ]);
});

test('with a secret a device is forgotten by a signed request alone', async () => {
  const service = await startTestService({ env: { SIGNAGE_SHARED_SECRET: secret } });
  expect((await forget(service, 'd1')).status).toBe(401);
  const url = `${service.url}/console/api/devices/d1`;
  const headers = signRequest({ secret, method: 'DELETE', url, body: '' });
  expect((await service.get('/console/api/devices/d1', { method: 'DELETE', headers })).status).toBe(204);
});
