/** Answers that are written without a body are proven too; what is streamed tells the clock alone. */
import { expect, test } from 'vitest';
import { provenTime, sha256Hex, signRequest } from '../../service/auth/sign.ts';
import { clockHeader, signatureHeader } from '../../service/domain/request-signature.ts';
import { createOperator, operatorSecret } from '../support/operator.ts';
import { startTestService } from '../support/service.ts';

test('HEAD and 304 of a file are proven over an empty body, and may not be changed on the way', async () => {
  const service = await startTestService({ env: { SIGNAGE_SHARED_SECRET: operatorSecret } });
  await createOperator(service, operatorSecret)('PUT', '/api/media/a.txt', 'words');
  const ask = async (method: string, headers: Record<string, string> = {}) => {
    const url = `${service.url}/media/a.txt`;
    const signed = signRequest({ secret: operatorSecret, method, url });
    const response = await service.get('/media/a.txt', {
      method,
      headers: { ...headers, ...signed },
      cache: 'no-store',
    });
    const asked = { request: signed[signatureHeader] ?? '', status: response.status, sha256: sha256Hex('') };
    const time = provenTime(operatorSecret, { ...asked, headerOf: (name) => response.headers.get(name) });
    return { response, isProven: time !== null };
  };
  const head = await ask('HEAD');
  expect([head.response.status, head.isProven]).toEqual([200, true]);
  expect(head.response.headers.get('Cache-Control')).toContain('no-transform');
  const known = await ask('GET', { 'If-None-Match': head.response.headers.get('ETag') ?? '' });
  expect([known.response.status, known.isProven]).toEqual([304, true]);
  const whole = await ask('GET');
  expect([await whole.response.text(), whole.isProven]).toEqual(['words', false]);
  expect(whole.response.headers.get(clockHeader)).toMatch(/^\d{13}$/);
});
