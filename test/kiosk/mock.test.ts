/** The mock of Electron refuses what Electron refuses, in its order and with its errors: a wrong caller fails here too. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { isSkipped } from '../support/browser.ts';
import type { Electron } from '../support/electron/ask.ts';
import { startKiosk, type TestKiosk } from '../support/kiosk.ts';
import { temporaryFolder } from '../support/service.ts';

/** An app that does nothing by itself but notes what throws before it is ready. */
const probe = `
import { app, BaseWindow, protocol, screen, session } from 'electron';
protocol.registerSchemesAsPrivileged([{ scheme: 'kiosk', privileges: { standard: true, secure: true } }]);
process.on('SIGINT', () => app.exit(7));
const attempt = (act) => { try { act(); return 'nothing'; } catch (error) { return String(error); } };
globalThis.early = {
  screen: attempt(() => screen.getAllDisplays()),
  session: attempt(() => session.fromPartition('x')),
  window: attempt(() => new BaseWindow()),
};
await app.whenReady();
globalThis.window = new BaseWindow({ width: 400, height: 300 });
globalThis.window.on('close', (event) => event.preventDefault());
console.log('Signage player listening on http://127.0.0.1:1');
process.on('SIGTERM', () => app.exit(4));
`;

const preload = `
const { contextBridge, ipcRenderer } = require('electron');
globalThis.isolated = true;
contextBridge.exposeInMainWorld('api', {
  send: (value) => ipcRenderer.send('value', value),
  echo: (value) => ipcRenderer.invoke('echo', value),
  now: () => 7,
});
`;

