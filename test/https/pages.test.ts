/** Player pages over https: sockets and streams work as over http, and nothing is loaded over plain http. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished, test } from 'vitest';
import { plainHttpFault } from '../../renderer/player/plain-http.ts';
import type { Health } from '../../service/contract/health.ts';
import { publish, startRtmpServer } from '../streams/publishing.ts';
import { describeBrowser, launchBrowser } from '../support/browser.ts';
import { putImage } from '../support/media.ts';
import { lobby, patience, waitForColour, waitForConnection } from '../support/player.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const red = [220, 20, 20] as const;
const settings = {
  SIGNAGE_HTTPS: 'on',
  SIGNAGE_HTTPS_PORT: '0',
  SIGNAGE_SHARED_SECRET: 'a secret that is long enough',
};

const healthOf = async (service: TestService): Promise<Health> =>
  (await (await service.get('/healthz')).json()) as Health;

/** Opens the screen over https, in a browser that takes the certificate. */
const openSecurely = async (service: TestService) => {
  const port = () => healthOf(service).then(({ https }) => https?.port);
  await expect.poll(port, patience).toEqual(expect.any(Number));
  const viewport = { width: 640, height: 360 };
  const context = await (await launchBrowser()).newContext({ viewport, ignoreHTTPSErrors: true });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const asked: string[] = [];
  page.on('request', (request) => void asked.push(request.url()));
  await page.goto(`https://127.0.0.1:${await port()}/screen/lobby`);
  return { page, asked };
};

test('a page over https loads nothing over plain http, and one over http loads everything', () => {
  expect(plainHttpFault('http://example.com/a.png', 'https:')).toMatch(
    /^http:\/\/example.com\/a.png would be loaded over plain http/,
  );
  expect(plainHttpFault('HTTP://example.com', 'https:')).not.toBe(null);
  for (const url of ['https://example.com', '/media/a.png', 'rtmp://example.com/live']) {
    expect(plainHttpFault(url, 'https:')).toBe(null);
  }
  expect(plainHttpFault('http://example.com', 'http:')).toBe(null);
  expect(plainHttpFault('http://example.com', undefined)).toBe(null);
});

describeBrowser('a player page over https', { timeout: 60_000 }, () => {
  test('skips pages and media of plain http with that reason, which the content warnings name before', async () => {
    const elsewhere = createServer((_, response) => response.end('<p>here</p>')).listen(0, '127.0.0.1');
    onTestFinished(() => void elsewhere.close());
    await once(elsewhere, 'listening');
    const plain = `http://127.0.0.1:${(elsewhere.address() as AddressInfo).port}`;
    const service = await startTestService({ env: settings });
    const media_url = putImage(service.dataDir, 'red.png', red);
    service.writeContent(
      lobby([
        { id: 'page', kind: 'web', media_url: `${plain}/board`, duration_seconds: 1 },
        { id: 'picture', kind: 'image', media_url: `${plain}/a.png`, duration_seconds: 1 },
        { id: 'own', kind: 'image', media_url, duration_seconds: 1 },
      ]),
    );
    const warnings = async () => (await healthOf(service)).content.warnings.map(({ path, message }) => [path, message]);
    const message = expect.stringContaining('is loaded over plain http: a page over https skips it');
    await expect.poll(warnings, patience).toEqual([
      ['playlists[0].slides[0].media_url', message],
      ['playlists[0].slides[1].media_url', message],
    ]);
    const { page, asked } = await openSecurely(service);
    await waitForColour(page, red);
    await waitForConnection(service, 'lobby', { currentSlideId: 'own' });
    await expect.poll(() => service.log(), patience).toContain('/board would be loaded over plain http');
    await expect.poll(() => service.log(), patience).toContain('/a.png would be loaded over plain http');
    expect(asked.filter((url) => url.startsWith('http:'))).toEqual([]);
  });

  test('shows a stream, and obeys commands', walk, async () => {
    const server = await startRtmpServer();
    onTestFinished(server.close);
    const source = `${server.url}/channel`;
    const publisher = publish(source);
    onTestFinished(publisher.close);
    const service = await startTestService({ env: settings });
    service.writeContent(lobby([{ id: 'live', kind: 'stream', media_url: source }]));
    const { page } = await openSecurely(service);
    const isPlaying = () =>
      page.evaluate(() => [...document.querySelectorAll('video')].some((video) => video.currentTime > 0.2));
    await expect.poll(isPlaying, patience).toBe(true);
    await waitForConnection(service, 'lobby', { currentSlideId: 'live' });
  });
});
