import { createServer, type RequestListener } from 'node:http';
import type { AddressInfo } from 'node:net';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { logged } from '../../support/observe.ts';
import { lobby, openPlayer, patience, sharePlayer, waitForConnection } from '../../support/player.ts';
import { walk } from '../../support/soak.ts';

/** A web server of somebody else's. */
const startSite = async (handler: RequestListener): Promise<string> => {
  const server = createServer(handler);
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve));
  onTestFinished(() => {
    server.closeAllConnections();
    server.close();
  });
  return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
};

/** Ten seconds of a tone: one channel, 8 kHz, 8 bits. */
const tone = (): Buffer => {
  const samples = Buffer.from(Array.from({ length: 80_000 }, (_, at) => 128 + Math.round(20 * Math.sin(at / 5))));
  const header = Buffer.alloc(44);
  header.write('RIFF', 0);
  header.writeUInt32LE(36 + samples.length, 4);
  header.write('WAVEfmt ', 8);
  for (const [at, value] of [
    [16, 16],
    [24, 8000],
    [28, 8000],
    [40, samples.length],
  ] as const)
    header.writeUInt32LE(value, at);
  for (const [at, value] of [
    [20, 1],
    [22, 1],
    [32, 1],
    [34, 8],
  ] as const)
    header.writeUInt16LE(value, at);
  header.write('data', 36);
  return Buffer.concat([header, samples]);
};

