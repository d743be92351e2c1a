/** The pages, what they load, and the headers that keep them safe. */
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { exchange, hostLine } from '../http/raw.ts';
import { shareTestService, startTestService } from '../support/service.ts';

const bootOf = (html: string): Record<string, unknown> => {
  const json = /<script type="application\/json" id="boot">([^<]*)<\/script>/.exec(html)?.[1];
  return JSON.parse(json ?? 'null') as Record<string, unknown>;
};

const shared = shareTestService({ content: lobby });

describe('/screen/{slug}', () => {
  test('is the player, told which screen it is', async () => {
    const service = await startTestService({ content: lobby, env: { SIGNAGE_TIME_ZONE: 'Europe/Vienna' } });
    const response = await service.get('/screen/lobby?debug');
    expect(response.status).toBe(200);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(response.headers.get('cache-control')).toBe('no-store');
    expect(bootOf(await response.text())).toMatchObject({ slug: 'lobby', timeZone: 'Europe/Vienna' });
  });

  test('is a 404 that becomes the screen once there is one', async () => {
    const service = await startTestService({ content: lobby });
    const response = await service.get('/screen/bar');
    expect(response.status).toBe(404);
    expect(response.headers.get('content-type')).toBe('text/html; charset=utf-8');
    expect(bootOf(await response.text())).toMatchObject({ slug: 'bar' });
    service.writeContent({ screens: [{ name: 'Bar', slug: 'bar' }] });
    await expect.poll(async () => (await service.get('/screen/bar')).status, { timeout: 20_000 }).toBe(200);
  });

  test.each(['%3C%2Fscript%3E%3Cscript%3Ealert(1)%3C%2Fscript%3E', '%22%7D', '%E2%80%A8', '$&', '%00', '__proto__'])(
    '%s is a name, and nothing else',
    async (slug) => {
      const { url } = shared();
      const { status, body } = await exchange(url, [`GET /screen/${slug} HTTP/1.1`, hostLine(url)]);
      expect(status).toBe(404);
      expect(bootOf(body)).toMatchObject({ slug: decodeURIComponent(slug) });
    },
  );

  test('with a slug that is not well encoded is a 404 too', async () => {
    const { url } = shared();
    for (const slug of ['%', '%ZZ', '%E0%A4%A']) {
      expect((await exchange(url, [`GET /screen/${slug} HTTP/1.1`, hostLine(url)])).status).toBe(404);
    }
  });
});

describe('an address that leads nowhere', () => {
  const asBrowser = { Accept: 'text/html,application/xhtml+xml,*/*;q=0.8' };

  test.each(['/gone', '/lobby/menu', '/screen/a/b', '/index.html'])('%s is a page for a browser', async (path) => {
    const response = await shared().get(path, { headers: asBrowser });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
    expect(bootOf(await response.text())).toEqual({
      pageToken: null,
      screens: [{ slug: 'lobby', name: 'Lobby' }],
      nodeId: shared().nodeId,
      time: expect.any(Number),
    });
  });

  test('is a page in the baseline too', async () => {
    const service = await startTestService({ content: lobby, env: { SIGNAGE_VARIANT: 'baseline' } });
    const response = await service.get('/onboard', { headers: asBrowser });
    expect([response.status, response.headers.get('content-type')]).toEqual([404, 'text/html; charset=utf-8']);
  });

  test('of the baseline asks for no renewal of its token, which is not there', async () => {
    const env = { SIGNAGE_VARIANT: 'baseline', SIGNAGE_SHARED_SECRET: 'a-secret-of-some-length' };
    const service = await startTestService({ content: lobby, env });
    expect(bootOf(await (await service.get('/screen/lobby')).text())).toMatchObject({ isBaseline: true });
  });

  test('is a sentence for a program, and JSON under /api', async () => {
    const text = await shared().get('/gone');
    expect([text.status, text.headers.get('content-type')]).toEqual([404, 'text/plain; charset=utf-8']);
    for (const path of ['/api', '/api/gone', '/console/api/gone']) {
      const json = await shared().get(path, { headers: asBrowser });
      expect([json.status, json.headers.get('content-type')], path).toEqual([404, 'application/json; charset=utf-8']);
    }
  });
});

