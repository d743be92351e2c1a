/** What the pages send of credentials, and that they never run out of them. */
import type { BrowserContext, Page, Request } from 'playwright-core';
import { expect } from 'vitest';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { walk } from '../support/soak.ts';
import { openPhone, openScreen, patience, readOff, scan, startReachable, textOf, untilPlaying } from './browser.ts';

const secret = 'correct horse battery staple';
const startSecured = (env: Record<string, string> = {}, more: Parameters<typeof startReachable>[1] = {}) =>
  startReachable({ SIGNAGE_SHARED_SECRET: secret, ...env }, more);

/** The requests to the API that a browser sends from now on. */
const watch = (context: BrowserContext): Request[] => {
  const requests: Request[] = [];
  context.on('request', (request) => {
    if (new URL(request.url()).pathname.startsWith('/api/')) requests.push(request);
  });
  return requests;
};
const tokenOf = (request: Request): string | undefined => request.headers()['x-signage-page-auth'];

/** Tells the subprotocols of each socket that pages open from their next load on: a token would be one. */
const watchSockets = async (context: BrowserContext, note: (protocols: unknown) => void): Promise<void> => {
  await context.exposeFunction('noteProtocols', note);
  await context.addInitScript(() => {
    globalThis.WebSocket = class extends WebSocket {
      constructor(url: string | URL, protocols?: string | string[]) {
        super(url, protocols);
        (globalThis as unknown as { noteProtocols(given: unknown): void }).noteProtocols(protocols);
      }
    };
  });
};

/** The address in the QR code, once it holds the code of the display. */
const scanClaim = async (screen: Page): Promise<string> => {
  let address = '';
  const look = async (): Promise<string> => {
    address = await scan(screen);
    return address;
  };
  await expect.poll(look, patience).toContain('claim=');
  return address;
};

const isRenewal = (request: Request): boolean =>
  request.method() === 'POST' && request.url().endsWith('/api/auth/page');
const nextRenewal = (page: Page) => page.waitForResponse((response) => isRenewal(response.request()), patience);

describeBrowser('with a secret', { timeout: 60_000 }, () => {
  it('every call of both pages carries a token, and the way is the same', async () => {
    const service = await startSecured();
    const screen = await openScreen(service);
    const ofScreen = watch(screen.context());
    await screen.reload();
    const phone = await openPhone(await scanClaim(screen));
    const ofPhone = watch(phone.context());
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByRole('heading', { name: 'Lobby is on' }).waitFor();
    await screen.waitForURL('**/screen/lobby');

    const calls = [...ofScreen, ...ofPhone].filter((request) => request.url().includes('/api/onboarding'));
    expect(calls.length).toBeGreaterThan(3);
    for (const call of calls) expect(tokenOf(call), call.url()).toMatch(/^[\w-]+\.[\w-]+\.[\w-]+$/);
  });

  it('a token is renewed after a sleep', async () => {
    const service = await startSecured();
    const screen = await openScreen(service);
    await screen.clock.install();
    await screen.reload();
    await screen.getByText('Waiting for your phone').waitFor();
    const renewal = nextRenewal(screen);
    await screen.clock.fastForward('12:00');
    expect((await renewal).status()).toBe(200);
  });

  it('a token that died while the service was away is replaced from the page itself', async () => {
    const service = await startSecured({ SIGNAGE_PAGE_TOKEN_SECONDS: '2' });
    const { port } = new URL(service.url);
    const screen = await openScreen(service);
    await screen.getByText('Waiting for your phone').waitFor();
    await service.close();
    await screen.getByText('One moment, reconnecting').waitFor();
    const again = await startSecured(
      { SIGNAGE_PORT: port, SIGNAGE_SHARED_SECRET: 'another secret, since yesterday' },
      { dataDir: service.dataDir },
    );
    await screen.getByText('Waiting for your phone').waitFor();
    await expect.poll(() => again.log().includes('a landing page connected'), patience).toBe(true);
  });

  it('a page whose service gets a secret learns of it', walk, async () => {
    const service = await startReachable();
    const { port } = new URL(service.url);
    const screen = await openScreen(service);
    await service.close();
    const again = await startSecured({ SIGNAGE_PORT: port }, { dataDir: service.dataDir });
    await expect.poll(() => again.log().includes('a landing page connected'), patience).toBe(true);
    const phone = await openPhone(await scanClaim(screen));
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone
      .getByRole('heading', { name: 'Lobby is on' })
      .or(phone.getByRole('heading', { name: 'Saved' }))
      .waitFor();
    await untilPlaying(screen, 'lobby', 'Welcome');
  });
});

describeBrowser('without a secret', { timeout: 60_000 }, () => {
  it('the pages send no credentials', walk, async () => {
    const service = await startReachable();
    const screen = await openScreen(service);
    const ofScreen = watch(screen.context());
    const sockets: unknown[] = [];
    const note = (protocols: unknown): void => void sockets.push(protocols);
    await watchSockets(screen.context(), note);
    await screen.reload();
    const phone = await openPhone(await readOff(screen));
    const ofPhone = watch(phone.context());
    await watchSockets(phone.context(), note);
    await phone.reload();
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await untilPlaying(screen, 'lobby', 'Welcome');
    for (const request of [...ofScreen, ...ofPhone]) {
      expect(tokenOf(request), request.url()).toBeUndefined();
      expect(request.headers().authorization).toBeUndefined();
    }
    expect(sockets.length).toBeGreaterThan(1);
    for (const protocols of sockets) expect(protocols).toEqual(['signage.v1']);
    await expect.poll(() => textOf(phone, '#done-title'), patience).toBe('Lobby is on');
  });
});
