/** Pages of others in the kiosk, which has a view for each: muted until it is shown, and in a process of its own. */
import { once } from 'node:events';
import { writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { PNG } from 'pngjs';
import { expect, onTestFinished } from 'vitest';
import type { ConnectionSnapshot } from '../../service/contract/connections.ts';
import { describeBrowser } from '../support/browser.ts';
import { type Electron, hangPage } from '../support/electron/ask.ts';
import { itDouble, patience, startKiosk, type TestKiosk } from '../support/kiosk.ts';
import { lobby } from '../support/player.ts';
import { isSoak, walk, walks } from '../support/soak.ts';

const picture = PNG.sync.write(
  Object.assign(new PNG({ width: 64, height: 64 }), { data: Buffer.alloc(64 * 64 * 4, 200) }),
);

interface Trouble {
  /** What becomes of each request: this status, or no answer at all; null: the page. */
  answer: number | 'none' | null;
}

/** Nothing but scripts: what it waits for never comes, and one holds the page, as a loop would. */
const hold = `const request = new XMLHttpRequest(); request.open('GET', '/never', false); request.send();`;
const bare: Record<string, string> = {
  '/bare': '<script src="/never"></script>',
  '/holds': `<script>setTimeout(() => { ${hold} }, 100)</script><script src="/never"></script>`,
};

/** A page of somebody else's; some of its addresses never finish loading, one reloads itself, and some let in by a script. */
const startForeign = async (trouble: Trouble = { answer: null }): Promise<string> => {
  const server = createServer(({ url, headers }, response) => {
    if (trouble.answer === 'none') return void response.destroy();
    if (trouble.answer !== null) return void response.writeHead(trouble.answer).end('Bad gateway');
    if (url === '/never') return;
    if (url === '/camera') {
      response.setHeader('Content-Type', 'multipart/x-mixed-replace; boundary=frame');
      const frame = Buffer.concat([
        Buffer.from('--frame\r\nContent-Type: image/png\r\n\r\n'),
        picture,
        Buffer.from('\r\n'),
      ]);
      response.write(Buffer.concat([frame, frame, Buffer.from('--frame\r\n')]));
      return;
    }
    response.setHeader('Content-Type', 'text/html');
    const letsIn = /^.lets-in-after-(\d+)$/.exec(url ?? '')?.[1];
    if (letsIn !== undefined && headers.cookie !== `in=${letsIn}`) {
      const enter = `document.cookie = 'in=${letsIn}'; location.reload()`;
      return void response.writeHead(Number(letsIn)).end(`<script>setTimeout(() => { ${enter} }, 1000)</script>`);
    }
    if (bare[url ?? ''] !== undefined) return void response.end(bare[url ?? '']);
    const scripts: Record<string, string> = {
      '/hangs': '<script src="/never"></script>',
      '/reloads': '<script>setTimeout(() => location.reload(), 500)</script>',
    };
    const script = scripts[url ?? ''] ?? '';
    response.end(`<!doctype html><title>Figures</title><h1>Figures</h1>${script}`);
  }).listen(0, '127.0.0.1');
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  await once(server, 'listening');
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}/`;
};

/** The views of other sites' pages, and whether they lie over the page of the service. */
const viewsOf = (kiosk: TestKiosk) =>
  kiosk.evaluate(({ BaseWindow }: Electron) =>
    BaseWindow.getAllWindows().flatMap(({ contentView: { children } }: Electron) => {
      const partitionOf = ({ webContents }: Electron) => webContents?.session.partition;
      const page = children.findIndex((view: Electron) => partitionOf(view)?.startsWith('persist:'));
      return children
        .filter((view: Electron) => partitionOf(view) === 'external')
        .map((view: Electron) => ({
          isMuted: view.webContents.isMuted,
          isShown: children.indexOf(view) > page,
          isWhite: view.color.a === 1 && view.color.r === 255,
          isWhole: view.bounds.x === 0 && view.bounds.width === 960 && view.bounds.height === 540,
        }));
    }),
  );

const crashView = (kiosk: TestKiosk) =>
  kiosk.evaluate(({ webContents }: Electron) => {
    for (const contents of webContents.getAllWebContents())
      if (contents.session.partition === 'external') contents.forcefullyCrashRenderer();
  });

/** Notes the answers of each foreign page and its end from now on, and whether it was muted, since it was not shown. */
const noteFates = async (kiosk: TestKiosk): Promise<() => Promise<[number | 'end', boolean][]>> => {
  await kiosk.evaluate(({ app }: Electron) => {
    app.fates = [];
    app.on('web-contents-created', (_event: Electron, contents: Electron) => {
      if (contents.session.partition !== 'external') return;
      const note = (what: unknown) => app.fates.push([what, contents.isMuted]);
      contents.on('did-navigate', (_navigation: Electron, _url: string, status: number) => note(status));
      contents.on('destroyed', () => note('end'));
    });
  });
  return () => kiosk.evaluate(({ app }: Electron) => app.fates);
};

/** Divides the kiosk's waits from now on by `times`. */
const hurry = (kiosk: TestKiosk, times: number): Promise<void> =>
  kiosk.evaluate((_electron, factor) => {
    const timers = process.getBuiltinModule('node:timers/promises');
    const { setTimeout: wait } = timers;
    Object.assign(timers, { setTimeout: (ms: number, ...rest: never[]) => wait(ms / factor, ...rest) });
    process.getBuiltinModule('node:module').syncBuiltinESMExports();
  }, times);

/** Sends the screen to a page, once it has its player. */
const redirect = async (kiosk: TestKiosk, url: string) => {
  const send = async () => {
    const response = await fetch(`${await kiosk.url()}/api/screens/lobby/commands`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json' },
      body: JSON.stringify({ command: 'redirect', url }),
    });
    return ((await response.json()) as { sent: number }).sent;
  };
  await expect.poll(send, patience).toBe(1);
};

/** In a page. */
const cursorOf = () => getComputedStyle(document.documentElement).cursor;

const shown = { isMuted: false, isShown: true, isWhite: true, isWhole: true };
const covered = { ...shown, isMuted: true, isShown: false };
const config = { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } };

describeBrowser('a page of others in the kiosk', { timeout: 120_000 }, () => {
  itDouble(
    'is shown in a view apart from the kiosk, hidden while the screen is black, and gone with its slide',
    async () => {
      const url = await startForeign();
      const kiosk = await startKiosk({
        content: lobby([
          { id: 'figures', kind: 'web', media_url: url, duration_seconds: 600 },
          { id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 600 },
        ]),
        config,
      });
      const command = async (body: object) => {
        const response = await fetch(`${await kiosk.url()}/api/screens/lobby/commands`, {
          method: 'POST',
          headers: { 'Content-Type': 'application/json' },
          body: JSON.stringify(body),
        });
        expect(await response.json()).toMatchObject({ sent: 1 });
      };
      const page = await kiosk.page(new RegExp(`^${url}$`));
      await page.getByRole('heading', { name: 'Figures' }).waitFor();
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);
      expect(await page.evaluate(() => ['kiosk' in globalThis, window.open('/')])).toEqual([false, null]);
      // A pointer is seen nowhere in it, and a frame, which may show one, never meets it.
      const pointers = () =>
        page.evaluate(() => {
          const html = '<style>h1 { cursor: pointer !important }</style><iframe></iframe>';
          if (document.querySelector('iframe') === null) document.body.insertAdjacentHTML('beforeend', html);
          const { x = 0, y = 0 } = document.querySelector('iframe')?.getBoundingClientRect() ?? {};
          const met = [document.querySelector('h1'), document.elementFromPoint(x + 9, y + 9)];
          return met.map((element) => element && [element.localName, getComputedStyle(element).cursor]);
        });
      await expect.poll(pointers, patience).toEqual([
        ['h1', 'none'],
        ['html', 'none'],
      ]);
      // Nor does it get a camera, or a place on the disk.
      const permissions = () =>
        page.evaluate(() =>
          Promise.all(
            ['camera', 'geolocation', 'notifications'].map(async (name) => {
              return (await navigator.permissions.query({ name: name as PermissionName })).state;
            }),
          ),
        );
      expect(await permissions()).toEqual(['denied', 'denied', 'denied']);
      const download = kiosk.evaluate(
        ({ session }: Electron) =>
          new Promise<boolean>((resolve) => {
            // After that of the kiosk, which is as old as the session.
            session
              .fromPartition('external')
              .once('will-download', (event: Electron) => resolve(event.defaultPrevented));
          }),
      );
      await page.evaluate(() =>
        Object.assign(document.createElement('a'), { href: 'blob.bin', download: 'blob.bin' }).click(),
      );
      expect(await download).toBe(true);

      // The service would take a page of its own origin for its own.
      await page.evaluate((own) => location.assign(own), await kiosk.url());
      await page.evaluate(() => location.assign('#figures'));
      await expect.poll(() => page.url(), patience).toBe(`${url}#figures`);

      await command({ command: 'blackout', blackout: true });
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([covered]);
      await command({ command: 'blackout', blackout: false });
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);

      await command({ command: 'next' });
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([]);
      await expect.poll(() => page.isClosed(), patience).toBe(true);

      await command({ command: 'redirect', url });
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);
      // A page that closes itself costs its own view, and nothing else, even where the page of the service goes with it.
      await kiosk.evaluate(({ webContents }: Electron) => {
        const all = webContents.getAllWebContents();
        const external = all.find(({ session }: Electron) => session.partition === 'external');
        const own = all.find(({ session }: Electron) => session.partition.startsWith('persist:'));
        const navigated = new Promise<void>((resolve, reject) =>
          external.once('destroyed', () => {
            try {
              own.emit('did-navigate', {}, own.getURL(), 200, 'OK');
              resolve();
            } catch (error) {
              reject(error);
            }
          }),
        );
        external.close();
        return navigated;
      });
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([]);
      await command({ command: 'redirect', url });
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);
      // Those whose loading never ends are shown once they have something to show.
      for (const path of ['hangs', 'camera']) {
        await command({ command: 'redirect', url: `${url}${path}` });
        const addresses = () =>
          kiosk.evaluate(({ webContents }: Electron) =>
            webContents.getAllWebContents().map((each: Electron) => [each.getURL(), each.isLoading(), each.isMuted]),
          );
        await expect.poll(addresses, { ...patience, timeout: 8_000 }).toContainEqual([`${url}${path}`, true, false]);
        const endless = await kiosk.page(new RegExp(`/${path}$`));
        await expect.poll(() => endless.evaluate(cursorOf), patience).toBe('none');
      }
      await command({ command: 'reload' });
      await expect.poll(() => viewsOf(kiosk), patience).not.toContainEqual(shown);
    },
  );

  itDouble('never has the keyboard, which the maintenance page has, and the page, even while that loads', async () => {
    const url = await startForeign();
    const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 600 }]);
    const kiosk = await startKiosk({ content, config });
    const page = await kiosk.page(/screen\/lobby/);
    await page.getByText('Good morning').first().waitFor();
    const focused = () => kiosk.evaluate(({ webContents }) => String(webContents.getFocusedWebContents()?.getURL()));
    await expect.poll(focused, patience).toMatch(/screen\/lobby/);
    await kiosk.pressChord();
    await expect.poll(focused, patience).toMatch(/maintenance\.html$/);
    await redirect(kiosk, url);
    const foreign = await kiosk.page(new RegExp(`^${url}$`));
    await foreign.getByRole('heading', { name: 'Figures' }).waitFor();
    await foreign.reload();
    expect(await focused()).toMatch(/maintenance\.html$/);
    await kiosk.pressChord();
    await expect.poll(focused, patience).toMatch(/screen\/lobby/);

    // From its beginning: it may hang before it is shown.
    const isHeard = await kiosk.evaluate(
      ({ app, webContents }: Electron) =>
        new Promise<boolean>((resolve) => {
          app.once('web-contents-created', (_event: Electron, next: Electron) =>
            next.once('did-navigate', () => setImmediate(() => resolve(next.isFocused()))),
          );
          webContents.getFocusedWebContents().forcefullyCrashRenderer();
        }),
    );
    expect(isHeard).toBe(true);
  });

  itDouble('leaves the zones beside it their room, and takes it once they are empty', walk, async () => {
    const web = { id: 'figures', kind: 'web', media_url: await startForeign(), duration_seconds: 600 };
    const offer = { id: 'offer', kind: 'text', title: 'Soup', duration_seconds: 600 };
    const contentWith = (slides: readonly object[]) => ({
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main', layout: 'sidebar', zones: { sidebar: 'offers' } }],
      playlists: [
        { id: 'main', slides: [web] },
        { id: 'offers', slides },
      ],
    });
    const kiosk = await startKiosk({ content: contentWith([offer]), config });
    const sizeOf = () =>
      kiosk.evaluate(({ BaseWindow }: Electron) =>
        BaseWindow.getAllWindows().flatMap(({ contentView: { children } }: Electron) =>
          children
            .filter((view: Electron) => view.webContents?.session.partition === 'external')
            .map(({ bounds: { x, y, width, height } }: Electron) => [x, y, width, height]),
        ),
      );
    await expect.poll(sizeOf, patience).toEqual([[0, 0, 720, 540]]);
    expect(await viewsOf(kiosk)).toEqual([{ ...shown, isWhole: false }]);
    writeFileSync(join(kiosk.dataDir, 'content.json'), JSON.stringify(contentWith([])));
    await expect.poll(sizeOf, patience).toEqual([[0, 0, 960, 540]]);
  });

  itDouble.each(isSoak ? ['painted', 'unpainted'] : ['unpainted'])(
    'that is lost gives way to the next slide, and after a redirect to the player, where covered views are %s',
    async (covered) => {
      const url = await startForeign();
      const kiosk = await startKiosk({
        content: lobby([
          { id: 'figures', kind: 'web', media_url: url, duration_seconds: 600 },
          { id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 600 },
        ]),
        config,
        env: { DOUBLE_COVERED: covered },
      });
      const api = `${await kiosk.url()}/api/screens/lobby`;
      const connection = async () => {
        const { connections } = (await (await fetch(`${api}/connections`)).json()) as ConnectionSnapshot;
        return connections[0];
      };
      await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);
      await crashView(kiosk);
      await expect.poll(connection, patience).toMatchObject({ currentSlideId: 'hello' });

      await redirect(kiosk, url);
      await expect.poll(connection, patience).toMatchObject({ page: url });
      await crashView(kiosk);
      await expect.poll(connection, patience).toMatchObject({ page: '/screen/lobby', currentSlideId: 'hello' });
    },
  );

  itDouble('stays while it is busy for half a minute, and gives way to the player when it hangs', async () => {
    const url = await startForeign();
    const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 600 }]);
    const kiosk = await startKiosk({ content, config });
    const api = `${await kiosk.url()}/api/screens/lobby`;
    const page = async () => {
      const { connections } = (await (await fetch(`${api}/connections`)).json()) as ConnectionSnapshot;
      return connections[0]?.page;
    };
    await expect.poll(page, patience).toBe('/screen/lobby');
    await hurry(kiosk, 10);
    await redirect(kiosk, url);
    await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);
    const foreign = await kiosk.page(new RegExp(`^${url}$`));
    await foreign.evaluate(() => {
      const until = performance.now() + 3_000;
      while (performance.now() < until);
    });
    expect(await viewsOf(kiosk)).toEqual([shown]);
    expect(await page()).toBe(url);
    await hangPage(kiosk.evaluate, url);
    await expect.poll(page, patience).toBe('/screen/lobby');
    expect(await viewsOf(kiosk)).toEqual([]);
  });

  itDouble.each<Trouble['answer']>([404, ...walks<Trouble['answer']>(401, 429, 502, 'none')])(
    'is not shown where its site answers %s, and gives way when it reloads itself meanwhile',
    walk,
    async (answer) => {
      const trouble: Trouble = { answer };
      const url = `${await startForeign(trouble)}reloads`;
      const kiosk = await startKiosk({
        content: lobby([
          { id: 'figures', kind: 'web', media_url: url, duration_seconds: 600 },
          { id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 5 },
        ]),
        config,
      });
      const current = async () => {
        const response = await fetch(`${await kiosk.url()}/api/screens/lobby/connections`);
        return ((await response.json()) as ConnectionSnapshot).connections[0]?.currentSlideId;
      };
      await expect.poll(current, patience).toBe('hello');
      expect(await viewsOf(kiosk)).not.toContainEqual(shown);
      trouble.answer = null;
      await expect.poll(current, patience).toBe('figures');
      await expect.poll(() => viewsOf(kiosk), patience).toContainEqual(shown);
      trouble.answer = answer;
      await expect.poll(current, patience).toBe('hello');
    },
  );

  itDouble.each([404, ...walks(429)])('is shown where its site answers %s, and its script leads on', async (status) => {
    const url = `${await startForeign()}lets-in-after-${status}`;
    const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning', duration_seconds: 600 }]);
    const kiosk = await startKiosk({ content, config });
    const fates = await noteFates(kiosk);
    await redirect(kiosk, url);
    await expect.poll(() => viewsOf(kiosk), patience).toEqual([shown]);
    expect(await fates()).toEqual([
      [status, true],
      [200, true],
    ]);
  });

  itDouble('is shown rotated, dressed and without a pointer, also where it never ends loading', async () => {
    const url = await startForeign();
    const content = { web: { zoom: 2, css: ':root { letter-spacing: 7px }' } };
    const paths = ['', 'hangs', 'bare'];
    const kiosk = await startKiosk({
      content: lobby(
        paths.map((path) => ({
          id: `web-${path}`,
          kind: 'web',
          media_url: url + path,
          duration_seconds: 600,
          content,
        })),
      ),
      config: { kiosk: { displays: [{ display: 1, screen: 'lobby', rotation: 90 }] } },
    });
    await hurry(kiosk, 4);
    for (const path of paths) {
      const page = await kiosk.page(new RegExp(`^${url}${path}$`));
      const look = () =>
        page.evaluate(() => {
          const { cursor, letterSpacing, position } = getComputedStyle(document.documentElement);
          const zoom = document.body === null ? '2' : getComputedStyle(document.body).zoom;
          return [cursor, letterSpacing, position, zoom, document.adoptedStyleSheets.length];
        });
      // Four styles, each once.
      await expect.poll(look, { ...patience, message: path }).toEqual(['none', '7px', 'fixed', '2', 4]);
      await expect.poll(() => viewsOf(kiosk), patience).toContainEqual(shown);
      await fetch(`${await kiosk.url()}/api/screens/lobby/commands`, {
        method: 'POST',
        headers: { 'Content-Type': 'application/json' },
        body: JSON.stringify({ command: 'next' }),
      });
    }
  });
});
