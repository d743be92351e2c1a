import { decodeJwt } from 'jose';
import { describe, expect, it } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
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
