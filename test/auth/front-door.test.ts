/** Signed requests at a real service: over restarts, while a secret is rotated, and beside clients that guess. */
import { execFile } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { request } from 'node:http';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { describe, expect, test } from 'vitest';
import { WebSocket } from 'ws';
import { signRequest } from '../../service/auth/sign.ts';
import { answerHeader, recipientHeader } from '../../service/domain/request-signature.ts';
import { lobby } from '../content/samples.ts';
import { codeOf, exchange, hostLine } from '../http/raw.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { otherSecret, secret } from './support.ts';

const path = '/api/screens/lobby/commands';
const body = { command: 'next' };

const start = (dataDir: string, env: Record<string, string> = {}, wall = Date.now) =>
  startTestService({
    content: lobby,
    dataDir,
    wall,
    env: { SIGNAGE_SHARED_SECRET: secret, SIGNAGE_ALLOWED_HOSTS: '127.0.0.1', ...env },
  });

const host = '127.0.0.1:8080';
const sign = (aheadMs = 0, with_ = secret) =>
  signRequest({
    secret: with_,
    method: 'POST',
    host,
    target: path,
    body: JSON.stringify(body),
    now: Date.now() + aheadMs,
  });

/** Posts through a connection that has the Host which was signed: it is allowed, on every port. */
const post = async (service: TestService, headers: Record<string, string>): Promise<string> => {
  return new Promise((resolve, reject) => {
    const sent = request(service.url + path, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', ...headers, Host: host },
    });
    sent.on('error', reject);
    sent.on('response', async (response) => {
      let text = '';
      for await (const chunk of response) text += String(chunk);
      const { error } = JSON.parse(text) as { error?: { code: string } };
      resolve(error?.code ?? `${response.statusCode}`);
    });
    sent.end(JSON.stringify(body));
  });
};

describe('a request that was accepted', () => {
  test.each([
    ['of now', 0],
    ['dated ahead', 200_000],
  ])('%s is not accepted again after a restart, with the secret rotated meanwhile', async (_, aheadMs) => {
    const dataDir = temporaryFolder();
    const before = await start(dataDir);
    const copy = sign(aheadMs);
    expect(await post(before, copy)).toBe('200');
    expect(await post(before, copy)).toBe('signature_replayed');
    await before.close();
    const rotated = { SIGNAGE_SHARED_SECRET: otherSecret, SIGNAGE_SHARED_SECRET_PREVIOUS: secret };
    const after = await start(dataDir, rotated);
    expect(await post(after, copy)).toBe(aheadMs > 0 ? 'signature_replayed' : 'signature_stale');
    expect(await post(after, sign(aheadMs))).toBe('200');
    expect(await post(after, sign(aheadMs, otherSecret))).toBe('200');
  });

  test('is not accepted again after the clock was set back', async () => {
    const dataDir = temporaryFolder();
    const before = await start(dataDir, {}, () => Date.now() + 120_000);
    const copy = sign(119_000);
    expect(await post(before, copy)).toBe('signature_stale');
    const good = sign(120_000);
    expect(await post(before, good)).toBe('200');
    await before.close();
    const after = await start(dataDir);
    expect(await post(after, good)).toMatch(/^signature_(stale|replayed)$/);
    expect(await post(after, sign())).toBe('signature_stale');
  });
});

test('what is wrong is told in order: the path, the credentials, the recipient; a signed request gets it proven', async () => {
  const service = await start(temporaryFolder());
  // Not fetch, which sends again what is answered with 421.
  const ask = async (target: string, headers: Record<string, string>) => {
    const lines = Object.entries(headers).map(([name, value]) => `${name}: ${value}`);
    const answer = await exchange(service.url, [`POST ${target} HTTP/1.1`, hostLine(service.url), ...lines]);
    return [codeOf(answer), answerHeader in answer.headers];
  };
  const signed = (target: string) =>
    signRequest({ secret, method: 'POST', url: service.url + target, recipient: 'another-box' });
  const elsewhere = { [recipientHeader]: 'another-box' };
  expect(await ask('/api/gone', elsewhere)).toEqual(['not_found', false]);
  expect(await ask(path, elsewhere)).toEqual(['credentials_required', false]);
  const copy = signed(path);
  // As browsers send it again.
  for (let count = 0; count < 2; count += 1) expect(await ask(path, copy)).toEqual(['misdirected', true]);
  expect(await ask('/api/gone', signed('/api/gone'))).toEqual(['not_found', true]);
  expect(await ask('/api/peers/state', signed('/api/peers/state'))).toEqual(['method_not_allowed', true]);
});

