/** Sites that ask for a password, prove nothing, or hang, each in a slide; and a maintenance page that hangs. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type RequestListener, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { expect, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { type Electron, hangPage } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';
import { healthOf } from './health.ts';

const listen = async (server: Server, scheme: string): Promise<string> => {
  server.listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `${scheme}://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** A site whose certificate nobody signed. */
const startUntrusted = (onRequest: RequestListener): Promise<string> => {
  const folder = temporaryFolder();
  const [key, cert] = ['key.pem', 'cert.pem'].map((name) => join(folder, name)) as [string, string];
  const subject = ['-subj', '/CN=127.0.0.1', '-addext', 'subjectAltName=IP:127.0.0.1'];
  const files = ['-keyout', key, '-out', cert];
  execFileSync('openssl', ['req', '-x509', '-newkey', 'rsa:2048', '-nodes', '-days', '2', ...subject, ...files], {
    stdio: 'ignore',
  });
  return listen(createTlsServer({ key: readFileSync(key), cert: readFileSync(cert) }, onRequest), 'https');
};

describeBrowser('an unruly site', { timeout: 120_000 }, () => {
  itDouble('costs its own slide and nothing else, and a maintenance page that hangs goes away', async () => {
    const requests: IncomingMessage[] = [];
    const untrusted = await startUntrusted((request, response) => {
      requests.push(request);
      response.end('secret');
    });
    const locked = await listen(
      createServer((request, response) => {
        requests.push(request);
        response.writeHead(401, { 'WWW-Authenticate': 'Basic realm="Figures"' }).end('No');
      }),
      'http',
    );
    const hanging = await listen(
      createServer(({ url }, response) => {
        if (url === '/never') return;
        response.setHeader('Content-Type', 'text/html');
        // A request that is waited for holds the page, as a loop would.
        const hang = `const request = new XMLHttpRequest(); request.open('GET', '/never', false); request.send();`;
        response.end(`<!doctype html><h1>Busy</h1><script>setTimeout(() => { ${hang} }, 300)</script>`);
      }),
      'http',
    );
    const site = (id: string, media_url: string) => ({ id, kind: 'web', media_url, duration_seconds: 3 });
    const kiosk = await startKiosk({
      content: lobby([
        site('untrusted', untrusted),
        site('locked', locked),
        site('hanging', hanging),
        { id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 3600 },
      ]),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
      env: { DOUBLE_HANG_MS: '1000' },
    });
    await expect.poll(async () => (await healthOf(kiosk)).screens, patience).toMatchObject([{ slide: 'hello' }]);
    expect((await healthOf(kiosk)).lastRecovery).toBeNull();
    // Nothing was asked of the one that proves nothing, and no password was given.
    expect(requests.length).toBeGreaterThan(0);
    for (const { socket, headers } of requests) {
      expect('encrypted' in socket).toBe(false);
      expect(headers.authorization).toBeUndefined();
    }
    const externals = () =>
      kiosk.evaluate(({ webContents }: Electron) =>
        webContents.getAllWebContents().flatMap((contents: Electron) => {
          const isExternal = contents.session.partition === 'external';
          return isExternal ? contents.getURL() : [];
        }),
      );
    await expect.poll(externals, patience).toEqual([]);

    await kiosk.pressChord();
    const page = await kiosk.page(/maintenance\.html/);
    await page.locator('h1').first().waitFor();
    await hangPage(kiosk.evaluate, 'maintenance.html');
    // Repeated, since the first one can arrive before the page hangs.
    const pressKey = () =>
      kiosk.evaluate(({ webContents }: Electron) =>
        webContents.getFocusedWebContents()?.sendInputEvent({ type: 'keyDown', keyCode: '5' }),
      );
    const isOpen = () =>
      kiosk.evaluate(({ webContents }: Electron) =>
        webContents.getAllWebContents().some((contents: Electron) => contents.getURL().includes('maintenance')),
      );
    await expect.poll(() => pressKey().then(isOpen), patience).toBe(false);
    expect(await healthOf(kiosk)).toMatchObject({
      screens: [{ state: 'playing', slide: 'hello' }],
      lastRecovery: null,
    });
  });
});
