import { describe, expect, it } from 'vitest';
import { onboardingStatus } from '../../service/contract/onboarding.ts';
import { startTestService } from '../support/service.ts';
import { bind, content, getAs } from './support.ts';

const unknown = {
  deviceId: 'device-1',
  onboarded: false,
  clientName: null,
  screenId: null,
  screenSlug: null,
  screenName: null,
  playerUrl: null,
};

describe('the status of a device', () => {
  it('is nothing but its id where the device is unknown', async () => {
    const service = await startTestService({ content });
    const response = await service.get('/api/onboarding/status?deviceId=device-1');
    expect(response.status).toBe(200);
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(await response.json()).toStrictEqual(unknown);
  });

  it('is its binding, with the address by which it was asked', async () => {
    const service = await startTestService({ content });
    await bind(service, {});
    const response = await getAs(service, 'Signage.local:81', '/api/onboarding/status?deviceId=device-1');
    expect(onboardingStatus.parse(await response.json())).toStrictEqual({
      deviceId: 'device-1',
      onboarded: true,
      clientName: 'Front desk',
      screenId: 'lobby',
      screenSlug: 'lobby',
      screenName: 'Lobby',
      playerUrl: 'http://signage.local:81/screen/lobby',
    });
  });

  it('has an absolute address that is not loopback, asked by whatever name', async () => {
    const service = await startTestService({ content, env: { SIGNAGE_HOST: '0.0.0.0' } });
    await bind(service, {});
    for (const host of ['localhost', '127.0.0.1:8080', '[::1]:1', 'a.localhost']) {
      const response = await getAs(service, host, '/api/onboarding/status?deviceId=device-1');
      const { hostname, port, pathname } = new URL(onboardingStatus.parse(await response.json()).playerUrl ?? '');
      expect(hostname).not.toMatch(/^127\.|localhost|^\[::1?\]$/);
      expect([port, pathname]).toStrictEqual([new URL(service.url).port, '/screen/lobby']);
    }
  });

  it.each([
    ['127.0.0.1', '127.0.0.1'],
    ['localhost', '127.0.0.1'],
    ['::1', '[::1]'],
  ])('names the loopback address where the service listens on %s alone', async (SIGNAGE_HOST, host) => {
    const service = await startTestService({ content, env: { SIGNAGE_HOST } });
    expect(new URL(service.url).hostname).toBe(host);
    const bound = await (await bind(service, {})).json();
    const status = await (await service.get('/api/onboarding/status?deviceId=device-1')).json();
    for (const { playerUrl } of [bound, status]) expect(playerUrl).toBe(`${service.url}/screen/lobby`);
  });

  it('names the address of the proxy here that ends TLS', async () => {
    const service = await startTestService({ content, env: { SIGNAGE_TRUST_PROXY: 'on' } });
    await bind(service, {});
    const headers = { 'X-Forwarded-Proto': 'https' };
    const status = await (await service.get('/api/onboarding/status?deviceId=device-1', { headers })).json();
    expect(status).toMatchObject({ playerUrl: `https://${new URL(service.url).host}/screen/lobby` });
  });

  it('begins with the public URL where one is set', async () => {
    const service = await startTestService({ content, env: { SIGNAGE_PUBLIC_URL: 'https://signs.example.com/' } });
    const response = await bind(service, {});
    expect(await response.json()).toMatchObject({ playerUrl: 'https://signs.example.com/screen/lobby' });
  });

  it('is not onboarded while the screen is gone, and onboarded again when it is back', async () => {
    const service = await startTestService({ content });
    await bind(service, { screenSlug: 'gate-4' });
    const status = async () => (await service.get('/api/onboarding/status?deviceId=device-1')).json();
    service.writeContent({ ...content, screens: content.screens.slice(0, 2) });
    await expect.poll(status, { timeout: 20_000 }).toStrictEqual({ ...unknown, clientName: 'Front desk' });
    service.writeContent(content);
    await expect.poll(status, { timeout: 20_000 }).toMatchObject({ onboarded: true, screenSlug: 'gate-4' });
  });

  it('has the name of a device that was named but never bound', async () => {
    const service = await startTestService({ content });
    await service.post('/api/screens/lobby/commands', {
      command: 'setclientname',
      deviceId: 'device-1',
      clientName: 'North wall',
    });
    const response = await service.get('/api/onboarding/status?deviceId=device-1');
    expect(await response.json()).toStrictEqual({ ...unknown, clientName: 'North wall' });
  });
});

describe('a device id in a query', () => {
  it.each(['status', 'qr'])('is judged by %s', async (endpoint) => {
    const service = await startTestService({ content });
    const ask = async (query: string) => {
      const response = await service.get(`/api/onboarding/${endpoint}${query}`);
      return response.status === 200 ? 200 : [response.status, (await response.json()).error];
    };
    const refusal = (code: string) => [400, { code, message: expect.stringContaining('deviceId'), field: 'deviceId' }];

    for (const id of ['a', 'A-Z.a_z:0', '__proto__', 'x'.repeat(128)]) expect(await ask(`?deviceId=${id}`)).toBe(200);
    for (const query of ['', '?', '?deviceid=a']) expect(await ask(query)).toStrictEqual(refusal('missing_field'));
    for (const query of [
      '?deviceId=',
      '?deviceId=a&deviceId=b',
      '?deviceId=a%20b',
      '?deviceId=ä',
      `?deviceId=${'x'.repeat(129)}`,
    ]) {
      expect(await ask(query), query).toStrictEqual(refusal('invalid_field'));
    }
  });
});

it('lists the screens as they are in the content', async () => {
  const service = await startTestService({ content });
  const response = await service.get('/api/onboarding/screens');
  const { screens } = await response.json();
  expect(screens.map(({ slug }: { slug: string }) => slug)).toStrictEqual(['lobby', 'cafe', 'gate-4']);
  expect(screens[1]).toStrictEqual({
    id: 'cafe',
    name: 'Café',
    slug: 'cafe',
    playlist_id: 'main',
    created_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
    modified_at: expect.stringMatching(/^\d{4}-.*\.\d{3}Z$/),
  });
});

it('is not part of the baseline', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_VARIANT: 'baseline' } });
  for (const path of [
    '/onboard',
    '/api/onboarding/status?deviceId=a',
    '/api/onboarding/screens',
    '/api/onboarding/qr?deviceId=a',
  ]) {
    expect((await service.get(path)).status, path).toBe(404);
  }
  expect((await bind(service, {})).status).toBe(404);
  expect((await service.post('/api/auth/page', {})).status).toBe(404);
  const landing = await service.get('/');
  expect(landing.headers.get('content-type')).toMatch('text/plain');
});