describe.skipIf(isSkipped)('the mock of Electron', { timeout: 60_000 }, () => {
  let kiosk: TestKiosk;
  let preloadPath: string;

  const start = async (env: Record<string, string> = {}): Promise<void> => {
    const app = temporaryFolder();
    mkdirSync(join(app, 'dist', 'main'), { recursive: true });
    writeFileSync(join(app, 'package.json'), '{"type":"module","version":"1.2.3"}');
    writeFileSync(join(app, 'dist', 'main', 'index.js'), probe);
    writeFileSync(join(app, 'preload.cjs'), preload);
    preloadPath = join(app, 'preload.cjs');
    kiosk = await startKiosk({ app, env: { DOUBLE_APP: app, ...env } });
    await kiosk.url();
  };

  const site = async (html: string): Promise<string> => {
    const server = createServer((request, response) => {
      if (request.url === '/never') return;
      response.setHeader('Content-Type', 'text/html');
      response.end(html);
    }).listen(0, '127.0.0.1');
    onTestFinished(() => {
      server.closeAllConnections();
      server.close();
    });
    await new Promise((resolve) => server.once('listening', resolve));
    return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  };

  it('behaves as Electron does', async () => {
    await start();
    const url = await site('<h1>Hello</h1>');
    const ask = kiosk.evaluate;

    // Before the app is ready.
    expect(await ask(() => (globalThis as Electron).early)).toEqual({
      screen: "Error: The 'screen' module can't be used before the app 'ready' event",
      session: 'TypeError: Session can only be received when app is ready',
      window: 'Error: Cannot create BaseWindow before app is ready',
    });

    const facts = await ask(
      async (
        { app, BaseWindow, WebContentsView, View, webContents, ipcMain, powerSaveBlocker, protocol },
        { url, hanging, preloadPath },
      ) => {
        const attempt = (act: () => unknown) => {
          try {
            return String(act());
          } catch (error) {
            return String(error);
          }
        };
        const { window } = globalThis as Electron;
        const view = new WebContentsView({ webPreferences: { preload: preloadPath } });
        const { webContents: contents } = view;
        const events: string[] = [];
        for (const name of ['did-start-navigation', 'did-navigate', 'dom-ready', 'did-finish-load', 'did-fail-load']) {
          contents.on(name, () => events.push(name));
        }
        const failure = async (address: string) =>
          contents.loadURL(address).then(
            () => 'loaded',
            ({ message, errno, code, url: at }: Electron) => ({ message, errno, code, url: at }),
          );
        const evaluate = (expression: string) => contents.executeJavaScript(expression);

        const unattached = [await contents.loadURL(url).then(() => evaluate('innerWidth')), [...events]];
        const frames = () =>
          evaluate(`Promise.race([
            new Promise((resolve) => requestAnimationFrame(() => resolve('painted'))),
            new Promise((resolve) => setTimeout(resolve, 300, 'not painted')),
          ])`);
        const unpainted = await frames();
        view.setBounds({ x: 0, y: 0, width: 400, height: 300 });
        window.contentView.addChildView(view);
        const painted = [await frames(), await evaluate('innerWidth')];
        view.setBounds({ x: 400, y: 0, width: 400, height: 300 });
        const outside = await frames();
        view.setBounds({ x: 0, y: 0, width: 400, height: 300 });

        // Worlds and messages.
        const heard: unknown[] = [];
        contents.ipc.on('value', (event: Electron, value: unknown) =>
          heard.push([event.senderFrame === contents.mainFrame, value]),
        );
        contents.ipc.handle('echo', (_event: unknown, value: unknown) => value);
        const isolation = await evaluate('[typeof isolated, typeof require, typeof api, api.now()]');
        await evaluate('api.send({ list: [undefined, new Date(0), NaN] })');
        const echoed = await evaluate(
          'api.echo(new Map([[1, new Set([2])]])).then((map) => map instanceof Map && map.get(1).has(2))',
        );
        const refused = await evaluate('try { api.send(() => {}); "sent" } catch (error) { error.message }').catch(
          String,
        );
        const second = attempt(() => contents.ipc.handle('echo', () => 0));
        const unknown = await evaluate('api.echo(1).then(String)');
        const frame = await evaluate(
          'document.body.append(Object.assign(document.createElement("iframe"), { id: "frame" })); typeof frame.contentWindow.api',
        );
        const sizes: unknown[] = [];
        const resized = new Promise<void>((resolve) => window.once('resize', resolve));
        window.setBounds({ width: 500 });
        sizes.push(window.getContentBounds().width);
        await resized;
        sizes.push(window.getContentBounds().width);
        // A full-screen window has the size of its display, whatever it asks for.
        const full = new BaseWindow({ x: 0, y: 0, width: 100, height: 100, fullscreen: true });
        const asked: unknown[] = [full.getContentBounds().width];
        await new Promise((resolve) => full.once('resize', resolve));
        asked.push(full.getContentBounds().width);
        full.on('resize', () => asked.push('resized'));
        full.setBounds({ width: 200, height: 200 });
        await new Promise((resolve) => setTimeout(resolve, 50));
        asked.push(full.getContentBounds().width);
        // A new window takes the keyboard, and web contents that are focused take it to theirs; a window gives it to none.
        const keyboard: unknown[] = [];
        const note = () => keyboard.push([window.isFocused(), webContents.getFocusedWebContents() === contents]);
        window.on('focus', note);
        note();
        contents.focus();
        note();
        await new Promise((resolve) => setImmediate(resolve));
        full.focus();
        note();
        window.focus();
        await new Promise((resolve) => setImmediate(resolve));
        window.off('focus', note);
        full.destroy();
        // The memory of the page's own process.
        while (contents.getOSProcessId() === 0) await new Promise((resolve) => setTimeout(resolve, 20));
        const weigh = () => {
          const pid = contents.getOSProcessId();
          const { type, memory } = app.getAppMetrics().find((each: Electron) => each.pid === pid);
          return type === 'Tab' ? memory.workingSetSize : Number.NaN;
        };
        const before = weigh();
        await evaluate('globalThis.ballast = new Uint8Array(2 ** 26).fill(1); 0');
        const grown = weigh() - before > 2 ** 15;
        const blockers = ['prevent-display-sleep', 'prevent-app-suspension'].map(powerSaveBlocker.start);

        // Input comes to the app first.
        await evaluate('addEventListener("keydown", ({ code }) => { (globalThis.keys ??= []).push(code); })');
        contents.on('before-input-event', (event: Electron, { code }: Electron) => {
          if (code === 'KeyM') event.preventDefault();
        });
        for (const keyCode of ['M', 'A']) contents.sendInputEvent({ type: 'keyDown', keyCode });
        await new Promise((resolve) => setTimeout(resolve, 300));
        const keys = await evaluate('globalThis.keys');

        // A page whose loading does not end has its first layout; scripts wait for the end, but not in its main frame.
        const laidOut = new Promise((resolve) => contents.once('ready-to-show', resolve));
        void contents.loadURL(hanging);
        await laidOut;
        const unloaded = await Promise.race([
          evaluate('1'),
          contents.mainFrame.executeJavaScript('document.body.textContent'),
        ]);

        events.length = 0;
        const unreachable = await failure('http://127.0.0.1:9/');
        const afterFailure = [...events];
        // A crash is reported later, and the page has no process then.
        const gone = new Promise((resolve) =>
          contents.once('render-process-gone', (_: unknown, { reason }: Electron) => resolve(reason)),
        );
        contents.forcefullyCrashRenderer();
        const crash = [await gone, contents.getOSProcessId()];

        // Destroyed later, and unusable then.
        contents.close();
        const closing = contents.isDestroyed();
        await new Promise((resolve) => contents.once('destroyed', resolve));
        const destroyed = [
          closing,
          contents.isDestroyed(),
          String(view.webContents),
          attempt(() => contents.getURL()),
          attempt(() => window.contentView.addChildView(view)),
        ];

        return {
          ...{
            keyboard,
            unloaded,
            unattached,
            unpainted,
            painted,
            outside,
            isolation,
            heard,
            echoed,
            refused,
            second,
            unknown,
            keys,
          },
          ...{ unreachable, afterFailure, crash, destroyed, frame, sizes, blockers, asked, grown },
          paths: [
            attempt(() => app.getPath('home')) !== attempt(() => app.getPath('userData')),
            attempt(() => app.getPath('den')),
          ],
          late: attempt(() => app.enableSandbox()),
          scheme: attempt(() => protocol.registerSchemesAsPrivileged([])),
          self: attempt(() => window.contentView.addChildView(window.contentView)),
          color: attempt(() => new View().setBackgroundColor('red-ish')),
          handler: attempt(() => ipcMain.handle('x', 5)),
        };
      },
      { url, hanging: await site('Hello<script src="/never"></script>'), preloadPath },
    );
    expect(facts).toEqual({
      keyboard: [
        [false, false],
        [true, true],
        [true, true],
        [false, false],
        [true, false],
      ],
      unloaded: 'Hello',
      unattached: [1, ['did-start-navigation', 'did-navigate', 'dom-ready', 'did-finish-load']],
      unpainted: 'not painted',
      painted: ['painted', 400],
      outside: 'not painted',
      isolation: ['undefined', 'undefined', 'object', 7],
      heard: [[true, { list: [null, '1970-01-01T00:00:00.000Z', null] }]],
      echoed: true,
      refused: expect.stringContaining('could not be cloned'),
      second: "Error: Attempted to register a second handler for 'echo'",
      unknown: '1',
      // Preload scripts run in the main frame alone.
      frame: 'undefined',
      // Obeyed later.
      sizes: [400, 500],
      asked: [100, 960, 960],
      grown: true,
      blockers: [0, 1],
      keys: ['KeyA'],
      unreachable: expect.objectContaining({ errno: expect.any(Number), url: 'http://127.0.0.1:9/' }),
      afterFailure: ['did-start-navigation', 'did-fail-load', 'dom-ready', 'did-finish-load'],
      crash: ['crashed', 0],
      destroyed: [
        false,
        true,
        'undefined',
        'TypeError: Object has been destroyed',
        "Error: Can't add a destroyed child view to a parent view",
      ],
      paths: [true, "Error: Failed to get 'den' path"],
      late: 'Error: app.enableSandbox() can only be called before app is ready',
      scheme: 'Error: protocol.registerSchemesAsPrivileged should be called before app is ready',
      self: 'Error: A view cannot be added as its own child',
      color: 'TypeError: red-ish is no color',
      handler: "TypeError: Expected handler to be a function, but found type 'number'",
    });

    // Displays come and go later, one by one and with their arguments.
    const displays = await ask(async ({ screen }) => {
      const seen: unknown[] = [];
      for (const name of ['display-added', 'display-removed', 'display-metrics-changed']) {
        screen.on(name, (_: unknown, { id }: Electron, changed: unknown) => seen.push([name, id, changed ?? null]));
      }
      const [first] = screen.getAllDisplays();
      screen.become([
        { ...first, bounds: { ...first.bounds, width: 800 } },
        { ...first, id: 99 },
      ]);
      const atOnce = seen.length;
      await new Promise((resolve) => setTimeout(resolve, 10));
      screen.become([]);
      await new Promise((resolve) => setTimeout(resolve, 10));
      return [atOnce, seen, screen.getAllDisplays().length];
    });
    expect(displays).toEqual([
      0,
      [
        ['display-metrics-changed', 11, ['bounds', 'workArea']],
        ['display-added', 99, null],
        ['display-removed', 11, null],
        ['display-removed', 99, null],
      ],
      0,
    ]);

    // A window that refuses to close prevents quitting; exit asks nobody, and returns first.
    const quitting = await ask(({ app, BaseWindow }) => {
      const seen: string[] = [];
      for (const name of ['before-quit', 'will-quit', 'window-all-closed', 'quit']) app.on(name, () => seen.push(name));
      app.quit();
      const open = BaseWindow.getAllWindows().length;
      app.exit(3);
      return [open, BaseWindow.getAllWindows().length, seen];
    });
    expect(quitting).toEqual([1, 0, ['before-quit', 'quit']]);
    expect(await kiosk.ended()).toBe(3);
  });

  it('reads no page from inside a packaged app, and paints no covered view where the runtime does not', async () => {
    await start({ DOUBLE_PACKAGED: '1', DOUBLE_COVERED: 'unpainted' });
    const facts = await kiosk.evaluate(async ({ app, WebContentsView, View }) => {
      const { window } = globalThis as Electron;
      const view = new WebContentsView();
      const { webContents: contents } = view;
      const bounds = { x: 0, y: 0, width: 400, height: 300 };
      const file = await contents.loadURL(`file://${app.getAppPath()}/package.json`).then(
        () => 'loaded',
        () => 'refused',
      );
      await contents.loadURL('data:text/html,x');
      view.setBounds(bounds);
      window.contentView.addChildView(view);
      const states = [contents.isPainted];
      // A plain view lies below all web contents.
      for (const cover of [new View(), new WebContentsView()]) {
        cover.setBackgroundColor('#000000');
        cover.setBounds(bounds);
        window.contentView.addChildView(cover);
        states.push(contents.isPainted);
        cover.setBackgroundColor('#00000000');
        states.push(contents.isPainted);
      }
      // A scheme of the app's own: what it serves is loaded, but not fetched without that privilege; a handler may fail.
      const answers: Record<string, () => Response> = {
        '/page.html': () =>
          new Response('<script src="/script.js"></script>', { headers: { 'content-type': 'text/html' } }),
        '/script.js': () => new Response('globalThis.ran = true', { headers: { 'content-type': 'text/javascript' } }),
      };
      const own = new WebContentsView({ webPreferences: { partition: 'own' } }).webContents;
      own.session.protocol.handle('kiosk', ({ url }: Request) => answers[new URL(url).pathname]?.());
      await own.loadURL('kiosk://pages/page.html');
      const scheme = await own.executeJavaScript(
        'fetch("/script.js").then(String, ({ name }) => [ran, isSecureContext, name])',
      );
      const failing = await own.loadURL('kiosk://pages/none').catch(({ errno }: Electron) => errno);
      const elsewhere = await contents.loadURL('kiosk://pages/page.html').catch(({ errno }: Electron) => errno);
      return { file, states, scheme, failures: [failing, elsewhere].map((errno) => errno < 0) };
    });
    expect(facts).toEqual({
      file: 'refused',
      states: [true, true, true, false, true],
      scheme: [true, true, 'TypeError'],
      failures: [true, true],
    });
    // Handlers from before the app was ready are replaced, by ones for one signal; later ones stay.
    const quits = kiosk.evaluate(
      ({ app }) => new Promise((resolve) => app.once('before-quit', () => resolve('quits'))),
    );
    kiosk.signal('SIGINT');
    expect(await quits).toBe('quits');
    kiosk.signal('SIGINT');
    expect(await kiosk.ended()).toBe('SIGINT');
  });
});