test('/ is a page, and in the baseline a text', async () => {
  for (const [variant, type] of [
    ['extended', 'text/html'],
    ['baseline', 'text/plain'],
  ] as const) {
    const service = await startTestService({ content: lobby, env: { SIGNAGE_VARIANT: variant } });
    const response = await service.get('/');
    expect([response.status, response.headers.get('content-type')]).toEqual([200, `${type}; charset=utf-8`]);
    if (variant === 'baseline') expect(await response.text()).toContain('/screen/lobby  Lobby');
  }
});

test('what the player loads is there, and may be kept for ever', async () => {
  const service = shared();
  const html = await (await service.get('/screen/lobby')).text();
  const assets = [...html.matchAll(/(?:src|href)="(\/[^"]+)"/g)].map(([, path]) => path ?? '');
  expect(assets.filter((path) => /\.(js|css)$/.test(path)).length).toBeGreaterThanOrEqual(2);
  for (const path of assets) {
    const response = await service.get(path);
    expect([path, response.status]).toEqual([path, 200]);
    expect(response.headers.get('content-type')).toMatch(/^(text\/(javascript|css)|font\/|image\/)/);
    expect(response.headers.get('cache-control')).toBe('public, max-age=31536000, immutable');
    const lines = [`GET ${path} HTTP/1.1`, hostLine(service.url), `If-None-Match: ${response.headers.get('etag')}`];
    expect((await exchange(service.url, lines)).status).toBe(304);
  }
});

describe('of what is not for everybody, nothing is shown', () => {
  test.each([
    '/assets/',
    '/assets/.',
    '/assets/x/..',
    '/assets/gone.js',
    '/assets/../player/index.html',
    '/assets/%2e%2e/%2e%2e/package.json',
    '/assets/..%2f..%2fpackage.json',
    '/assets/..%5c..%5cpackage.json',
    '/assets//etc/passwd',
    '/assets/%00',
    '/assets/%ZZ',
    '/content.json',
    '/config.json',
    '/package.json',
    '/player/index.html',
  ])('%s', async (path) => {
    const service = shared();
    const { status, body } = await exchange(service.url, [`GET ${path} HTTP/1.1`, hostLine(service.url)]);
    expect([400, 404]).toContain(status);
    expect(body.split('\n')).toHaveLength(2);
    expect(service.log()).not.toContain('a request failed');
  });
});

test("conditions that an asset does not meet are the client's affair", async () => {
  const service = shared();
  const asset = /src="([^"]+)"/.exec(await (await service.get('/screen/lobby')).text())?.[1] ?? '';
  expect((await service.get(asset, { headers: { Range: 'bytes=999999999-' } })).status).toBe(416);
  expect((await service.get(asset, { headers: { 'If-Match': '"other"' } })).status).toBe(412);
  expect(service.log()).not.toContain('a request failed');
});

describe('security headers', () => {
  const paths = [
    '/',
    '/screen/lobby',
    '/screen/gone',
    '/healthz',
    '/gone',
    '/api/gone',
    '/api/screens/lobby/playlist',
    '/api/screens/lobby/clients',
  ];

  test.each(paths)('of %s', async (path) => {
    const service = shared();
    const { headers } = await service.get(path);
    expect(headers.get('x-content-type-options')).toBe('nosniff');
    expect(headers.get('referrer-policy')).toBe('no-referrer');
    expect(headers.get('x-powered-by')).toBeNull();
    const policy = new Map(
      (headers.get('content-security-policy') ?? '')
        .split('; ')
        .map((rule) => [rule.split(' ')[0], rule.split(' ').slice(1)]),
    );
    expect(policy.get('default-src')).toEqual(["'self'"]);
    // No script but the service's own: not inline, not from elsewhere, not made up at run time.
    expect(policy.get('script-src') ?? ["'self'"]).toEqual(["'self'"]);
    expect(policy.get('object-src')).toEqual(["'none'"]);
    expect(policy.get('base-uri')).toEqual(["'none'"]);
  });

  test('are there where nothing else is in order', async () => {
    const { url } = shared();
    for (const lines of [['GET / HTTP/1.1', 'Host: evil.com'], ['GET // HTTP/1.1', 'Host: box'], ['nonsense']]) {
      expect((await exchange(url, lines)).headers['x-content-type-options']).toBe('nosniff');
    }
  });
});
