/** Requests through an outgoing proxy, on real sockets. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer } from 'node:https';
import type { AddressInfo, Socket } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { WebSocketServer } from 'ws';
import { bypassRules, createBypass } from '../../../service/domain/proxy-bypass.ts';
import { connectFault, openLine } from '../../../service/platform/nats.ts';
import { createGet } from '../../../service/platform/outbound/get.ts';
import { createLocator } from '../../../service/platform/outbound/locate.ts';
import { createOutbound } from '../../../service/platform/outbound/send.ts';
import { startRemote } from '../../media/remote.ts';
import { startReceiver } from '../../records/receiver.ts';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { patience } from '../../support/observe.ts';
import { operatorSecret, secretSettings } from '../../support/operator.ts';
import { makeKey } from '../../support/people.ts';
import { lobby } from '../../support/player.ts';
import { startProxy } from '../../support/proxy.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';

const { signal } = new AbortController();
/** Any name, so that a request that bypasses the proxy is seen. */
const nowhere = createLocator(async (host) => {
  throw new Error(`${host} was resolved here`);
});
const settingsOf = (proxy: string, caFile: string | null = null) => ({ proxy, noProxy: [], caFile });
const getThrough = (proxy: string, caFile: string | null = null) =>
  createGet(nowhere, createOutbound(settingsOf(proxy, caFile)));
const named = (url: string): string => url.replace('127.0.0.1', 'feeds.example.com');

const startSecure = async () => {
  const folder = temporaryFolder();
  const files = ['-keyout', 'key.pem', '-out', 'certificate.pem', '-addext', 'subjectAltName=DNS:feeds.example.com'];
  const key = ['-newkey', 'ec', '-pkeyopt', 'ec_paramgen_curve:prime256v1', '-nodes', '-days', '2'];
  execFileSync('openssl', ['req', '-x509', ...key, '-subj', '/CN=feeds.example.com', ...files], {
    cwd: folder,
    stdio: 'ignore',
  });
  const caFile = join(folder, 'certificate.pem');
  const headers: unknown[] = [];
  const server = createServer(
    { key: readFileSync(join(folder, 'key.pem')), cert: readFileSync(caFile) },
    (request, response) => {
      headers.push(request.headers);
      response.end('secure');
    },
  ).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return { caFile, headers, server, port: () => (server.address() as AddressInfo).port };
};

describe('a request through the proxy', () => {
  it('names the host to the proxy, and the origin learns neither the proxy password nor who asks', async () => {
    const proxy = await startProxy({ password: 'me:p@ss' });
    const remote = await startRemote();
    remote.answer('/a', (_, response) => response.writeHead(302, { Location: '/b?c=1' }).end());
    remote.answer('/b', (_, response) => response.end('arrived'));
    const get = getThrough(proxy.at('me:p%40ss'));
    const address = named(`${remote.url}/a`).replace('//', '//you:word@');
    const { response, url, nearness } = await get(address, { headers: { Accept: '*/*' }, signal, credentials: true });
    response.resume();
    expect([response.statusCode, url.href, nearness]).toEqual([200, named(`${remote.url}/b?c=1`), 0]);
    expect(proxy.asked).toEqual([`GET ${named(`${remote.url}/a`)}`, `GET ${named(`${remote.url}/b?c=1`)}`]);
    for (const { headers } of remote.requests) {
      expect(headers).toMatchObject({ host: new URL(named(remote.url)).host, authorization: expect.any(String) });
      expect(Object.keys(headers).filter((name) => /proxy-auth|forwarded|via/.test(name))).toEqual([]);
    }
  });

  it('over TLS is a tunnel, in which the certificate of the origin is verified, with further authorities too', async () => {
    const proxy = await startProxy({ password: 'me:word' });
    const origin = await startSecure();
    const address = `https://feeds.example.com:${origin.port()}/`;
    const { response } = await getThrough(proxy.at('me:word'), origin.caFile)(address, { headers: {}, signal });
    response.resume();
    expect(response.statusCode).toBe(200);
    expect(proxy.asked).toEqual([`CONNECT feeds.example.com:${origin.port()}`]);
    expect(origin.headers).toEqual([{ host: `feeds.example.com:${origin.port()}`, connection: expect.any(String) }]);
    await expect(getThrough(proxy.at('me:word'))(address, { headers: {}, signal })).rejects.toThrow(/SELF_SIGNED/);
    const other = address.replace('feeds.', 'other.');
    await expect(getThrough(proxy.at('me:word'), origin.caFile)(other, { headers: {}, signal })).rejects.toThrow(
      /ALTNAME_INVALID/,
    );
  });

  it('is led into the local network by no redirect, and reaches local hosts without the proxy', async () => {
    const proxy = await startProxy();
    const remote = await startRemote();
    remote.answer('/away', (_, response) => response.writeHead(302, { Location: `${remote.url}/here` }).end());
    remote.answer('/here', (_, response) => response.end());
    const get = getThrough(proxy.at());
    await expect(get(named(`${remote.url}/away`), { headers: {}, signal })).rejects.toThrow(/redirects into a network/);
    const { response } = await get(`${remote.url}/here`, { headers: {}, signal });
    response.resume();
    expect([response.statusCode, proxy.asked.length]).toEqual([200, 1]);
  });

  const html = 'HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: 13\r\n\r\n<h1>No.</h1>\r\n';
  it.each<[string, string | undefined, ((socket: Socket) => void) | undefined, RegExp]>([
    [
      'hangs',
      undefined,
      (socket) => socket.on('end', () => socket.end()).resume(),
      /nothing answers through the proxy 127\.0\.0\.1:\d+$/,
    ],
    ['wants a password', undefined, undefined, /wants a user and a password/],
    ['refuses the password', 'me:wrong', undefined, /or refuses those of SIGNAGE_PROXY$/],
    ['forbids, in HTML', undefined, (socket) => socket.end(html), /the proxy 127\.0\.0\.1:\d+ answers 403$/],
    ['speaks no HTTP', undefined, (socket) => socket.end('SSH-2.0-x\r\n\r\n'), /does not speak HTTP/],
    ['hangs up', undefined, (socket) => socket.destroy(), /the proxy 127\.0\.0\.1:\d+ cannot be reached/],
  ])('fails with a reason and without a password where the proxy %s', async (_, user, instead, reason) => {
    const proxy = await startProxy({ password: 'me:word', ...(instead && { instead }) });
    const get = getThrough(proxy.at(user));
    const options = { headers: {}, signal, answerMs: 300 };
    const failure = await get('https://feeds.example.com/', options).catch((error: Error) => error);
    expect(String(failure)).toMatch(reason);
    expect(String(failure)).not.toMatch(/:word|wrong/);
    await expect.poll(proxy.open).toBe(0);
    if (instead === undefined) {
      await expect(get('http://feeds.example.com/', options)).rejects.toThrow(reason);
    }
  });
});

