/** Web slides in the kiosk, with real sites. */
import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
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
});
