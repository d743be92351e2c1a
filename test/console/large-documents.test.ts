/** Publishing under adverse conditions: a protected data directory, and more large documents than the box can hold. */
import { execFileSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';

const LARGE = 4 * 1024 ** 2;

const publish = (box: TestService, content: object) =>
  box.get('/console/api/content', {
    method: 'PUT',
    headers: { 'Content-Type': 'application/json', 'If-Match': '*' },
    body: JSON.stringify(content),
  });

/** Announces a document, and sends nothing of it. */
const announce = ({ url }: TestService, method: 'PUT' | 'POST', path: string) => {
  const headers = { 'Content-Type': 'application/json', 'Content-Length': String(LARGE), 'If-Match': '*' };
  const request = httpRequest(url + path, { method, headers });
  request.on('error', () => undefined);
  request.flushHeaders();
  onTestFinished(() => void request.destroy());
  return request;
};

test('documents beyond those that the box can hold are answered 429 with Retry-After, until there is room again', async () => {
  const box = await startTestService({ content: lobby });
  const pending = [
    announce(box, 'PUT', '/console/api/content'),
    announce(box, 'POST', '/console/api/content/check'),
    announce(box, 'PUT', '/console/api/content'),
  ];
  await expect.poll(async () => (await publish(box, lobby)).status, patience).toBe(429);
  const refused = await publish(box, lobby);
  expect([refused.headers.get('Retry-After'), await refused.json()]).toMatchObject([
    expect.stringMatching(/^\d+$/),
    { error: { code: 'too_many_requests', message: expect.stringContaining('try again in a moment') } },
  ]);
  const check = { method: 'POST', headers: { 'Content-Type': 'application/json' }, body: JSON.stringify(lobby) };
  expect((await box.get('/console/api/content/check', check)).status).toBe(429);
  for (const request of pending) request.destroy();
  await expect.poll(async () => (await publish(box, lobby)).status, patience).toBe(200);
});

test('a draft whose document could not be published is refused, and one that is as large as a document may be is kept', async () => {
  const box = await startTestService({ content: lobby });
  const save = async (bytes: number): Promise<number> => {
    const content = { ...lobby, note: '' };
    content.note = 'x'.repeat(bytes - Buffer.byteLength(JSON.stringify(content)));
    const body = JSON.stringify({ title: 'Large', base_sha256: null, content });
    const init = { method: 'PUT', headers: { 'Content-Type': 'application/json' }, body };
    return (await box.get(`/console/api/drafts/d${bytes}`, init)).status;
  };
  expect([await save(LARGE + 1), await save(LARGE)]).toEqual([413, 201]);
});

test('a data directory that takes no writes is 503, with the file and what to do', async ({ skip }) => {
  const box = await startTestService({ content: lobby });
  const protect = (sign: '+' | '-') => execFileSync('/usr/bin/chattr', [`${sign}i`, box.dataDir], { stdio: 'ignore' });
  try {
    protect('+');
  } catch {
    skip();
  }
  onTestFinished(() => void protect('-'));
  const answer = await publish(box, { ...lobby, screens: [{ name: 'Bar', slug: 'bar', playlist_id: 'welcome' }] });
  expect([answer.status, await answer.json()]).toMatchObject([
    503,
    { error: { code: 'storage_unavailable', message: expect.stringMatching(/^content\.json cannot .*\(EPERM\): /) } },
  ]);
  protect('-');
  expect((await publish(box, lobby)).status).toBe(200);
});