it('a page that the proxy answers itself is no success of a plain request', async () => {
  const page = 'HTTP/1.1 403 Forbidden\r\nContent-Type: text/html\r\nContent-Length: 12\r\n\r\n<h1>No.</h1>';
  const proxy = await startProxy({ instead: (socket) => socket.end(page) });
  const content = {
    ...lobby([{ kind: 'text', title: 'Hello' }]),
    rssFeeds: [{ id: 'news', name: 'News', url: 'http://feeds.example.com/news' }],
  };
  const service = await startTestService({ content, env: { SIGNAGE_PROXY: proxy.at() } });
  await expect.poll(() => service.log(), patience).toMatch(/HTTP 403|answers? 403|status 403/);
});

it('the issuer of single sign-on is asked through the proxy, with further authorities', async () => {
  const proxy = await startProxy();
  const origin = await startSecure();
  const service = await startTestService({
    content: lobby([{ kind: 'text', title: 'Hello' }]),
    env: {
      ...secretSettings(operatorSecret),
      SIGNAGE_PROXY: proxy.at(),
      SIGNAGE_CA_FILE: origin.caFile,
      SIGNAGE_TRUST_PROXY: 'on',
      SIGNAGE_OIDC_ISSUER: `https://feeds.example.com:${origin.port()}`,
      SIGNAGE_OIDC_ROLES: 'groups:guests=viewer',
    },
  });
  const body = { public_key: makeKey().publicKey, device: 'Laptop' };
  const secure = { 'X-Forwarded-Proto': 'https' };
  expect((await service.post('/console/api/oidc', body, secure)).ok).toBe(false);
  expect(proxy.asked[0]).toBe(`CONNECT feeds.example.com:${origin.port()}`);
  expect(origin.headers).toEqual([expect.objectContaining({ host: `feeds.example.com:${origin.port()}` })]);
});

it('the hub of a fleet over WebSocket is reached through the proxy', async () => {
  const proxy = await startProxy();
  const origin = await startSecure();
  const sockets = new WebSocketServer({ server: origin.server });
  const connected = new Promise((resolve) => sockets.once('connection', resolve));
  onTestFinished(() => sockets.close());
  sockets.on('connection', (socket) => socket.close());
  const outbound = createOutbound(settingsOf(proxy.at(), origin.caFile));
  const url = `wss://feeds.example.com:${origin.port()}`;
  void openLine({ url, credentials: null }, 'test', outbound).catch(connectFault);
  await connected;
  expect(proxy.asked).toEqual([`CONNECT feeds.example.com:${origin.port()}`]);
});

