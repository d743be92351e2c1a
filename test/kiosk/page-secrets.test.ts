/** The headers of a secret in the kiosk: who receives them, over redirects, frames and other slides. */
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { expect, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import type { Electron } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { createOperator, operatorSecret } from '../support/operator.ts';
import { lobby } from '../support/player.ts';

/** A site that remembers which requests had a key. */
const startSite = async (answer: RequestListener, host = '127.0.0.1') => {
  const requests: { url: string; key: string | undefined }[] = [];
  const server = createServer((request: IncomingMessage, response) => {
    requests.push({ url: request.url ?? '', key: request.headers['x-key'] as string | undefined });
    answer(request, response);
  }).listen(0, host);
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return { requests, url: `http://${host}:${(server.address() as AddressInfo).port}` };
};

const html = (body: string): string => `<!doctype html><title>T</title><h1>Figures</h1>${body}`;

describeBrowser('a page with the headers of a secret', { timeout: 180_000 }, () => {
  itDouble('gets them for its own origin, and nobody else does', async () => {
    let dash = { url: '', requests: [] as { url: string; key: string | undefined }[] };
    const evil = await startSite(({ url }, response) => {
      if (url === '/back') return void response.writeHead(302, { Location: `${dash.url}/returned` }).end();
      response.setHeader('Access-Control-Allow-Origin', '*').setHeader('Content-Type', 'text/html');
      // A frame of others leads itself to the site, where a request may change something.
      if (url === '/turn') return void response.end(html(`<script>location = '${dash.url}/turned'</script>`));
      // A frame of others leads the whole page there, once somebody has touched it.
      if (url === '/steer')
        return void response.end(html(`<script>var steer = () => { top.location = '${dash.url}/steered'; };</script>`));
      // A frame of others asks the site itself.
      response.end(html(`<script>fetch('${dash.url}/from-evil', { mode: 'no-cors' })</script>`));
    });
    const inner = `
      <style>body { height: 5000px; background: #eee }</style>
      <iframe src="${evil.url}/frame"></iframe><iframe src="${evil.url}/turn"></iframe><iframe src="${evil.url}/steer"></iframe>
      <iframe src="/inner"></iframe><img src="${evil.url}/picture.png">
      <img src="/away.png"><img src="/round.png">
      <script>
        fetch('/data'); fetch('${evil.url}/fetched', { mode: 'no-cors' });
        open('${evil.url}/opened');
        navigator.permissions.query({ name: 'camera' }).then(({ state }) => fetch('/camera-' + state));
        navigator.serviceWorker.register('/worker.js').then(() => {}, () => fetch('/without-worker'));
      </script>`;
    dash = await startSite(({ url }, response) => {
      if (url === '/away.png') return void response.writeHead(302, { Location: `${evil.url}/redirected` }).end();
      if (url === '/round.png') return void response.writeHead(302, { Location: `${evil.url}/back` }).end();
      if (url === '/leave') return void response.writeHead(302, { Location: `${evil.url}/left` }).end();
      if (url === '/never') return;
      response.setHeader('Content-Type', url === '/worker.js' ? 'text/javascript' : 'text/html');
      if (url === '/worker.js') return void response.end();
      response.end(html(url === '/wall' ? inner : ''));
    });
    const look = { headers: 'wall', css: 'h1 { letter-spacing: 7px }', zoom: 2, scroll: 400 };
    const page = (id: string, path: string, web: object | null) => ({
      id,
      kind: 'web',
      media_url: dash.url + path,
      duration_seconds: 600,
      ...(web && { content: { web } }),
    });
    const kiosk = await startKiosk({
      content: lobby([
        page('wall', '/wall', look),
        page('plain', '/plain', null),
        page('leave', '/leave', { headers: 'wall' }),
        { id: 'hello', kind: 'text', title: 'Hello', duration_seconds: 600 },
      ]),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
      env: { SIGNAGE_SHARED_SECRET: operatorSecret },
    });
    const url = await kiosk.url();
    const ask = createOperator({ url, get: (path, init) => fetch(url + path, init) }, operatorSecret);
    // Until the secret is there, the slide is skipped.
    await kiosk.page(/\/screen\/lobby/);
    const local = { 'x-signage-local': readFileSync(join(kiosk.dataDir, 'local-token'), 'utf8').trim() };
    const body = { origins: [dash.url], headers: { 'X-Key': '5ecret' } };
    expect((await ask('PUT', '/console/api/secrets/wall', body, local)).status).toBe(201);
    const keyOf = (path: string) => dash.requests.filter((each) => each.url === path).map(({ key }) => key);
    /** Shows a slide, until its page was asked for. */
    const show = async (slide_id: string): Promise<void> => {
      const before = keyOf(`/${slide_id}`).length;
      const isAsked = () => keyOf(`/${slide_id}`).length > before;
      const send = async (): Promise<boolean> => {
        await ask('POST', '/api/screens/lobby/commands', { command: 'refresh' });
        await ask('POST', '/console/api/screens/lobby/show', { slide_id });
        for (let waited = 0; waited < 5_000 && !isAsked(); waited += 100) await delay(100);
        return isAsked();
      };
      await expect.poll(send, { ...patience, timeout: 40_000 }).toBe(true);
    };
    await show('wall');
    for (const path of ['/wall', '/data', '/inner', '/away.png', '/round.png']) {
      await expect.poll(() => keyOf(path).at(-1), { ...patience, message: path }).toBe('5ecret');
    }
    // What went elsewhere and came back, and what others ask for, has none.
    for (const path of ['/returned', '/from-evil', '/turned']) {
      await expect.poll(() => keyOf(path).length, { ...patience, message: path }).toBeGreaterThan(0);
      expect(keyOf(path).filter((key) => key !== undefined)).toEqual([]);
    }
    for (const path of ['/camera-denied', '/without-worker'])
      await expect.poll(() => keyOf(path).length, { ...patience, message: path }).toBe(1);
    const wall = await kiosk.page(/\/wall$/);
    // By a function of the frame's own, as with a touch.
    const frameUrls = (): string[] => wall.frames().map((each) => each.url());
    await expect.poll(frameUrls, patience).toContain(`${evil.url}/steer`);
    await wall.frame({ url: `${evil.url}/steer` })?.evaluate('steer()');
    const dressed = () =>
      kiosk.evaluate(async ({ webContents }: Electron) => {
        const views = webContents
          .getAllWebContents()
          .filter(({ session }: Electron) => session.partition === 'external-wall');
        const [contents] = views.filter((each: Electron) => each.getURL().endsWith('/wall'));
        const look =
          'JSON.stringify([getComputedStyle(document.querySelector("h1")).letterSpacing, getComputedStyle(document.body).zoom, scrollY > 0])';
        return contents === undefined ? null : JSON.parse(await contents.mainFrame.executeJavaScript(look));
      });
    await expect.poll(dressed, patience).toEqual(['7px', '2', true]);

    const before = dash.requests.length;
    await show('plain');
    await expect.poll(() => keyOf('/plain').length, patience).toBeGreaterThan(0);
    expect(dash.requests.slice(before).filter((each) => each.url === '/plain' && each.key !== undefined)).toEqual([]);
    await show('leave');
    await expect.poll(() => keyOf('/leave').at(-1), patience).toBe('5ecret');
    await expect.poll(() => evil.requests.some((each) => each.url === '/left'), patience).toBe(true);
    await expect.poll(() => keyOf('/from-evil').length, patience).toBeGreaterThan(1);
    expect(keyOf('/from-evil').filter((key) => key !== undefined)).toEqual([]);
    expect(evil.requests.filter(({ key }) => key !== undefined)).toEqual([]);
    for (const path of ['/frame', '/fetched', '/redirected', '/back'])
      expect(evil.requests.map((each) => each.url)).toContain(path);
    expect(evil.requests.map((each) => each.url)).toContain('/steer');
    expect(evil.requests.map((each) => each.url)).not.toContain('/opened');
    expect(['/steered', '/worker.js'].flatMap(keyOf)).toEqual([]);
    expect(kiosk.printed.stdout + kiosk.printed.stderr).not.toContain('5ecret');
  });
});
