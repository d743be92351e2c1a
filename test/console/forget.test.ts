import { describe, expect, test } from 'vitest';
import type { SiteOverview } from '../../service/contract/console/site.ts';
import { startBox, startSite, untilTogether } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { createOperator, secretModes, secretSettings } from '../support/operator.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

type Secret = string | null;

const forget = (box: TestService, deviceId: string, secret: Secret) =>
  createOperator(box, secret)('DELETE', `/console/api/devices/${deviceId}`);

const bind = async (box: TestService, secret: Secret, clientName: string): Promise<void> => {
  const binding = { deviceId: 'd1', clientName, screenSlug: 'lobby' };
  expect((await createOperator(box, secret)('POST', '/api/onboarding', binding)).status).toBe(200);
};

const isOnboarded = async (box: TestService): Promise<boolean> => {
  const status = await (await box.get('/api/onboarding/status?deviceId=d1')).json();
  return (status as { onboarded: boolean }).onboarded;
};

const devicesOf = async (box: TestService, secret: Secret): Promise<string[]> => {
  const { screens } = (await (await createOperator(box, secret)('GET', '/console/api/site')).json()) as SiteOverview;
  return screens.flatMap(({ devices }) => devices.map(({ deviceId }) => deviceId));
};

describe.each(secretModes)('%s', (_, secret) => {
  const env = secretSettings(secret);

  test('a device is forgotten on all boxes, and a box that was away does not bring it back', {
    timeout: 60_000,
  }, async () => {
    const [first, second] = await startSite({ env });
    const awayDir = temporaryFolder();
    const away = await startBox([first], { dataDir: awayDir, env });
    await untilTogether([first, second, away]);
    await bind(first, secret, 'Lobby left');
    for (const box of [first, second, away]) await expect.poll(() => isOnboarded(box), patience).toBe(true);
    await away.close();

    expect((await forget(second, 'd1', secret)).status).toBe(204);
    expect(await isOnboarded(second)).toBe(false);
    await expect.poll(() => isOnboarded(first), patience).toBe(false);
    expect(await devicesOf(first, secret)).toEqual([]);

    const back = await startBox([first], { dataDir: awayDir, env });
    await expect.poll(() => isOnboarded(back), patience).toBe(false);
    expect(await Promise.all([first, second].map(isOnboarded))).toEqual([false, false]);

    await bind(back, secret, 'Back again');
    await expect.poll(() => isOnboarded(second), patience).toBe(true);
  });

  test('forgetting a device that is not known is no error, and an id that can not be one is', async () => {
    const service = await startTestService({ env });
    expect((await forget(service, 'nobody', secret)).status).toBe(204);
    const refused = await forget(service, '%20%21', secret);
    expect([refused.status, await refused.json()]).toMatchObject([
      400,
      { error: { code: 'invalid_field', field: 'deviceId' } },
    ]);
  });
});