test('the example of the README signs a request', async () => {
  const service = await start(temporaryFolder());
  const readme = await readFile(join(import.meta.dirname, '..', '..', 'README.md'), 'utf8');
  const [, code = ''] = /```js\n(import \{ createHash[^]*?)```/.exec(readme) ?? [];
  const script = code.replace('http://192.168.1.20:8080', service.url).replace('screens/demo', 'screens/lobby');
  const env = { PATH: process.env.PATH, SIGNAGE_SHARED_SECRET: secret };
  const { stdout } = await promisify(execFile)('node', ['--input-type=module', '-e', script], { env });
  expect(stdout).toContain("command: 'next'");
});

test.each([
  ['POST', path, body],
  ['POST', '/console/api/content/check', lobby],
])(
  '%s %s whose body is held on its way for longer than its signature is fresh is not carried out',
  async (method, path, body) => {
    let aheadMs = 0;
    const service = await start(temporaryFolder(), {}, () => Date.now() + aheadMs);
    const send = (heldMs: number): Promise<string> => {
      const text = JSON.stringify(body);
      const recipient = service.nodeId;
      const signed = signRequest({
        secret,
        method,
        url: service.url + path,
        body: text,
        recipient,
        now: Date.now() + aheadMs,
      });
      return new Promise((resolve, reject) => {
        const headers = { 'Content-Type': 'application/json', 'Content-Length': text.length, Expect: '100-continue' };
        const sent = request(service.url + path, { method, headers: { ...headers, ...signed } });
        sent.on('error', reject);
        // The head has been judged.
        sent.on('continue', () => {
          aheadMs += heldMs;
          sent.end(text);
        });
        sent.on('response', async (response) => {
          let answer = '';
          for await (const chunk of response) answer += String(chunk);
          resolve((JSON.parse(answer) as { error?: { code: string } }).error?.code ?? `${response.statusCode}`);
        });
        sent.flushHeaders();
      });
    };
    expect(await send(10_000)).toBe('200');
    expect(await send(31_000)).toBe('signature_stale');
  },
);

test('a socket that is opened with a signature has the proof and the clock of the box on its first answer', async () => {
  const service = await start(temporaryFolder());
  const target = '/api/screens/lobby/socket';
  const signed = signRequest({ secret, method: 'GET', host, target, body: '', now: Date.now() });
  const socket = new WebSocket(service.url.replace('http', 'ws') + target, { headers: { ...signed, Host: host } });
  const [answer] = await once(socket, 'upgrade');
  socket.terminate();
  expect(answer.headers).toMatchObject({
    [answerHeader]: expect.stringMatching(/./),
    'x-signage-clock': expect.stringMatching(/^\d+$/),
  });
});

test('a client that guesses is answered 429, and other clients at the same address are not', async () => {
  const service = await start(temporaryFolder());
  for (let count = 0; count < 100; count += 1)
    expect(await post(service, sign(0, otherSecret))).toBe('signature_invalid');
  expect(await post(service, sign(0, otherSecret))).toBe('too_many_requests');
  expect(await post(service, sign())).toBe('200');
  const renew = (token: string) =>
    service.get('/api/auth/page', { method: 'POST', headers: { 'x-signage-page-auth': token } });
  for (let count = 0; count < 100; count += 1) expect((await renew('nonsense')).status).toBe(401);
  expect((await renew('nonsense')).status).toBe(429);
  const html = await (await service.get('/onboard')).text();
  const { pageToken } = JSON.parse(/id="boot">([^<]*)</.exec(html)?.[1] ?? '') as { pageToken: { token: string } };
  expect((await renew(pageToken.token)).status).toBe(200);
});
