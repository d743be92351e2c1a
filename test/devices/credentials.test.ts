import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { makeDevice } from '../support/device-key.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import { shareTestService, startTestService, type TestService } from '../support/service.ts';
import { bind, content, openLanding } from './support.ts';

const secret = 'correct horse battery staple';

/** What the service wrote into a page. */
const bootOf = async (service: TestService, path: string) => {
  const html = await (await service.get(path)).text();
  return JSON.parse(/id="boot">([^<]*)</.exec(html)?.[1] ?? '');
};
const pageHeader = async (service: TestService, path = '/onboard'): Promise<Record<string, string>> => ({
  'x-signage-page-auth': (await bootOf(service, path)).pageToken.token,
});

describe('with a secret', () => {
  const secured = shareTestService({ content, env: { SIGNAGE_SHARED_SECRET: secret } });

  it.each(['/', '/onboard?deviceId=a', '/screen/lobby', '/screen/none'])(
    '%s is served with a token inside',
    async (path) => {
      const service = secured();
      const { token, issuedAt, expiresAt } = (await bootOf(service, path)).pageToken;
      const { iat = 0, exp = 0, aud } = decodeJwt(token);
      expect(aud).toBe('signage-page');
      expect([issuedAt, expiresAt]).toStrictEqual([iat, exp].map((seconds) => new Date(seconds * 1000).toISOString()));
      expect(exp - iat).toBe(900);
    },
  );

  it('a signature binds a device; a token needs a code of the display, and nothing does not', async () => {
    const service = secured();
    const refused = await bind(service, {});
    expect([refused.status, (await refused.json()).error.code]).toStrictEqual([401, 'credentials_required']);
    const codeless = await bind(service, {}, await pageHeader(service));
    expect([codeless.status, (await codeless.json()).error.code]).toStrictEqual([403, 'claim_required']);

    const body = JSON.stringify({ deviceId: 'device-1', clientName: 'Front desk', screenSlug: 'cafe' });
    const signature = signRequest({ secret, method: 'POST', url: `${service.url}/api/onboarding`, body });
    expect((await service.post('/api/onboarding', body, { ...signature })).status).toBe(200);
  });

  it.each([
    ['whose id is derived from its key', {}],
    ['with another id', { deviceId: 'front-door' }],
  ])('nobody takes the place of a device %s once it has proved itself', async (_, other) => {
    const service = secured();
    const own = makeDevice();
    const { deviceId } = { ...own, ...other };
    const bindTo = async (screenSlug: string): Promise<boolean> => {
      const body = JSON.stringify({ deviceId, clientName: 'Front desk', screenSlug });
      const signature = signRequest({ secret, method: 'POST', url: `${service.url}/api/onboarding`, body });
      return (await (await service.post('/api/onboarding', body, { ...signature })).json()).queued;
    };
    const join = async (isOwn: boolean) => {
      const proof = isOwn ? own.prove({ nodeId: service.nodeId, deviceId }) : null;
      const protocols = await protocolsOf(service, 'lobby', secret);
      return joinScreen(service, 'lobby', { deviceId, proof }, { protocols });
    };
    const isMoved = ({ command }: Record<string, unknown>): boolean => command === 'redirect';

    await bindTo('lobby');
    const before = await join(true);
    expect(before.welcome.proven).toBe(true);
    before.socket.close();
    await before.closed;
    await expect.poll(() => bindTo('cafe')).toBe(true);

    await openLanding(service, deviceId, { protocols: await protocolsOf(service, 'lobby', secret) });
    const stranger = await join(false);
    const back = await join(true);
    expect(await back.message(isMoved)).toMatchObject({ url: '/screen/cafe' });
    expect(stranger.messages.some(isMoved)).toBe(false);
  });

  it('looking is open to anyone', async () => {
    const service = secured();
    for (const path of ['status?deviceId=a', 'screens', 'qr?deviceId=a']) {
      expect((await service.get(`/api/onboarding/${path}`)).status, path).toBe(200);
    }
  });

  it('a token is renewed by a token alone', async () => {
    const service = secured();
    const renewed = await service.post('/api/auth/page', '', await pageHeader(service, '/'));
    expect(renewed.status).toBe(200);
    expect(renewed.headers.get('cache-control')).toBe('no-store');
    const { token, ...rest } = await renewed.json();
    expect(rest).toStrictEqual({ issuedAt: expect.any(String), expiresAt: expect.any(String) });
    expect((await service.post('/api/auth/page', '', { 'x-signage-page-auth': token })).status).toBe(200);

    const signature = signRequest({ secret, method: 'POST', url: `${service.url}/api/auth/page`, body: '' });
    expect((await service.post('/api/auth/page', '', { ...signature })).status).toBe(401);
    const wrong = await service.post('/api/auth/page', '', { 'x-signage-page-auth': 'a.b.c' });
    expect([wrong.status, (await wrong.json()).error.code]).toStrictEqual([401, 'page_token_invalid']);
  });

  it("the landing page's socket takes a token, and nothing less", async () => {
    const service = secured();
    const { token } = (await bootOf(service, '/')).pageToken;
    const page = await openLanding(service, 'device-1', { protocols: ['signage.v1', `token.${token}`] });
    expect(page.socket.protocol).toBe('signage.v1');
    await expect(openLanding(service)).rejects.toThrow('401');
    await expect(openLanding(service, 'device-1', { protocols: ['signage.v1', 'token.a.b.c'] })).rejects.toThrow('401');
  });
});

describe('without a secret', () => {
  it('pages have no token, and renewing answers that there is none', async () => {
    const service = await startTestService({ content });
    expect((await bootOf(service, '/')).pageToken).toBe(null);
    const response = await service.post('/api/auth/page', '');
    expect(response.status).toBe(200);
    expect(await response.json()).toStrictEqual({ token: null, issuedAt: null, expiresAt: null });
  });

  it('a body is still judged', async () => {
    const service = await startTestService({ content });
    expect((await service.post('/api/auth/page', 'x', { 'Content-Type': 'text/plain' })).status).toBe(415);
  });
});
