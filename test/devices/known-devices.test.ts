/** Which device ids are known, over HTTP and between boxes. */
import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import { canonicalDeviceId, crockford, shownDeviceId } from '../../service/contract/readable.ts';
import { createKnownDevices } from '../../service/devices/known-devices.ts';
import type { Peers } from '../../service/peers/index.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { startSite } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { bind, content, openLanding } from './support.ts';

const isKnown = async (service: TestService, deviceId: string, headers: Record<string, string> = {}) => {
  const path = `/api/onboarding/status?deviceId=${encodeURIComponent(deviceId)}`;
  return (await service.get(path, { headers })).headers.get('x-signage-device-known');
};

describe('a device id', () => {
  it('is not known for having been asked about', async () => {
    const service = await startTestService({ content });
    await service.get('/onboard?deviceId=device-1');
    await service.get('/api/onboarding/qr?deviceId=device-1');
    expect(await isKnown(service, 'device-1')).toBe('false');
    expect(await isKnown(service, 'device-1')).toBe('false');
  });

  it.each([
    [
      'a request that names it',
      (service: TestService) => isKnown(service, 'device-1', { 'x-signage-device': 'device-1' }),
    ],
    [
      'a playlist request that names it',
      (service: TestService) =>
        service.get('/api/screens/lobby/playlist', { headers: { 'x-signage-device': 'device-1' } }),
    ],
    ['the hello of a player page', (service: TestService) => joinScreen(service, 'lobby', { deviceId: 'device-1' })],
    ['the socket of a landing page', (service: TestService) => openLanding(service)],
    ['a binding', (service: TestService) => bind(service, {})],
  ])('is known by %s', async (_, show) => {
    const service = await startTestService({ content });
    expect(await isKnown(service, 'device-1')).toBe('false');
    await show(service);
    await expect.poll(() => isKnown(service, 'device-1'), patience).toBe('true');
    expect(await isKnown(service, 'device-2')).toBe('false');
  });

  it('is known over a restart where it is bound', async () => {
    const first = await startTestService({ content });
    await bind(first, {});
    await first.close();
    expect(await isKnown(await startTestService({ content, dataDir: first.dataDir }), 'device-1')).toBe('true');
  });

  it('is known at every box where a page of the device is at one', async () => {
    const [first, second] = await startSite({ content });
    await isKnown(first, 'device-1', { 'x-signage-device': 'device-1' });
    const [known, unknown] = await Promise.all([isKnown(second, 'device-1'), isKnown(second, 'device-2')]);
    expect([known, unknown]).toStrictEqual(['true', 'false']);
  });

  it('costs the peers one request in a quarter of a second for all clients together', async () => {
    const asked: string[][] = [];
    const broadcast = (async (_: string, deviceIds: string[]) => {
      asked.push(deviceIds);
      return { answers: [{ known: ['stranger-7'] }], degraded: false };
    }) as unknown as Peers['broadcast'];
    const knownDevices = createKnownDevices(
      { tempo: defaultTempo },
      {
        devices: { get: () => undefined },
        screens: { locationsOf: () => [] },
        landing: { has: () => false },
        peers: { isAlone: () => false, broadcast },
      },
    );
    const round = () =>
      Promise.all(Array.from({ length: 300 }, (_, index) => knownDevices.isKnown(`stranger-${index % 150}`)));
    const from = performance.now();
    const known = await round();
    await round();
    expect(performance.now() - from).toBeGreaterThanOrEqual(249);
    expect(asked.map(({ length }) => length)).toStrictEqual([32, 32]);
    expect(known.flatMap((isKnownThere, index) => (isKnownThere ? [index] : []))).toStrictEqual([7, 157]);
  });

  it('is matched without regard to case, spaces and dashes where the product made it', async () => {
    const service = await startTestService({ content });
    await isKnown(service, '4K7QM3X9FT2WD0AZ', { 'x-signage-device': '4K7QM3X9FT2WD0AZ' });
    for (const typed of ['4K7Q-M3X9-FT2W-D0AZ', '4k7qm3x9ft2wd0az', '4k7q m3x9 ft2w d0az', '4K7QM3X9-ft2wd0az']) {
      expect(await isKnown(service, typed), typed).toBe('true');
    }
    await bind(service, { deviceId: '4K7Q M3X9 FT2W D0AZ' });
    const status = await service.get('/api/onboarding/status?deviceId=4k7q-m3x9-ft2w-d0az');
    expect(await status.json()).toMatchObject({ onboarded: true, clientName: 'Front desk' });
  });

  it('that was bound as it was typed reaches the pages of the device', async () => {
    const service = await startTestService({ content });
    const page = await joinScreen(service, 'cafe', { deviceId: '4K7QM3X9FT2WD0AZ' });
    const answer = await bind(service, { deviceId: '4k7q-m3x9-ft2w-d0az' });
    expect(await answer.json()).toMatchObject({ queued: false });
    await expect.poll(() => page.messages.map(({ url }) => url), patience).toContain('/screen/lobby');
  });
});

it('keys of ids are the same for every way to write an id of the product, and others are left alone', () => {
  const bytes = fc.uint8Array({ minLength: 10, maxLength: 10 });
  fc.assert(
    fc.property(bytes, fc.func(fc.boolean()), (id, isLower) => {
      const made = crockford(id);
      const typed = [...made].map((letter, index) => (isLower(index) ? letter.toLowerCase() : letter)).join('');
      for (const written of [typed, shownDeviceId(typed), shownDeviceId(typed).replaceAll('-', ' ')]) {
        expect(canonicalDeviceId(written)).toBe(made);
      }
    }),
  );
  for (const id of ['Device-1', 'DEVICE-1', '3f2b8c1e-90ab-4cde-8f01-23456789abcd', 'k7qm-3x9f-t2wd', '__proto__']) {
    expect(canonicalDeviceId(id)).toBe(id);
  }
});
