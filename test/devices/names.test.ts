/** `GET /api/onboarding/names`: what other devices are called, so that a form suggests a name that none of them has. */
import { expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { refusalOf } from '../support/operator.ts';
import { startTestService } from '../support/service.ts';
import { bind, content } from './support.ts';

const path = '/api/onboarding/names';
const secret = 'correct horse battery staple';

test('the names of all other devices are told, in whatever form the own id is written', async () => {
  const service = await startTestService({ content });
  const namesFor = async (deviceId: string) => (await service.get(`${path}?deviceId=${deviceId}`)).json();
  expect(await namesFor('device-1')).toEqual({ names: [] });
  await bind(service, { clientName: 'Counter' });
  await bind(service, { deviceId: '4K7QM3X9FT2WD0AZ', clientName: 'Door' });
  expect(await namesFor('device-1')).toEqual({ names: ['Door'] });
  expect(await namesFor('4k7q-m3x9-ft2w-d0az')).toEqual({ names: ['Counter'] });
  expect(await namesFor('device-3')).toEqual({ names: ['Counter', 'Door'] });
  await fetch(`${service.url}/console/api/devices/device-1`, { method: 'DELETE' });
  expect(await namesFor('device-3')).toEqual({ names: ['Door'] });
  expect(await refusalOf(await service.get(path))).toEqual([400, 'missing_field']);
  expect(await refusalOf(await service.get(`${path}?deviceId=a/b`))).toEqual([400, 'invalid_field']);
});

test('with a secret they are told to pages of the service and to signed requests alone', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_SHARED_SECRET: secret } });
  const target = `${path}?deviceId=device-1`;
  expect(await refusalOf(await service.get(target))).toEqual([401, 'credentials_required']);
  const signed = signRequest({ secret, method: 'GET', url: service.url + target });
  expect((await service.get(target, { headers: signed })).status).toBe(200);
  const [, token = ''] = /"token":"([^"]+)"/.exec(await (await service.get('/')).text()) ?? [];
  expect((await service.get(target, { headers: { 'x-signage-page-auth': token } })).status).toBe(200);
});

test('the baseline variant has no such path', async () => {
  const service = await startTestService({ content, env: { SIGNAGE_VARIANT: 'baseline' } });
  expect((await service.get(`${path}?deviceId=device-1`)).status).toBe(404);
});
