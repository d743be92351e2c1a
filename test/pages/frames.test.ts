/** Pages of others: who may be framed, and who may ask. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { describe, expect, it, onTestFinished } from 'vitest';
import { exchange } from '../http/raw.ts';
import { describeBrowser } from '../support/browser.ts';
import { logged } from '../support/observe.ts';
import { lobby, openPlayer, patience, waitForConnection } from '../support/player.ts';
import { shareTestService, startTestService, type TestService } from '../support/service.ts';

/** A web server of somebody else's; counts what it is asked. */
const startSite = async (handler: RequestListener): Promise<{ url: string; asked: string[] }> => {
  const asked: string[] = [];
  const server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    handler(request, response);
  });
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, asked };
};

const verdict = async (
  service: TestService,
  url: string,
): Promise<{ status: number; body: Record<string, unknown> }> => {
  const query = new URLSearchParams({ url, origin: service.url });
  const response = await service.get(`/api/frames?${query}`);
  return { status: response.status, body: (await response.json()) as Record<string, unknown> };
};

const denying: RequestListener = (request, response) => {
  if (request.url === '/moved') return void response.writeHead(302, { Location: '/denies' }).end();
  if (request.url === '/endless') {
    response.writeHead(200, { 'X-Frame-Options': 'DENY' });
    return void setInterval(() => response.write('x'.repeat(65_536)), 1).unref();
  }
  if (request.url !== '/open') response.setHeader('X-Frame-Options', 'DENY');
  response.setHeader('Content-Type', 'text/html').end('<h1>News');
};

describe('GET /api/frames', () => {
  it('says what browsers would do with a page that the content names, asking for it once', async () => {
    const { url, asked } = await startSite(denying);
    const paths = ['/denies', '/moved', '/endless', '/open'];
    const service = await startTestService({
      content: lobby(paths.map((path) => ({ kind: 'web', media_url: url + path }))),
    });
    for (const path of ['/denies', '/moved', '/endless'])
      expect(await verdict(service, url + path)).toMatchObject({ status: 200, body: { framable: false } });
    expect(await verdict(service, `${url}/open`)).toEqual({
      status: 200,
      body: { url: `${url}/open`, framable: true, reason: null },
    });
    const before = asked.length;
    await Promise.all(paths.map((path) => verdict(service, url + path)));
    expect(asked).toHaveLength(before);
  });

  it('judges nothing that it can not reach, and asks again', async () => {
    const { url, asked } = await startSite((request) => request.socket.destroy());
    const nowhere = 'http://there-is-no-such-host.invalid/';
    const slides = [`${url}/`, nowhere].map((media_url) => ({ kind: 'web', media_url }));
    const service = await startTestService({ content: lobby(slides) });
    expect(await verdict(service, nowhere)).toMatchObject({ status: 200, body: { framable: true } });
    for (let look = 1; look <= 2; look++) {
      expect(await verdict(service, `${url}/`)).toMatchObject({ status: 200, body: { framable: true } });
      expect(asked).toHaveLength(look);
    }
  });

  it('goes nowhere that nothing names', async () => {
    const { url, asked } = await startSite(denying);
    const service = await startTestService({ content: lobby([{ kind: 'image', media_url: `${url}/a.png` }]) });
    for (const path of ['/', '/a.png'])
      expect(await verdict(service, url + path)).toMatchObject({
        status: 400,
        body: { error: { code: 'invalid_field', field: 'url' } },
      });
    expect(asked.filter((line) => !line.includes('/a.png'))).toEqual([]);
    await service.post('/api/screens/lobby/commands', { command: 'redirect', url: `${url}/` });
    expect(await verdict(service, `${url}/`)).toMatchObject({ status: 200, body: { framable: false } });
  });

  const plain = shareTestService({ content: lobby([]) });
  it.each([
    ['', 'missing_field', 'url'],
    ['url=http://a/', 'missing_field', 'origin'],
    ['url=http://a/&url=http://b/&origin=http://c', 'invalid_field', 'url'],
    ['url=nonsense&origin=http://c', 'invalid_field', 'url'],
  ])('%s is 400 %s (%s)', async (query, code, field) => {
    const response = await plain().get(`/api/frames?${query}`);
    expect([response.status, await response.json()]).toMatchObject([400, { error: { code, field } }]);
  });

  it('asks for no web page of others what a redirect alone has named', async () => {
    const { url, asked } = await startSite(denying);
    const service = await startTestService({ content: lobby([{ kind: 'web', media_url: `${url}/open` }]) });
    await service.post('/api/screens/lobby/commands', { command: 'redirect', url: `${url}/denies` });
    const ask = async (path: string, ...lines: string[]) => {
      const query = new URLSearchParams({ url: url + path, origin: service.url });
      const head = [`GET /api/frames?${query} HTTP/1.1`, 'Host: box', 'User-Agent: Mozilla/5.0', ...lines];
      return (await exchange(service.url, head)).status;
    };
    expect(await ask('/denies')).toBe(403);
    expect(await ask('/denies', 'Sec-Fetch-Site: same-site')).toBe(403);
    expect(asked).toEqual([]);
    expect(await ask('/open')).toBe(200);
    expect(await ask('/denies', 'x-signage-page: 1')).toBe(200);
  });

  it('asks for credentials where there is a secret, and is not there in the baseline', async () => {
    const env = { SIGNAGE_SHARED_SECRET: 'a secret of some length' };
    const guarded = await startTestService({ content: lobby([]), env });
    expect((await guarded.get('/api/frames')).status).toBe(401);
    const baseline = await startTestService({ content: lobby([]), env: { SIGNAGE_VARIANT: 'baseline' } });
    expect((await baseline.get('/api/frames')).status).toBe(404);
  });
});

describeBrowser('a page that forbids frames', () => {
  it('is skipped and reported', async () => {
    const { url } = await startSite(denying);
    const slides = [
      { id: 'bad', kind: 'web', media_url: `${url}/denies`, duration_seconds: 1 },
      { id: 'good', kind: 'web', media_url: `${url}/open`, duration_seconds: 1 },
    ];
    const env = { SIGNAGE_SHARED_SECRET: 'a secret of some length' };
    const service = await startTestService({ content: lobby(slides), env });
    await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlideId: 'good' });
    await expect
      .poll(() => logged(service, 'a slide was skipped'), patience)
      .toMatchObject([{ slideId: 'bad', reason: expect.stringContaining('X-Frame-Options') }]);
  });

  it('is not redirected to', async () => {
    const { url } = await startSite(denying);
    const service = await startTestService({ content: lobby([{ kind: 'text', title: 'Hello' }]) });
    const page = await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlide: 0 });
    const refused = page.waitForResponse((response) => response.url().includes('/api/frames'));
    await service.post('/api/screens/lobby/commands', { command: 'redirect', url: `${url}/denies` });
    expect(await (await refused).json()).toMatchObject({ framable: false });
    await service.post('/api/screens/lobby/commands', { command: 'redirect', url: `${url}/open` });
    await waitForConnection(service, 'lobby', { page: `${url}/open` });
    expect(await page.locator('.redirect.on iframe').count()).toBe(1);
  });
});