describeBrowser('a web slide', { timeout: 60_000, shuffle: false }, () => {
  const player = sharePlayer();
  const next = { kind: 'text', title: 'Next' };
  /** Why a slide was skipped, as the service was told. */
  const skipOf = (id: string) => logged(player().service, 'a slide was skipped').find(({ slideId }) => slideId === id);

  it('runs its scripts and keeps its storage, and can neither leave nor open windows nor take the focus', async () => {
    const html = `<!doctype html><body style="background: #fff"><input autofocus><p></p><script>
      localStorage.setItem('a', 'kept');
      window.open('about:blank');
      try { top.location = 'about:blank' } catch {}
      document.querySelector('p').textContent = localStorage.getItem('a');
    </script>`;
    const site = await startSite((_, response) => void response.setHeader('Content-Type', 'text/html').end(html));
    const { service, show } = player();
    const page = await show([{ kind: 'web', media_url: `${site}/` }]);
    await expect.poll(() => page.frameLocator('iframe').locator('p').textContent(), patience).toBe('kept');
    expect(page.url()).toBe(`${service.url}/screen/lobby`);
    expect(page.context().pages()).toHaveLength(1);
    expect(await page.evaluate(() => document.activeElement?.tagName)).toBe('BODY');
  });

  it('is not heard before it is on the screen, by Web Audio or by a medium', walk, async () => {
    const heard: { what: string; at: number }[] = [];
    const html = `<!doctype html><body>Loud<script>
      const tell = (what) => fetch('/heard?' + what + '=' + Date.now());
      const context = new AudioContext();
      const watch = setInterval(() => {
        if (context.state !== 'running' || context.currentTime === 0) return;
        clearInterval(watch);
        tell('context');
      }, 20);
      const medium = new Audio('/tone.wav');
      medium.addEventListener('playing', () => tell('medium'));
      medium.autoplay = true;
      document.body.append(medium);
    </script>`;
    const site = await startSite((request, response) => {
      const [, what = '', at] = /^\/heard\?(\w+)=(\d+)$/.exec(request.url ?? '') ?? [];
      if (at !== undefined) heard.push({ what, at: Number(at) });
      if (request.url === '/tone.wav') return void response.setHeader('Content-Type', 'audio/wav').end(tone());
      response.setHeader('Content-Type', 'text/html').end(html);
    });
    const page = await player().show([
      { kind: 'text', title: 'Quiet', duration_seconds: 5 },
      { kind: 'web', media_url: `${site}/`, duration_seconds: 3600 },
    ]);
    const shownAt = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          const isShown = (): boolean => document.querySelector('.slide-web[data-state="playing"]') !== null;
          const observer = new MutationObserver(() => isShown() && resolve(Date.now()));
          observer.observe(document.body, { subtree: true, childList: true, attributes: true });
        }),
    );
    await expect.poll(() => heard.map(({ what }) => what).toSorted(), patience).toEqual(['context', 'medium']);
    for (const { what, at } of heard) expect([what, at >= shownAt]).toEqual([what, true]);
    await page.frameLocator('.slide-web iframe').getByText('Loud').waitFor();
  });

  it('of the same host and another port does not hold up the player, however busy it is', walk, async () => {
    const html = `<!doctype html><body>Busy<script>
      setTimeout(() => { for (const since = Date.now(); Date.now() - since < 5_000; ); }, 500);
    </script>`;
    const site = await startSite((_, response) => void response.setHeader('Content-Type', 'text/html').end(html));
    const page = await player().show([{ kind: 'web', media_url: `${site}/`, duration_seconds: 3600 }]);
    await page.frameLocator('.slide-web iframe').getByText('Busy').waitFor();
    const longestMs = await page.evaluate(
      () =>
        new Promise<number>((resolve) => {
          let longest = 0;
          let before = performance.now();
          const timer = setInterval(() => {
            longest = Math.max(longest, performance.now() - before);
            before = performance.now();
          }, 20);
          setTimeout(() => {
            clearInterval(timer);
            resolve(longest);
          }, 4_000);
        }),
    );
    expect(longestMs).toBeLessThan(2_000);
  });

  it('that is long in loading on the screen is seen as it is meanwhile, and at last skipped', walk, async () => {
    const site = await startSite((request, response) => {
      if (request.url === '/never.png') return;
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><body>Slow<img src="/never.png">');
    });
    const slow = { id: 'slow', kind: 'web', media_url: `${site}/`, duration_seconds: 3600 };
    const { service, page } = player();
    service.writeContent(lobby([slow, next]));
    const frame = page.locator('.slide-web iframe');
    await expect.poll(() => frame.evaluate(({ style }) => style.opacity), patience).toBe('');
    await page.frameLocator(`iframe[src="${site}/"]`).getByText('Slow').waitFor();
    await expect.poll(() => skipOf('slow'), patience).toMatchObject({ reason: `${site}/ did not load within 15 s` });
  });

  it('is loaded again while it is on, and says how old it is once it cannot be', walk, async () => {
    let loads = 0;
    let isDown = false;
    const site = await startSite((request, response) => {
      if (isDown) return void response.destroy();
      if (request.headers['sec-fetch-dest'] === 'iframe') loads += 1;
      response.setHeader('Content-Type', 'text/html').end(`<!doctype html><body>Figures ${loads}`);
    });
    const content = { max_age_seconds: 6, web: { refresh_seconds: 0.1, scroll: 90_000, zoom: 2 } };
    const slide = { id: 'figures', kind: 'web', media_url: `${site}/`, content, duration_seconds: 3600 };
    const { service, page } = player();
    service.writeContent(lobby([slide]));
    const first = page.frameLocator('.slide-web iframe').first().getByText('Figures 1');
    await first.waitFor();
    await page.frameLocator('.slide-web iframe').last().getByText('Figures 2').waitFor();
    await expect.poll(() => page.locator('.slide-web iframe').count(), patience).toBe(1);
    const frame = page.locator('.slide-web iframe').last();
    expect(await frame.evaluate(({ clientWidth, parentElement }) => [clientWidth, parentElement?.clientWidth])).toEqual(
      [320, 640],
    );
    expect(await page.locator('.as-of').count()).toBe(0);
    isDown = true;
    await page.locator('.slide-web .as-of').waitFor();
    // The picture of before stays, and makes room for the label.
    await page
      .frameLocator('.slide-web iframe')
      .last()
      .getByText(/Figures \d/)
      .waitFor();
    const box = await frame.boundingBox();
    const label = await page.locator('.as-of').boundingBox();
    expect((box?.y ?? 0) + (box?.height ?? 0)).toBeLessThanOrEqual((label?.y ?? 0) + 1);
    isDown = false;
    await expect.poll(() => page.locator('.as-of').count(), patience).toBe(0);
  });

  it('that goes off or on with a blackout while it loads again is so once it has loaded', walk, async () => {
    let loads = 0;
    let isHeld = false;
    const held: (() => void)[] = [];
    const site = await startSite((request, response) => {
      const answer = (): void =>
        void response.setHeader('Content-Type', 'text/html').end(`<!doctype html><body>Figures ${loads}`);
      if (request.headers['sec-fetch-dest'] === 'iframe') loads += 1;
      if (isHeld && request.headers['sec-fetch-dest'] === 'iframe') held.push(answer);
      else answer();
    });
    const content = { web: { refresh_seconds: 0.1 } };
    const { service, show } = player();
    const page = await show([{ kind: 'web', media_url: `${site}/`, content, duration_seconds: 3600 }]);
    const frames = () =>
      page.locator('.slide-web iframe').evaluateAll((all) => all.map((frame) => (frame as HTMLElement).hidden));
    await expect.poll(frames, patience).toEqual([false]);
    for (const blackout of [true, false]) {
      isHeld = true;
      await expect.poll(() => held.length, patience).toBe(1);
      await service.post('/api/screens/lobby/commands', { command: 'blackout', blackout });
      await waitForConnection(service, 'lobby', { blackout });
      isHeld = false;
      for (const answer of held.splice(0)) answer();
      // Not the state of the one after it, which begins to load in another 5 s.
      await expect.poll(async () => (await frames()).length, { ...patience, timeout: 4_000 }).toBe(1);
      expect(await frames()).toEqual([blackout]);
    }
  });

  it('is skipped while it is on, where the slide says so, once it can no longer be loaded', async () => {
    let isDown = false;
    const site = await startSite((_, response) => {
      if (isDown) return void response.destroy();
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><body>Figures');
    });
    const content = { max_age_seconds: 2, when_old: 'skip' };
    const slide = { id: 'old', kind: 'web', media_url: `${site}/`, content, duration_seconds: 3600 };
    const page = await player().show([slide, next]);
    await page.frameLocator('.slide-web iframe').getByText('Figures').first().waitFor();
    isDown = true;
    await expect
      .poll(() => skipOf('old'), patience)
      .toMatchObject({ reason: expect.stringMatching(/which is too old$/) });
    await page.locator('.slide-text[data-state="playing"]').waitFor();
  });

  it.each([
    ['headers', 'the headers that only a kiosk adds'],
    ['session', 'a session, which only a kiosk keeps'],
  ])('that needs %s is skipped in a browser', async (field, reason) => {
    const site = await startSite((_, response) => void response.end('Figures'));
    const secret = { id: field, kind: 'web', media_url: `${site}/`, content: { web: { [field]: 'wall' } } };
    player().service.writeContent(lobby([secret, next]));
    await expect.poll(() => skipOf(field), patience).toMatchObject({ reason: `${site}/ needs ${reason}` });
  });

  it('that is unloaded for a blackout, and cannot be loaded after it, gives way to the next slide', async () => {
    let isDown = false;
    const site = await startSite((_, response) => {
      if (isDown) return void response.destroy();
      response.setHeader('Content-Type', 'text/html').end('<!doctype html><body>Figures');
    });
    const { service } = player();
    const figures = { id: 'figures', kind: 'web', media_url: `${site}/`, duration_seconds: 3600 };
    service.writeContent({
      screens: [{ name: 'Bar', slug: 'bar', playlist_id: 'bar' }],
      playlists: [{ id: 'bar', slides: [figures, { id: 'next', duration_seconds: 3600, ...next }] }],
    });
    const page = await openPlayer(service, 'bar');
    // As a browser that neither pauses the media of hidden frames, as only Chromium does, nor plays sound by itself.
    await page.addInitScript(() => {
      Reflect.deleteProperty(Document.prototype, 'featurePolicy');
      HTMLMediaElement.prototype.play = () => Promise.reject(new DOMException('', 'NotAllowedError'));
    });
    await page.reload();
    await page.frameLocator('.slide-web iframe').getByText('Figures').waitFor();
    const blacken = (blackout: boolean) => service.post('/api/screens/bar/commands', { command: 'blackout', blackout });
    await blacken(true);
    await expect.poll(() => page.locator('iframe').getAttribute('src'), patience).toBe('about:blank');
    isDown = true;
    await blacken(false);
    await waitForConnection(service, 'bar', { currentSlideId: 'next', blackout: false });
  });
});
