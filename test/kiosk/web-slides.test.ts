/** Web slides in the kiosk, with real sites. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { clickAt, keyPresses, sendInput } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';

describeBrowser('a web slide', { timeout: 120_000 }, () => {
  itDouble('is as its site has it, though a cache may keep the page for days', async () => {
    let text = 'Last week';
    const server = createServer((_, response) => {
      // Without a word of its own, a page that is old stays fresh for a tenth of its age.
      const headers = { 'Content-Type': 'text/html', 'Last-Modified': 'Sun, 01 Nov 2020 12:00:00 GMT' };
      response.writeHead(200, headers).end(`<!doctype html><h1>${text}</h1>`);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/menu`;
    const menu = { id: 'menu', kind: 'web', media_url: address, duration_seconds: 600 };
    const kiosk = await startKiosk({
      content: lobby([{ ...menu, content: { web: { refresh_seconds: 5 } } }]),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
    });
    const page = await kiosk.page(/\/menu$/);
    await page.getByRole('heading', { name: text }).waitFor();
    text = 'This week';
    const shown = () =>
      Promise.all(
        kiosk
          .pages()
          .filter((each) => each.url() === address)
          .map((each) => each.textContent('h1').catch(() => null)),
      );
    await expect.poll(shown, patience).toContain(text);
  });

  itDouble('is operated by nobody who passes by, with a mouse, a finger or a keyboard', async () => {
    const requests: string[] = [];
    const server = createServer(({ url = '', method }, response) => {
      requests.push(`${method} ${url}`);
      response.setHeader('Content-Type', 'text/html');
      response.end(`<!doctype html><title>Board</title><link rel="icon" href="data:,">
        <style>* { pointer-events: auto !important } body { margin: 0; height: 4000px } main > * { display: block; height: 100px }</style>
        <main><a href="/elsewhere">Away</a>
        <form method="post" action="/logout"><button>Sign out</button></form><input id="name" autofocus></main>
        <script>
          globalThis.met = [];
          const names = ['mousemove', 'mousedown', 'keydown', 'touchstart', 'pointerdown', 'click', 'wheel', 'scroll'];
          for (const name of names) document.addEventListener(name, () => met.push(name));
        </script>`);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await once(server, 'listening');
    const address = `http://127.0.0.1:${(server.address() as AddressInfo).port}/board`;
    const kiosk = await startKiosk({
      content: lobby([{ id: 'board', kind: 'web', media_url: address, duration_seconds: 600 }]),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
    });
    const page = await kiosk.page(/\/board$/);
    const field = page.locator('#name');
    const touch = await page.context().newCDPSession(page);
    const cursorOf = () => page.evaluate(() => getComputedStyle(document.body).cursor);
    await expect.poll(cursorOf, patience).toBe('none');
    const press = (...events: object[]) => sendInput(kiosk.evaluate, '/board', ...events);
    // Where the pointer is, it learns, so that it hides it; that comes last.
    const met = async () => {
      await press({ type: 'mouseMove', x: 500, y: 500 });
      await expect.poll(() => page.evaluate('met.length'), patience).toBeGreaterThan(0);
      return new Set(await page.evaluate<string[]>('met.splice(0)'));
    };
    const places = [50, 110, 250];
    await field.focus();
    for (const y of places) await press(...clickAt(20, y).slice(1));
    await press(...keyPresses('A', 'Enter', 'Tab', 'Enter', 'Tab', 'Enter'));
    expect(await met()).toEqual(new Set(['mousemove']));
    // These come to the page past the app, as touches do.
    for (const y of places) {
      await page.mouse.click(20, y);
      await touch.send('Input.dispatchTouchEvent', { type: 'touchStart', touchPoints: [{ x: 20, y }] });
      await touch.send('Input.dispatchTouchEvent', { type: 'touchMove', touchPoints: [{ x: 20, y: y - 40 }] });
      await touch.send('Input.dispatchTouchEvent', { type: 'touchEnd', touchPoints: [] });
      await page.mouse.wheel(0, 300);
    }
    expect(await met()).toEqual(new Set(['mousemove']));
    expect(await page.evaluate('scrollY')).toBe(0);
    expect(await field.inputValue()).toBe('');
    expect([page.url(), ...requests]).toEqual([address, 'GET /board']);

    // Its own scripts may do all that, and the people of the house open the maintenance page from it.
    await page.evaluate(() => document.querySelector('button')?.click());
    await page.waitForURL(/logout$/);
    const chord = { keyCode: 'M', modifiers: ['control', 'alt', 'shift'] };
    await sendInput(kiosk.evaluate, '/logout', { type: 'keyDown', ...chord });
    await kiosk.page(/maintenance\.html/);
  });
});
