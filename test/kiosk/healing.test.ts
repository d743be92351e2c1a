/** What goes wrong without a crash is seen by what is painted, and comes back. */
import { expect } from 'vitest';
import { describeBrowser, itBrowser as it } from '../support/browser.ts';
import { hangPage, passTime } from '../support/electron/ask.ts';
import { itDouble, leak, patience, smallMachine, startKiosk } from '../support/kiosk.ts';
import { putVideo } from '../support/media.ts';
import { colourSlide, colourTemplate, lobby } from '../support/player.ts';
import { temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { healthOf, plays } from './health.ts';

const content = lobby([{ id: 'hello', kind: 'text', title: 'Good morning' }]);
const config = { kiosk: { displays: [{ display: 1, screen: 'lobby' }] } };

describeBrowser('healing', { timeout: 120_000 }, () => {
  it('brings back a page that hangs, and a film that runs unseen, each on its display', walk, async () => {
    const dataDir = temporaryFolder();
    const film = putVideo(dataDir, 'film.mp4', [200, 30, 30], 4);
    const slides = [{ id: 'film', kind: 'video', media_url: film, duration_seconds: 3600 }];
    const kiosk = await startKiosk({
      dataDir,
      content: {
        screens: ['lobby', 'bar'].map((slug) => ({ name: slug, slug, playlist_id: slug })),
        playlists: [
          { ...content.playlists[0], id: 'lobby' },
          { id: 'bar', slides },
        ],
      },
      config: { kiosk: { displays: ['lobby', 'bar'].map((screen, index) => ({ display: index + 1, screen })) } },
      displays: [
        [960, 540],
        [640, 360],
      ],
    });
    await plays(kiosk, [
      { state: 'playing', slide: 'hello' },
      { state: 'playing', slide: 'film' },
    ]);
    const hung = await kiosk.page(/\/screen\/lobby/);
    const frozen = await kiosk.page(/\/screen\/bar/);
    await frozen.evaluate(() => {
      HTMLVideoElement.prototype.requestVideoFrameCallback = () => 0;
    });
    await hangPage(kiosk.evaluate, '/screen/lobby');

    await expect.poll(async () => (await healthOf(kiosk)).recoveries.recreate, patience).toBe(2);
    await expect.poll(() => hung.isClosed() && frozen.isClosed(), patience).toBe(true);
    await plays(kiosk, [
      { state: 'playing', slide: 'hello' },
      { state: 'playing', slide: 'film' },
    ]);
    await (await kiosk.page(/\/screen\/lobby/)).getByText('Good morning').first().waitFor();
    const playing = (await kiosk.page(/\/screen\/bar/)).locator('video');
    await expect
      .poll(() => playing.evaluate((video: HTMLVideoElement) => video.currentTime), patience)
      .toBeGreaterThan(0);
    const reasons = kiosk.printed.stderr.match(/"reason":"[^"]*"/g);
    expect(reasons).toContainEqual(expect.stringContaining('has not answered'));
    expect(reasons).toContainEqual(expect.stringContaining('has not moved'));
  });

  itDouble('reloads a page that leaks between two slides, and at once where it leaks too much', walk, async () => {
    const slides = [colourSlide('red', [230, 20, 20], 4), colourSlide('green', [20, 230, 20], 4)];
    const content = lobby(slides, { templates: [colourTemplate] });
    const kiosk = await startKiosk({ content, config, env: smallMachine });
    await plays(kiosk, [{ state: 'playing' }]);

    const leaking = await kiosk.page(/\/screen\/lobby/);
    await leak(leaking, 256);
    await passTime(kiosk.evaluate, 61);
    await expect
      .poll(async () => (await healthOf(kiosk)).recoveries, patience)
      .toMatchObject({ reload: 1, recreate: 0 });
    await expect.poll(() => leaking.isClosed(), patience).toBe(true);
    await plays(kiosk, [{ state: 'playing' }]);
    await leak(await kiosk.page(/\/screen\/lobby/), 512);
    await passTime(kiosk.evaluate, 61);
    await expect.poll(async () => (await healthOf(kiosk)).recoveries, patience).toMatchObject({ recreate: 1 });
    const { reason } = (await healthOf(kiosk)).lastRecovery;
    expect(Number(/ (\d+) MiB/.exec(reason)?.[1])).toBeGreaterThan(512);
    await plays(kiosk, [{ state: 'playing' }]);
  });
});
