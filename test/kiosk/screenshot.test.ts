/** The picture that an operator gets of a display, from its own box and by way of another. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import { secret, startBox, untilTogether } from '../peers/support.ts';
import { describeBrowser } from '../support/browser.ts';
import { layersOf } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { middleOf, pixelsOf, type Rgb } from '../support/media.ts';
import { createOperator, refusalOf } from '../support/operator.ts';
import { colourSlide, colourTemplate, isClose, lobby } from '../support/player.ts';
import { walk } from '../support/soak.ts';
import { healthOf } from './health.ts';

const RED: Rgb = [208, 16, 16];
const content = lobby([colourSlide('red', RED)], { templates: [colourTemplate] });

describeBrowser('a screenshot', { timeout: 120_000 }, () => {
  itDouble('shows what the display does, whichever box of the site is asked', async () => {
    const env = { SIGNAGE_SHARED_SECRET: secret };
    const kiosk = await startKiosk({
      content,
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
      env,
      displays: [[1600, 900]],
    });
    const url = await kiosk.url();
    const box = await startBox([{ url }], { content, env });
    await untilTogether([{ get: (path) => fetch(url + path) }, box]);
    await expect.poll(async () => (await healthOf(kiosk)).screens, patience).toMatchObject([{ slide: 'red' }]);
    let path = '';
    /** A page that has lost its connection on a busy machine has another one. */
    const findPath = async (): Promise<void> => {
      const { connections } = (await (await fetch(`${url}/api/screens/lobby/connections`)).json()) as {
        connections: { id: string }[];
      };
      path = `/console/api/connections/${connections[0]?.id}/screenshot`;
    };
    for (const asked of [url, box.url]) {
      const ask = (): Promise<Response> =>
        fetch(asked + path, { headers: signRequest({ secret, method: 'GET', url: asked + path, body: '' }) });
      // The other box learns of a connection by gossip, within seconds.
      const status = () => findPath().then(async () => (await ask()).status);
      await expect.poll(status, patience).toBe(200);
      const response = await ask();
      const jpeg = Buffer.from(await response.arrayBuffer());
      expect([response.status, response.headers.get('content-type')], String(jpeg)).toEqual([200, 'image/jpeg']);
      expect(Date.parse(response.headers.get('x-signage-captured-at') ?? '')).toBeGreaterThan(Date.now() - 60_000);
      expect(isClose(middleOf(jpeg), RED), String(middleOf(jpeg))).toBe(true);
    }
    expect((await fetch(box.url + path)).status).toBe(401);

    // In closed hours that is the cover.
    const [screen] = content.screens;
    const days = [-1, 0, 1].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10));
    const closed = { ...content, screens: [{ ...screen, hours: days.map((date) => ({ date })) }] };
    writeFileSync(join(kiosk.dataDir, 'content.json'), JSON.stringify(closed));
    await expect.poll(() => layersOf(kiosk.evaluate), patience).toEqual([['/screen/lobby', 'black']]);
    // The one before is kept for a moment.
    const middle = async () => {
      const headers = signRequest({ secret, method: 'GET', url: url + path, body: '' });
      return middleOf(Buffer.from(await (await fetch(url + path, { headers })).arrayBuffer()));
    };
    await expect.poll(middle, { ...patience, interval: 500 }).toEqual([0, 0, 0]);
  });

  itDouble(
    'is not taken of the maintenance page, nor of a code: these are for people in front of the display',
    walk,
    async () => {
      const kiosk = await startKiosk({ content, env: { SIGNAGE_SHARED_SECRET: secret } });
      const url = await kiosk.url();
      const ask = createOperator({ url, get: (path, init) => fetch(url + path, init) }, secret);
      const deviceId = new URL((await kiosk.page(/\?deviceId=/)).url()).searchParams.get('deviceId');
      await ask('POST', '/api/onboarding', { deviceId, clientName: 'Hall', screenSlug: 'lobby' });
      const find = async (): Promise<{ id: string; deviceId: string } | undefined> =>
        (await (await ask('GET', '/api/screens/lobby/connections')).json()).connections[0];
      const take = async () => {
        const response = await ask('GET', `/console/api/connections/${(await find())?.id}/screenshot`);
        return response.ok ? 200 : refusalOf(response);
      };
      const unavailable = [409, 'screenshot_unavailable'];
      await expect.poll(take, patience).toBe(200);

      await kiosk.pressChord();
      await expect
        .poll(async () => (await layersOf(kiosk.evaluate))[0]?.at(-1), patience)
        .toMatch(/maintenance\.html$/);
      // The picture before is kept for 5 s.
      await expect.poll(take, { ...patience, interval: 500 }).toEqual(unavailable);
      await kiosk.pressChord();
      await expect.poll(take, patience).toBe(200);

      const connectionId = (await find())?.id;
      const code = `/?deviceId=${deviceId}&show=code`;
      await ask('POST', '/api/screens/lobby/commands', { command: 'redirect', url: code, connectionId });
      const landing = await kiosk.page(/show=code/);
      await landing.locator('#claim-way:not([hidden])').waitFor({ state: 'attached' });
      await expect
        .poll(async () => [await find(), await take()], { ...patience, interval: 500 })
        .toEqual([expect.objectContaining({ deviceId }), unavailable]);
      await ask('POST', '/api/screens/lobby/commands', { command: 'refresh' });
      await expect.poll(take, patience).toBe(200);
    },
  );

  itDouble('shows the page of others in the main zone, and the zone beside it', walk, async () => {
    const site = createServer((_, response) => {
      response.setHeader('Content-Type', 'text/html');
      response.end('<!doctype html><body style="background: rgb(16, 160, 16)">');
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      site.closeAllConnections();
      site.close();
    });
    await once(site, 'listening');
    const media_url = `http://127.0.0.1:${(site.address() as AddressInfo).port}/`;
    const screen = { name: 'Lobby', slug: 'lobby', playlist_id: 'main', layout: 'sidebar', zones: { sidebar: 'red' } };
    const kiosk = await startKiosk({
      content: {
        ...{ screens: [screen], templates: [colourTemplate] },
        playlists: [
          { id: 'main', slides: [{ id: 'figures', kind: 'web', media_url, duration_seconds: 600 }] },
          { id: 'red', slides: [colourSlide('red', RED)] },
        ],
      },
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
      displays: [[1600, 900]],
    });
    const url = await kiosk.url();
    /** The longest side has 1280 pixels; three quarters of the width are the main zone. */
    const colours = async () => {
      const { connections } = (await (await fetch(`${url}/api/screens/lobby/connections`)).json()) as {
        connections: { id: string }[];
      };
      const jpeg = await (await fetch(`${url}/console/api/connections/${connections[0]?.id}/screenshot`)).arrayBuffer();
      const pixels = pixelsOf(Buffer.from(jpeg));
      const at = (x: number, y: number): Rgb => [0, 1, 2].map((part) => pixels[(y * 1280 + x) * 3 + part]) as never;
      const isGreen = [at(20, 20), at(940, 700)].every((each) => isClose(each, [16, 160, 16]));
      return [pixels.length, isGreen, [at(980, 20), at(1260, 700)].every((each) => isClose(each, RED))];
    };
    await expect.poll(colours, { ...patience, interval: 500 }).toEqual([1280 * 720 * 3, true, true]);
  });
});
