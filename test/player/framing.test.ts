/** Pages of others that want to be the player: no page of the service runs in a frame. */
import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import type { Page, Route } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { framedByOwnPages } from '../../service/domain/framing.ts';
import { describeBrowser } from '../support/browser.ts';
import { logged, patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { connectionOf, lobby, sharePlayer } from '../support/player.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { repeats } from '../support/soak.ts';

const startSite = async (handler: RequestListener): Promise<string> => {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

const html = (script: string): string => `<!doctype html><title>Evil</title><h1>Evil</h1><script>${script}</script>`;

/** A page that learns who frames it and goes there, by one of its ways. */
const startEvil = (): Promise<string> =>
  startSite((request, response) => {
    const { pathname, searchParams } = new URL(request.url ?? '', 'http://evil');
    const own = 'location.ancestorOrigins[0]';
    const page = `${own} + '/screen/lobby?deviceId=EVIL'`;
    if (pathname === '/moved') {
      return void response.writeHead(302, { Location: `${searchParams.get('to')}/screen/lobby?deviceId=EVIL` }).end();
    }
    const ways: Record<string, string> = {
      '/goes': `location = ${page}`,
      '/is-moved': `location = '/moved?to=' + ${own}`,
      '/nests': `const frame = document.createElement('iframe'); frame.src = ${page}; document.body.append(frame)`,
      '/lands': `location = ${own} + '/?deviceId=EVIL'`,
    };
    response.setHeader('Content-Type', 'text/html').end(html(ways[pathname] ?? ''));
  });

const identityOf = (page: Page) =>
  page.evaluate(() => ['signage.deviceId', 'signage.clientId'].map((key) => localStorage.getItem(key)));

const framedPlayers = async (page: Page): Promise<number> => {
  const stages = await Promise.all(
    page.frames().map((frame) =>
      frame
        .locator('.slide, .idle')
        .count()
        .catch(() => 0),
    ),
  );
  return stages.slice(1).filter((count) => count > 0).length;
};

const connectionsOf = async (service: TestService): Promise<{ deviceId: string }[]> =>
  (await (await service.get('/api/screens/lobby/connections')).json()).connections;

describeBrowser('a web slide', { timeout: 90_000 }, () => {
  const player = sharePlayer();

  /** The player with its slide, as it is once the page has had its way. */
  const openWith = async (way: string) => {
    const { service, page, show } = player();
    const before = await identityOf(page);
    const gone = page.waitForEvent('framenavigated', {
      predicate: (frame) => frame !== page.mainFrame() && /deviceId=EVIL|chrome-error/.test(frame.url()),
      timeout: 30_000,
    });
    await show([{ kind: 'web', media_url: `${await startEvil()}${way}`, duration_seconds: 3600 }]);
    await gone;
    return { service, page, before };
  };

  it.each(['/goes', '/nests', '/is-moved', '/lands'].slice(0, repeats(2, 4)))(
    'that %s to the service is not the display',
    async (way) => {
      const { service, page, before } = await openWith(way);
      await page.waitForTimeout(1_000);
      expect(await framedPlayers(page)).toBe(0);
      expect(await identityOf(page)).toEqual(before);
      expect((await connectionsOf(service)).map(({ deviceId }) => deviceId)).toEqual([before[0]]);
    },
  );

  it.each(['/goes', '/lands'].slice(0, repeats(1, 2)))(
    'that %s to the service is not the display where no header stops it',
    async (way) => {
      const loosen = async (route: Route): Promise<void> => {
        const response = await route.fetch();
        const headers = response.headers();
        delete headers['x-frame-options'];
        delete headers['content-security-policy'];
        await route.fulfill({ response, headers });
      };
      await player().page.route('**/*deviceId=EVIL', loosen);
      onTestFinished(() => player().page.unroute('**/*deviceId=EVIL'));
      const { service, page, before } = await openWith(way);
      await page.waitForTimeout(1_000);
      const framed = page.frames().find((frame) => frame.url().includes('EVIL'));
      expect(await framed?.locator('body').count()).toBe(1);
      expect(await identityOf(page)).toEqual(before);
      expect(await connectionsOf(service)).toHaveLength(1);
    },
  );

  it('whose address is a page of the service is skipped, with the reason', async () => {
    const { service } = player();
    service.writeContent(lobby([{ id: 'own', kind: 'web', media_url: `${service.url}/screen/lobby` }]));
    await expect
      .poll(() => logged(service, 'a slide was skipped')[0]?.reason, patience)
      .toContain('is a page of this player, which no frame may hold');
  });
});

it('every answer of the service refuses frames, and media take those of its own pages alone', async () => {
  const service = await startTestService({ content: lobby([]) });
  for (const path of ['/', '/onboard', '/screen/lobby', '/screen/gone', '/healthz', '/gone', '/api/gone']) {
    const { headers } = await service.get(path);
    expect([path, headers.get('x-frame-options')]).toEqual([path, 'DENY']);
    expect(headers.get('content-security-policy')).toContain("frame-ancestors 'none'");
    expect(headers.get('cross-origin-opener-policy')).toBe('same-origin');
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin');
    expect(headers.get('origin-agent-cluster')).toBe('?1');
  }
  await service.get('/api/media/a.txt', { method: 'PUT', body: 'text' });
  const { headers } = await service.get('/media/a.txt');
  expect(headers.get('x-frame-options')).toBe(framedByOwnPages['X-Frame-Options']);
  expect(headers.get('content-security-policy')).toContain(`sandbox; ${framedByOwnPages.directive}`);
});

describeBrowser("a display's client id", { timeout: 60_000 }, () => {
  const player = sharePlayer();

  it('has an id that no other page takes over: a command for it reaches the display, even if another page claims it', async () => {
    const { service, show } = player();
    const page = await show([{ kind: 'text', title: 'A' }]);
    const { clientId, deviceId } = (await connectionOf(service, 'lobby')) ?? {};
    const liar = await joinScreen(service, 'lobby', { clientId, deviceId });
    const guesser = await joinScreen(service, 'lobby', { clientId, deviceId, clientKey: 'a guess' });
    const order = { command: 'blackout', blackout: true, clientId };
    expect(await (await service.post('/api/screens/lobby/commands', order)).json()).toMatchObject({ sent: 1 });
    await page.locator('#blackout:not([hidden])').waitFor();
    await service.post('/api/screens/lobby/commands', { ...order, blackout: false });
    for (const { messages } of [liar, guesser]) expect(messages.map(({ type }) => type)).not.toContain('command');
    expect((await connectionsOf(service)).filter((each) => each.deviceId === deviceId)).toHaveLength(1);
  });

  it('stays the same when the page reloads, and the newest of its connections gets the command at once', async () => {
    const { service, show } = player();
    const page = await show([{ kind: 'text', title: 'A' }]);
    const { clientId } = (await connectionOf(service, 'lobby')) ?? {};
    // The first page is still there, as one is whose socket has not been closed yet.
    const second = await page.context().newPage();
    onTestFinished(() => second.close());
    await second.goto(`${service.url}/screen/lobby`);
    await expect.poll(async () => (await connectionsOf(service)).length, patience).toBe(2);
    const order = { command: 'blackout', blackout: true, clientId };
    expect(await (await service.post('/api/screens/lobby/commands', order)).json()).toMatchObject({ sent: 1 });
    await second.locator('#blackout:not([hidden])').waitFor();
    expect(await page.locator('#blackout[hidden]').count()).toBe(1);
  });
});
