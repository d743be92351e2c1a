/** What becomes of a new playlist where the service comes and goes: real pages, and a network that fails at the worst time. */
import type { Page, Route, WebSocketRoute } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { healthOf, payloadOf } from '../support/observe.ts';
import { colourSlide, colourTemplate, lobby, openPlayer, patience, waitForColour } from '../support/player.ts';
import { startTestService } from '../support/service.ts';

const red = [200, 30, 30] as const;
const green = [30, 160, 30] as const;

const content = (slide: object) => lobby([slide], { templates: [colourTemplate] });

/** The next request for the playlist, which the test answers. */
const nextRequest = (page: Page): Promise<Route> =>
  new Promise((resolve) => void page.route('**/playlist', resolve, { times: 1 }));

describeBrowser('the link of a page', () => {
  it('shows a playlist that came before the service went away', async () => {
    const service = await startTestService({ content: content(colourSlide('one', red)) });
    const page = await openPlayer(service, 'lobby');
    await waitForColour(page, red);
    const first = nextRequest(page);
    service.writeContent(content(colourSlide('one', green)));
    const route = await first;
    // While that is on its way, something else calls for another look, which fails.
    const second = nextRequest(page);
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await route.continue();
    await (await second).abort();
    await waitForColour(page, green);
  });

  it('comes back, and tells, where a playlist breaks the player', async () => {
    const service = await startTestService({ content: content(colourSlide('one', red)) });
    const page = await openPlayer(service, 'lobby');
    await waitForColour(page, red);
    const broken = { ...(await payloadOf(service)), slides: [null] };
    const sockets: WebSocketRoute[] = [];
    await page.routeWebSocket('**/socket', (socket) => {
      socket.connectToServer();
      sockets.push(socket);
    });
    await page.route('**/playlist', (route) => route.fulfill({ json: broken }));
    await page.reload();
    await expect.poll(() => sockets.length, patience).toBe(1);
    await sockets[0]?.close();
    await expect.poll(() => sockets.length, patience).toBe(2);
    const reasons = async () => (await healthOf(service)).pages.map(({ lastFault }) => lastFault?.reason);
    await expect.poll(reasons, patience).toContainEqual(expect.stringContaining("the playlist can't be shown"));
    await page.unroute('**/playlist');
    await page.evaluate(() => void dispatchEvent(new Event('online')));
    await waitForColour(page, red);
  });
});
