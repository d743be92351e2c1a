import { type ChildProcess, spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putImage, putVideo } from '../support/media.ts';
import { colourSlide, colourTemplate, lobby, openPlayer, patience, waitForColour } from '../support/player.ts';
import { freePort } from '../support/ports.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { repeats, walk } from '../support/soak.ts';

const red = [230, 20, 20] as const;
const green = [20, 180, 20] as const;
const blue = [20, 20, 230] as const;

describeBrowser('a page whose service is killed', () => {
  it('goes on through the whole playlist, media included, and is back within 20 s of its return', {
    ...walk,
    timeout: 900_000,
  }, async () => {
    const dataDir = temporaryFolder();
    const port = await freePort();
    const slides = [
      { id: 'image', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 1 },
      { id: 'video', kind: 'video', media_url: putVideo(dataDir, 'green.mp4', green, 2), duration_seconds: 1 },
      colourSlide('template', blue, 1),
    ];
    writeFileSync(join(dataDir, 'content.json'), JSON.stringify(lobby(slides, { templates: [colourTemplate] })));
    const start = (): ChildProcess => {
      const child = spawn(process.execPath, ['dist/service/headless.js'], {
        env: { SIGNAGE_HOST: '127.0.0.1', SIGNAGE_PORT: String(port), SIGNAGE_DATA_DIR: dataDir },
        stdio: 'ignore',
      });
      onTestFinished(() => void child.kill('SIGKILL'));
      return child;
    };
    const url = `http://127.0.0.1:${port}`;
    const isUp = (): Promise<boolean> =>
      fetch(`${url}/healthz`).then(
        ({ ok }) => ok,
        () => false,
      );
    const count = async (): Promise<number> => {
      const response = await fetch(`${url}/api/screens/lobby/connections`);
      return ((await response.json()) as { count: number }).count;
    };

    const service = start();
    await expect.poll(isUp, patience).toBe(true);
    const page = await openPlayer({ url }, 'lobby', { width: 160, height: 90 });
    for (const colour of [red, green, blue]) await waitForColour(page, colour);
    await expect.poll(count, patience).toBe(1);

    service.kill('SIGKILL');
    const until = Date.now() + repeats(6, 600) * 1_000;
    while (Date.now() < until) for (const colour of [red, green, blue]) await waitForColour(page, colour);

    start();
    await expect.poll(isUp, patience).toBe(true);
    await expect.poll(count, { timeout: 20_000, interval: 100 }).toBe(1);
    for (const colour of [red, green, blue]) await waitForColour(page, colour);
  });
});

describeBrowser('a page whose service is away behind a proxy', () => {
  it('goes on with the media that it has', async () => {
    const dataDir = temporaryFolder();
    const slides = [
      { id: 'red', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 1 },
      { id: 'blue', kind: 'image', media_url: putImage(dataDir, 'blue.png', blue), duration_seconds: 1 },
    ];
    const page = await openPlayer(await startTestService({ dataDir, content: lobby(slides) }), 'lobby');
    for (const colour of [red, blue]) await waitForColour(page, colour);
    let refusals = 0;
    await page.route('**/media/**', (route) => {
      refusals += 1;
      return route.fulfill({ status: 502 });
    });
    await expect.poll(() => refusals, patience).toBeGreaterThan(1);
    for (const colour of [red, blue, red, blue]) await waitForColour(page, colour);
  });
});
