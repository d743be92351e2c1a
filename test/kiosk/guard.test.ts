/** Each line of the hardening list that can be seen from inside a page, or from inside the app. */
import { expect } from 'vitest';
import { lockedPreferences } from '../../main/windows/web-pages.ts';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import type { Electron } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';

describeBrowser('the kiosk is shut', { timeout: 90_000 }, () => {
  it('to pages that want out, windows, permissions, downloads, bad certificates and pages that close windows', async () => {
    const kiosk = await startKiosk({
      content: lobby([{ kind: 'text', title: 'Good morning' }]),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } },
    });
    const page = await kiosk.page(/\/screen\/lobby/);
    await page.getByText('Good morning').first().waitFor();
    await expect.poll(() => kiosk.pages().length, patience).toBe(1);
    const address = page.url();

    const windows = await page.evaluate(async () => {
      window.open('https://example.org');
      window.open('/onboard');
      return Notification.permission;
    });
    expect(windows).toBe('denied');
    for (const name of ['geolocation', 'notifications', 'camera', 'midi']) {
      const state = await page.evaluate(
        async (wanted) => (await navigator.permissions.query({ name: wanted as PermissionName })).state,
        name,
      );
      expect([name, state]).toEqual([name, 'denied']);
    }
    for (const out of ['https://example.org/', `${address.replace('127.0.0.1', 'localhost')}`]) {
      await page.evaluate((url) => location.assign(url), out);
    }
    await page.evaluate(() => {
      const link = document.createElement('a');
      link.href = URL.createObjectURL(new Blob(['x']));
      link.download = 'x.txt';
      link.click();
    });
    await kiosk.evaluate(({ BaseWindow }) => {
      for (const window of BaseWindow.getAllWindows()) window.close();
    });
    // What was asked before this is answered by now.
    await page.evaluate(async () => (await fetch('/healthz')).status);
    await expect.poll(() => kiosk.pages().map((each) => each.url()), patience).toEqual([address]);
    await page.getByText('Good morning').first().waitFor();

    // A page of the service is where it may go.
    await page.evaluate(() => location.assign('/'));
    await page.locator('#device').waitFor({ state: 'attached' });

    const judged = await kiosk.evaluate(({ app, session }) => {
      const emit = (target: Electron, name: string, ...args: unknown[]) => {
        let prevented = false;
        const event = {
          preventDefault: () => {
            prevented = true;
          },
        };
        target.emit(name, event, ...args);
        return prevented;
      };
      const answers: unknown[] = [];
      return {
        certificate: emit(app, 'certificate-error', {}, '', '', {}, (accepted: boolean) => answers.push(accepted)),
        clientCertificate: emit(app, 'select-client-certificate', {}, '', [], (chosen: unknown) =>
          answers.push(chosen ?? null),
        ),
        download: emit(session.defaultSession, 'will-download', {}, {}),
        answers,
      };
    });
    expect(judged).toEqual({ certificate: true, clientCertificate: true, download: true, answers: [false, null] });
    const webview = await kiosk.evaluate(
      ({ webContents: all }, service: string) => {
        let prevented = 0;
        const event = (url: string, isMainFrame: boolean) => ({
          url,
          isMainFrame,
          preventDefault: () => void prevented++,
        });
        const [webContents] = all.getAllWebContents();
        webContents.emit('will-attach-webview', event('', false));
        webContents.emit('will-frame-navigate', event('file:///etc/passwd', false));
        webContents.emit('will-frame-navigate', event('chrome://settings/', false));
        webContents.emit('will-redirect', event('https://example.org/', true));
        webContents.emit('will-frame-navigate', event('https://example.org/', false));
        // A page of the service in a frame would take the display's identity, by whichever name it goes there.
        for (const own of [
          service,
          service.replace('127.0.0.1', 'localhost'),
          service.replace('127.0.0.1', '0.0.0.0'),
        ]) {
          webContents.emit('will-frame-navigate', event(`${own}/screen/lobby?deviceId=evil`, false));
          webContents.emit('will-redirect', event(`${own}/`, false));
        }
        webContents.emit('will-frame-navigate', event(`${service}/media/a.png`, false));
        return prevented;
      },
      await kiosk.url(),
    );
    expect(webview).toBe(10);
  });

  itDouble('and asks a proxy for what is not local; only the proxy gets its password, and once', async () => {
    const kiosk = await startKiosk({ config: { proxy: 'http://me:p%40ss@proxy.example.com:3128' } });
    await kiosk.url();
    const seen = await kiosk.evaluate(({ app, session }) => {
      const answers: unknown[] = [];
      const login = (url: string, host: string, isProxy: boolean) => {
        let prevented = 0;
        const event = { preventDefault: () => void prevented++ };
        const auth = { isProxy, host, port: 3128 };
        app.emit('login', event, {}, { url }, auth, (...given: string[]) => answers.push(given));
        return prevented;
      };
      return {
        external: session.fromPartition('external').proxy,
        prevented: [
          login('https://a.example/', 'proxy.example.com', true),
          login('https://a.example/', 'proxy.example.com', true),
          login('https://b.example/', 'b.example', false),
          login('https://c.example/', 'other.example.com', true),
        ],
        answers,
      };
    });
    expect(seen).toEqual({
      external: {
        mode: 'fixed_servers',
        proxyRules: 'http://proxy.example.com:3128',
        proxyBypassRules: expect.stringContaining('<local>;'),
      },
      prevented: [1, 0, 0, 0],
      answers: [['me', 'p@ss']],
    });
  });

  itDouble('by the preferences of every window, the sandbox, one instance, and refused switches', async () => {
    const kiosk = await startKiosk();
    await kiosk.url();
    const opened = await kiosk.evaluate(({ BaseWindow, session, done }) => ({
      devices: [session.defaultSession, session.fromPartition('external')].map(({ devicePermission }: Electron) =>
        devicePermission?.({ deviceType: 'hid' }),
      ),
      windows: BaseWindow.getAllWindows().map(({ options }: Electron) => options),
      views: BaseWindow.getAllWindows().flatMap(({ contentView }: Electron) =>
        contentView.children.map(({ options }: Electron) => options),
      ),
      sandboxed: done.sandboxed,
      switches: done.switches,
    }));
    expect(opened).toMatchObject({ devices: [false, false], sandboxed: true, switches: { 'password-store': 'basic' } });
    for (const options of opened.windows) {
      expect(options).toMatchObject({ kiosk: true, frame: false, hasShadow: false, backgroundColor: '#17343a' });
      // One that is shown later is blank on Windows, and visible all the same on Linux.
      expect(options).not.toHaveProperty('show');
    }
    expect(opened.views.length).toBeGreaterThan(0);
    for (const options of opened.views) expect(options).toMatchObject({ webPreferences: lockedPreferences });
    expect(lockedPreferences).toMatchObject({
      ...{ contextIsolation: true, sandbox: true, nodeIntegration: false, webSecurity: true, webviewTag: false },
      ...{ devTools: false, disableDialogs: true, backgroundThrottling: false },
      autoplayPolicy: 'no-user-gesture-required',
    });

    const second = await startKiosk({ dataDir: kiosk.dataDir });
    expect(await second.ended()).toBe(0);
    // It opens nothing, and says where the first one is.
    expect(second.printed.stdout).toBe(
      `The kiosk runs already at ${await kiosk.url()}, with the data folder ${kiosk.dataDir}; its window is in front now.\n`,
    );

    const opener = await startKiosk({ env: { DOUBLE_PACKAGED: '1' }, args: ['--remote-debugging-port=9222'] });
    expect(await opener.ended()).toBe(78);
    expect(opener.printed.stderr).toContain(
      "--remote-debugging-port=9222 is refused: it would weaken the kiosk's security\n",
    );
    expect(opener.printed.stdout).toBe('');
  });
});
