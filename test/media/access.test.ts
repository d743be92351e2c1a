/** What only the whole service can show: who may write, and what the baseline variant has. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { createPageTokens } from '../../service/auth/tokens.ts';
import { startTestService } from '../support/service.ts';
import { errorOf } from './server.ts';

const secret = 'a secret of more than sixteen characters';

it('accepts uploads only from signed requests', async () => {
  const { get, url } = await startTestService({ env: { SIGNAGE_SHARED_SECRET: secret } });
  const path = '/api/media/a.txt';
  const sign = (method: string, body = '') => signRequest({ secret, method, url: url + path, body });
  const put = (body: string, headers: Record<string, string>) => get(path, { method: 'PUT', body, headers });
  const tokens = createPageTokens({ secret, previous: null, lifetimeSeconds: 60, now: Date.now });
  const { token } = (await tokens.issue()) as { token: string };

  const refusals: [Response, number, string][] = [
    [await put('x', {}), 401, 'credentials_required'],
    [await put('x', { 'x-signage-page-auth': token }), 403, 'signature_required'],
    [await put('forged', sign('PUT', 'signed')), 401, 'signature_invalid'],
  ];
  for (const [response, status, code] of refusals) {
    expect(response.status).toBe(status);
    expect(await errorOf(response)).toMatchObject({ code });
  }
  expect((await get('/media/a.txt')).status).toBe(404);

  expect((await put('signed', sign('PUT', 'signed'))).status).toBe(201);
  expect(await (await get('/media/a.txt')).text()).toBe('signed');
  expect((await get(path, { method: 'DELETE' })).status).toBe(401);
  expect((await get(path, { method: 'DELETE', headers: sign('DELETE') })).status).toBe(204);
});

it('serves media in the baseline variant too, but refuses uploads', async () => {
  const { get, dataDir } = await startTestService({ env: { SIGNAGE_VARIANT: 'baseline' } });
  writeFileSync(join(dataDir, 'uploads', 'a.txt'), 'by hand');
  expect(await (await get('/media/a.txt')).text()).toBe('by hand');
  // It is sent as it is, and what browsers show instead is not waited for.
  writeFileSync(join(dataDir, 'uploads', 'a.heic'), Buffer.from('\0\0\0\x18ftypheic\0\0\0\0mif1heic', 'latin1'));
  expect((await get('/media/a.heic')).status).toBe(200);
  expect((await get('/api/media/config')).status).toBe(404);
  expect((await get('/api/media/a.txt', { method: 'PUT', body: 'x' })).status).toBe(404);
});
