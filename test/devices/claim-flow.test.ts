/** With a secret: the code that a display shows, in real browsers over plain http, where `crypto.subtle` is missing. */
import { type Browser, chromium, type Page } from 'playwright-core';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import { canonicalClaim, isProvableId } from '../../service/contract/readable.ts';
import { describeBrowser, isSkipped, itBrowser as it } from '../support/browser.ts';
import { findChromium } from '../support/chromium.ts';
import { createOperator } from '../support/operator.ts';
import { shareTestService, startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { content, deviceOn, openPhone, patience, scan, textOf, untilPlaying } from './browser.ts';

const secret = 'a secret that is long enough';
const env = { SIGNAGE_HOST: '0.0.0.0', SIGNAGE_SHARED_SECRET: secret };

/** Whether the box has taken the proofs of a page, as it says with each welcome. */
const provenOf = (page: Page): unknown[] => {
  const proven: unknown[] = [];
  page.on('websocket', (socket) =>
    socket.on('framereceived', ({ payload }) => {
      const message = JSON.parse(String(payload));
      if (message.type === 'welcome') proven.push(message.proven);
    }),
  );
  return proven;
};

let browser: Browser;
beforeAll(async () => {
  const args = ['--no-sandbox', '--disable-gpu', '--host-resolver-rules=MAP box.local 127.0.0.1'];
  if (!isSkipped) browser = await chromium.launch({ executablePath: findChromium() as string, args });
});
afterAll(() => browser?.close());

/** A page that reaches the box by a name: loopback itself would be a secure context. */
const openByName = async ({ url }: TestService, path = '/'): Promise<Page> => {
  const context = await browser.newContext({ viewport: { width: 800, height: 620 }, locale: 'en-GB' });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  await page.goto(`http://box.local:${new URL(url).port}${path}`);
  expect(await page.evaluate(() => [isSecureContext, crypto.subtle === undefined])).toEqual([false, true]);
  return page;
};

const codeOf = async (page: Page): Promise<string> => {
  await page.locator('#claim-way:not([hidden])').waitFor();
  return canonicalClaim(await textOf(page, '#claim'));
};

/** Resolves once a page that shows its code holds the socket of a screen, and no other page does. */
const untilHeld = (ask: ReturnType<typeof createOperator>, slug: string): Promise<void> => {
  const pages = async (): Promise<string[]> => {
    const { connections } = await (await ask('GET', `/api/screens/${slug}/connections`)).json();
    return connections.map(({ page }: { page: string }) => page.slice(0, 2));
  };
  return expect.poll(pages, patience).toEqual(['/?']);
};

describeBrowser('where boxes have a secret', { timeout: 60_000 }, () => {
  const box = shareTestService({ content, env });

  it('the code is in the picture, so that one tap is enough, and the page that it leads to proves its device', async () => {
    const screen = await openByName(box());
    const proven = provenOf(screen);
    const claim = await codeOf(screen);
    expect(claim).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    expect(isProvableId(await deviceOn(screen))).toBe(true);
    let url = '';
    await expect.poll(async () => (url = await scan(screen)), patience).toContain(`&claim=${claim}`);
    const phone = await openPhone(url.replace('box.local', '127.0.0.1'));
    await phone.getByRole('heading', { name: 'Set up this player' }).waitFor();
    expect(phone.url()).not.toContain('claim');
    await phone.getByText('Café').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByRole('heading', { name: 'Café is on' }).waitFor();
    await untilPlaying(screen, 'cafe', 'Today’s cake');
    await expect.poll(() => proven, patience).toEqual([true]);
    await screen.reload();
    await expect.poll(() => proven, patience).toEqual([true, true]);
  });

  it('the form asks for the code where the address has none, and says until the display is there that it is saved', async () => {
    const screen = await openByName(box());
    const claim = await codeOf(screen);
    const deviceId = await deviceOn(screen);
    const phone = await openPhone(`${box().url}/onboard?deviceId=${deviceId}`);
    await phone.getByText('Lobby').tap();
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByRole('heading', { name: 'Which code does the player show?' }).waitFor();
    await phone.locator('#claim').fill('ZZZZ ZZZZ ZZ');
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByText('This code isn’t right').waitFor();
    expect(await screen.evaluate(() => location.pathname)).toBe('/');
    // The display is switched off in between.
    await screen.context().close();
    await phone.locator('#claim').fill(`${claim.slice(0, 4)}-${claim.slice(4)}`.toLowerCase());
    await phone.getByRole('button', { name: 'Start playing' }).tap();
    await phone.getByRole('heading', { name: 'Saved' }).waitFor();
    expect(await phone.getByRole('heading', { name: 'Lobby is on' }).count()).toBe(0);
  });

  it('shows the code of a service that has started again as soon as that answers', walk, async () => {
    const dataDir = temporaryFolder();
    const first = await startTestService({ content, env, dataDir });
    const screen = await openByName(first);
    const claim = await codeOf(screen);
    await first.close();
    const port = new URL(first.url).port;
    await startTestService({ content, env: { ...env, SIGNAGE_PORT: port }, dataDir });
    // Without an event it looks every 20 s.
    await expect.poll(() => codeOf(screen), { timeout: 12_000 }).not.toBe(claim);
  });

  it('a page in the browser that is the player takes its code along', walk, async () => {
    const screen = await openByName(box());
    await codeOf(screen);
    await screen.locator('#form-address a').click();
    await screen.getByText('Gate 4').click();
    // It keeps its code for as long as somebody fills in the form.
    await screen.waitForResponse((response) => response.headers()['x-signage-claim'] !== undefined);
    await screen.getByRole('button', { name: 'Start playing' }).click();
    await untilPlaying(screen, 'gate-4', 'Boarding');
  });

  it('an id that was typed has no code, and its page says how it is connected', async () => {
    const screen = await openByName(box(), '/?deviceId=front-desk');
    await screen
      .getByText('This display is connected with `signage onboard front-desk SCREEN` or in the console.')
      .waitFor();
    expect(await screen.locator('#code').isVisible()).toBe(false);
    expect(await screen.locator('#claim-way').isVisible()).toBe(false);
  });

  it('a player that is sent to its code shows it, and goes back with the next command', walk, async () => {
    const screen = await openByName(box());
    const deviceId = await deviceOn(screen);
    const ask = createOperator(box(), secret);
    await ask('POST', '/api/onboarding', { deviceId, clientName: 'By the door', screenSlug: 'lobby' });
    await untilPlaying(screen, 'lobby', 'Welcome');
    const command = async (body: object) => {
      const { connections } = await (await ask('GET', '/api/screens/lobby/connections')).json();
      const connectionId = connections.find((each: { deviceId: string }) => each.deviceId === deviceId)?.id;
      return ask('POST', '/api/screens/lobby/commands', { ...body, connectionId });
    };
    const sent = async (body: object): Promise<unknown> => (await command(body)).json();
    const url = `/?deviceId=${deviceId}&show=code`;
    await expect.poll(() => sent({ command: 'redirect', url }), patience).toMatchObject({ sent: 1 });
    await screen.waitForURL('**/?deviceId=*');
    expect(await codeOf(screen)).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
    await expect.poll(() => sent({ command: 'refresh' }), patience).toMatchObject({ sent: 1 });
    await untilPlaying(screen, 'lobby', 'Welcome');

    const binding = { deviceId, clientName: 'By the door', screenSlug: 'cafe' };
    for (const [slug, title, leave] of [
      ['gate-4', 'Boarding', () => sent({ command: 'redirect', url: '/screen/gate-4' })],
      ['cafe', 'Today’s cake', async () => (await ask('POST', '/api/onboarding', binding)).json()],
    ] as const) {
      await screen.goto(new URL(url, screen.url()).href);
      expect(await codeOf(screen)).toMatch(/^[0-9A-HJKMNP-TV-Z]{10}$/);
      await untilHeld(ask, 'lobby');
      await leave();
      await untilPlaying(screen, slug, title);
    }
    // It stays there.
    await screen.waitForTimeout(2_000);
    await untilPlaying(screen, 'cafe', 'Today’s cake');
  });

  it('a player whose code is shown goes back where its device is bound to the same screen again', walk, async () => {
    const screen = await openByName(box());
    const deviceId = await deviceOn(screen);
    const ask = createOperator(box(), secret);
    const bind = () => ask('POST', '/api/onboarding', { deviceId, clientName: 'By the bar', screenSlug: 'gate-4' });
    await bind();
    await untilPlaying(screen, 'gate-4', 'Boarding');
    await screen.goto(new URL(`/?deviceId=${deviceId}&show=code`, screen.url()).href);
    await untilHeld(ask, 'gate-4');
    await bind();
    await untilPlaying(screen, 'gate-4', 'Boarding');
  });

  it('a page proves its device to a box that started again with a wrong clock, which was set since', async () => {
    const dataDir = temporaryFolder();
    const before = await startTestService({ content, env, dataDir });
    const screen = await openByName(before);
    const proven = provenOf(screen);
    const binding = { deviceId: await deviceOn(screen), clientName: 'Hall', screenSlug: 'lobby' };
    await createOperator(before, secret)('POST', '/api/onboarding', binding);
    await untilPlaying(screen, 'lobby', 'Welcome');
    await expect.poll(() => proven, patience).toEqual([true]);
    await before.close();
    let ahead = -2 * 3_600_000;
    const wall = () => Date.now() + ahead;
    await startTestService({ dataDir, wall, env: { ...env, SIGNAGE_PORT: new URL(before.url).port } });
    ahead = 0;
    await expect.poll(() => [proven.length > 1, proven.at(-1)], patience).toEqual([true, true]);
  });
});
