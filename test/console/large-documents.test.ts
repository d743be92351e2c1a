/** Publishing under adverse conditions: a protected data directory, and more large documents than the box can hold. */
import { execFileSync } from 'node:child_process';
import { request as httpRequest } from 'node:http';
import { expect, onTestFinished, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';

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
  // Documents of which nothing arrives are waited for.
  const box = await startTestService({ content: lobby, tempo: { ...testTempo, http: { still: 60_000 } } });
  const check = async (): Promise<number> => {
    const headers = { 'Content-Type': 'application/json' };
    const body = JSON.stringify(lobby);
    return (await box.get('/console/api/content/check', { method: 'POST', headers, body })).status;
  };
  const pending: ReturnType<typeof announce>[] = [];
  /** Announces documents until there is no room even for a small one. */
  const fill = async (method: 'PUT' | 'POST', path: string, ask: () => Promise<number>): Promise<void> => {
    // The small one would take the room of the last, if both came at once.
    const askAndAnnounce = async (): Promise<number> => {
      const status = await ask();
      pending.push(announce(box, method, path));
      return status;
    };
    await expect.poll(askAndAnnounce, patience).toBe(429);
  };
  await fill('POST', '/console/api/content/check', check);
  // Who checks may be a viewer, and keeps nobody from publishing.
  expect((await publish(box, lobby)).status).toBe(200);
  await fill('PUT', '/console/api/content', async () => (await publish(box, lobby)).status);
  const refused = await publish(box, lobby);
  expect([refused.headers.get('Retry-After'), await refused.json()]).toMatchObject([
    expect.stringMatching(/^\d+$/),
    { error: { code: 'too_many_requests', message: expect.stringContaining('try again in a moment') } },
  ]);
  for (const request of pending) request.destroy();
  await expect.poll(async () => (await publish(box, lobby)).status, patience).toBe(200);
  await expect.poll(check, patience).toBe(200);
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
