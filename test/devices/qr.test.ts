import { describe, expect, it } from 'vitest';
import { startTestService } from '../support/service.ts';
import { content, getAs, modulesOf, QUIET, readQr } from './support.ts';

const drawnFor = async (
  deviceId: string,
  host = 'signage.local:8080',
  env: Record<string, string> = {},
): Promise<boolean[][]> => {
  const service = await startTestService({ content, env });
  const response = await getAs(service, host, `/api/onboarding/qr?deviceId=${deviceId}`);
  return modulesOf(await response.text());
};

describe('the QR code', () => {
  it('is an SVG of its own', async () => {
    const service = await startTestService({ content });
    const response = await service.get('/api/onboarding/qr?deviceId=device-1');
    expect(response.headers.get('content-type')).toMatch(/^image\/svg\+xml/);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.text()).toMatch(/^<svg xmlns="http:\/\/www\.w3\.org\/2000\/svg"/);
  });

  it.each(['device-1', 'A-Z.a_z:0', 'x'.repeat(128)])(
    'says the address of the form for %s, letter for letter',
    async (id) => {
      expect(readQr(await drawnFor(id))).toBe(`http://signage.local:8080/onboard?deviceId=${id}`);
    },
  );

  it('says the loopback address where the service listens on nothing else', async () => {
    const service = await startTestService({ content });
    const response = await service.get('/api/onboarding/qr?deviceId=device-1');
    expect(readQr(modulesOf(await response.text()))).toBe(`${service.url}/onboard?deviceId=device-1`);
  });

  it('says an address that is not loopback where it is asked for by one', async () => {
    const env = { SIGNAGE_HOST: '0.0.0.0' };
    const url = new URL(readQr(await drawnFor('device-1', 'localhost:8080', env)) ?? '');
    expect(url.hostname).not.toMatch(/^127\.|localhost|^\[::1?\]$/);
    expect(url.pathname + url.search).toBe('/onboard?deviceId=device-1');
  });

  it('has a quiet zone of four modules, and no more', async () => {
    const modules = await drawnFor('device-1');
    const dark = modules.flatMap((row, y) => row.flatMap((isDark, x) => (isDark ? [{ x, y }] : [])));
    const edges = dark.flatMap(({ x, y }) => [x, y, modules.length - 1 - x, modules.length - 1 - y]);
    expect(Math.min(...edges)).toBe(QUIET);
  });

  it('is read with a twelfth of it covered', async () => {
    const modules = await drawnFor('4K7QM3X9FT2WD0AZ');
    const inner = modules.length - 2 * QUIET;
    const side = Math.round(Math.sqrt((inner * inner) / 12));
    const from = Math.floor((modules.length - side) / 2);
    for (let y = from; y < from + side; y += 1) modules[y]?.fill(true, from, from + side);
    expect(readQr(modules)).toBe('http://signage.local:8080/onboard?deviceId=4K7QM3X9FT2WD0AZ');
  });
});