it('a box fetches feeds and delivers webhooks through the proxy, and shows its password nowhere', async () => {
  const proxy = await startProxy({ password: 'me:hidden' });
  const [remote, receiver] = [await startRemote(), await startReceiver<{ type: string }>()];
  remote.answer('/news', (_, response) =>
    response.end('<rss version="2.0"><channel><title>N</title><item><title>One</title></item></channel></rss>'),
  );
  const content = {
    ...lobby([{ kind: 'text', title: 'Hello' }]),
    rssFeeds: [{ id: 'news', name: 'News', url: named(`${remote.url}/news`) }],
  };
  const service = await startTestService({
    content,
    env: {
      SIGNAGE_PROXY: proxy.at('me:hidden'),
      SIGNAGE_ALERT_URL: receiver.url.replace('127.0.0.1', 'hooks.example.com'),
      SIGNAGE_ALERT_GRACE_SECONDS: '0',
    },
  });
  await expect.poll(() => proxy.asked.filter((line) => line.includes('/news')).length).toBeGreaterThan(0);
  service.writeContent('{');
  await expect.poll(() => receiver.received.map(({ body }) => body.type)).toContain('content.invalid');
  expect(receiver.received[0]?.headers['proxy-authorization']).toBeUndefined();
  const health = await (await service.get('/healthz')).text();
  expect(health.match(/SIGNAGE_PROXY/g)).toHaveLength(1);
  expect(health + service.log()).not.toContain('hidden');
});

describe('without the proxy', () => {
  const isDirect = createBypass([
    'intranet.example.com',
    '.example.org',
    '*.example.net',
    '203.0.113.0/24',
    '2001:db8::/32',
  ]);
  it.each([
    ['localhost', true],
    ['127.0.0.1', true],
    ['10.1.2.3', true],
    ['172.16.0.1', true],
    ['172.32.0.1', false],
    ['192.168.1.1', true],
    ['[::1]', true],
    ['[fd00::1]', true],
    ['printer', true],
    ['printer.local', true],
    ['a.home.arpa.', true],
    ['A.LAN', true],
    ['example.com', false],
    ['lan.example.com', false],
    ['intranet.example.com', true],
    ['x.intranet.example.com', false],
    ['x.example.org', true],
    ['badexample.org', false],
    ['y.example.net', true],
    ['203.0.113.9', true],
    ['203.0.114.9', false],
    ['[2001:db8::1]', true],
    ['8.8.8.8', false],
  ])('%s is reached: %s', (host, expected) => {
    expect(isDirect(host)).toBe(expected);
  });
});

describeBrowser('pages of the kiosk, in a Chromium that has its proxy and its rules', () => {
  const noProxy = ['.example.org', '203.0.113.7', '2001:db8::/32', 'intranet.example.com'];
  const hosts = [
    ...['screen', 'box.local', 'nas.lan', '10.0.0.9', '192.168.7.7', '172.16.0.1', '169.254.1.1', '127.0.0.1'],
    ...['[::1]', '[fd00::1]', 'localhost', 'a.example.org', '203.0.113.7', '[2001:db8::1]', 'intranet.example.com'],
    ...['feeds.example.com', 'x.intranet.example.com', 'badexample.org', '8.8.8.8', '203.0.113.8', '[2001:db9::1]'],
  ];

  it('lead the same hosts to it as the service does, pages and streams of slides among them', async () => {
    const proxy = await startProxy();
    const service = await startTestService({
      content: lobby([
        { kind: 'video', media_url: 'http://tv.example.com:8099/live.m3u8', duration_seconds: 2 },
        { kind: 'web', media_url: 'http://dash.example.com:8099/board', duration_seconds: 2 },
      ]),
    });
    const session = await (await launchBrowser()).newBrowserCDPSession();
    const { browserContextId } = await session.send('Target.createBrowserContext', {
      proxyServer: proxy.at(),
      proxyBypassList: bypassRules(noProxy),
    });
    onTestFinished(async () => void (await session.send('Target.disposeBrowserContext', { browserContextId })));
    const open = (url: string) => session.send('Target.createTarget', { url, browserContextId });
    const askedOf = (path: string) => proxy.asked.filter((each) => each.endsWith(path)).map((each) => each.slice(4));
    await open(`${service.url}/screen/lobby`);
    await expect.poll(() => askedOf('/live.m3u8')[0], patience).toBe('http://tv.example.com:8099/live.m3u8');
    await expect.poll(() => askedOf('/board')[0], patience).toBe('http://dash.example.com:8099/board');
    expect(proxy.asked.filter((each) => each.includes('127.0.0.1'))).toEqual([]);

    // The last is asked for when the others are.
    const images = hosts.map((host) => `<img src="http://${host}:8099/rule">`).join('');
    await open(`data:text/html,${encodeURIComponent(images)}`);
    const isDirect = createBypass(noProxy);
    const led = hosts.filter((host) => !isDirect(host)).map((host) => `http://${host}:8099/rule`);
    expect(led).toHaveLength(6);
    await expect.poll(() => askedOf('/rule').toSorted(), patience).toEqual(led.toSorted());
  });
});
