/** The page of a screen: its display as it plays, its name, and the address of the screen. */
import { expect, it } from 'vitest';
import { isSkipped } from '../support/browser.ts';
import { hasFfmpeg, putImage, putVideo } from '../support/media.ts';
import { createOperator } from '../support/operator.ts';
import { connectionOf, openPlayer, patience, waitForConnection } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { openConsole } from './browser.ts';

it.skipIf(isSkipped || !hasFfmpeg)(
  'the page of a screen follows its display, silently and without a connection of its own, and asks before names and addresses meet',
  async () => {
    const dataDir = temporaryFolder();
    putImage(dataDir, 'red.png', [200, 30, 30]);
    putVideo(dataDir, 'film.mp4', [30, 30, 200], 20);
    const service = await startTestService({
      dataDir,
      env: { SIGNAGE_HOST: '0.0.0.0' },
      // What plays is of a programme's playlist, and the first slide of a nested one.
      content: {
        screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'own' }],
        playlists: [
          { id: 'own', slides: [{ id: 'unseen', kind: 'text', title: 'Never due' }] },
          { id: 'inner', slides: [{ id: 'red', kind: 'image', media_url: '/media/red.png', duration_seconds: 3600 }] },
          {
            id: 'main',
            fade_between_slides: false,
            slides: [
              { id: 'nested', kind: 'playlist', playlist_id: 'inner' },
              { id: 'film', kind: 'video', media_url: '/media/film.mp4', duration_seconds: 3600 },
              { id: 'web', kind: 'text', title: 'Welcome', duration_seconds: 3600 },
            ],
          },
        ],
        programmes: [{ id: 'always', targets: ['lobby'], playlist_id: 'main' }],
      },
    });
    const ask = createOperator(service, null);
    const send = async (command: object) =>
      (await (await ask('POST', '/api/screens/lobby/commands', command)).json()) as { sent: number };
    await openPlayer(service, 'lobby', { width: 360, height: 640 });
    await waitForConnection(service, 'lobby', { currentSlideId: 'red' });
    const { page } = await openConsole(service.url);
    const tile = page.locator('.tile .display');
    await tile.getByText('Playing', { exact: true }).waitFor();
    await tile.locator('.miniature-picture img').waitFor();
    expect(await tile.getByText('Nothing to show').count()).toBe(0);
    await page.goto(`${page.url().split('#')[0]}#/screens/lobby`);
    const view = page.locator('.large-view');
    const player = view.frameLocator('iframe');
    await player.locator('.slide-image img').waitFor();
    await view.getByText('As it plays').waitFor();
    expect(
      await view.locator('iframe').evaluate(({ clientWidth, clientHeight }) => [clientWidth, clientHeight]),
    ).toEqual([360, 640]);

    expect(await send({ command: 'next' })).toMatchObject({ sent: 1 });
    const film = player.locator('video');
    await film.waitFor();
    const state = () => film.evaluate(({ muted, paused }: HTMLVideoElement) => ({ muted, paused }));
    await expect.poll(state, patience).toEqual({ muted: true, paused: false });
    await send({ command: 'pause' });
    await expect.poll(state, patience).toEqual({ muted: true, paused: true });
    await send({ command: 'pause' });
    await expect.poll(state, patience).toEqual({ muted: true, paused: false });

    await ask('PUT', '/console/api/takeovers/fire', {
      targets: ['lobby'],
      level: 'emergency',
      title: 'Leave the house',
      until: new Date(Date.now() + 600_000).toISOString(),
    });
    await player.getByText('Leave the house').waitFor();
    await ask('DELETE', '/console/api/takeovers/fire');
    await film.waitFor();
    await send({ command: 'blackout', blackout: true });
    await view.getByText('Black', { exact: true }).waitFor();
    expect(await view.locator('iframe').count()).toBe(0);
    await send({ command: 'blackout', blackout: false });
    await send({ command: 'next' });
    await player.getByText('Welcome').waitFor();
    await page.goto(`${page.url().split('#')[0]}#/content/playlists/inner`);
    await page.getByRole('button', { name: 'Show now' }).click();
    await waitForConnection(service, 'lobby', { currentSlideId: 'red' });
    await page.goto(`${page.url().split('#')[0]}#/screens/lobby`);

    const { count } = (await (await service.get('/api/screens/lobby/connections')).json()) as { count: number };
    const metrics = await (await service.get('/metrics')).text();
    expect([count, await send({ command: 'refresh' })]).toEqual([1, expect.objectContaining({ sent: 1 })]);
    expect(metrics).toContain('signage_screen_connections{screen="lobby"} 1');
    expect(metrics).toMatch(/signage_slides_shown_total\{kind="image",result="\w+"\} 1\n/);

    // A name that another device has, and an address that others use.
    const { deviceId } = (await connectionOf(service, 'lobby')) ?? {};
    for (const [id, clientName] of [
      [deviceId, 'Left'],
      ['H4NP8S2VC6YA5R1T', 'Right'],
    ])
      await ask('POST', '/api/onboarding', { deviceId: id, clientName, screenSlug: 'lobby' });
    const click = (name: string) => page.getByRole('button', { name, exact: true }).click();
    const dialog = page.getByRole('dialog');
    // Both are known to the page, so that it knows the name that is taken.
    await page.getByRole('radio', { name: /^Right/ }).waitFor();
    await page.getByRole('radio', { name: /^Left/ }).check();
    await click('Rename …');
    await dialog.getByLabel('Name of the display').fill('Right');
    await click('Rename');
    await dialog.getByText('Another display is called “Right” already.').waitFor();
    await click('Rename anyway');
    await waitForConnection(service, 'lobby', { clientName: 'Right' });

    await page.goto(`${page.url().split('#')[0]}#/content/screens`);
    await click('Change the address of Lobby');
    await dialog.getByText('Displays that are set up for it show nothing until they are moved: Right.').waitFor();
    await dialog.getByLabel('New address').fill('Main hall');
    await click('Change in my draft');
    await dialog.getByText('1 to 64 small letters a to z, digits and hyphens.').waitFor();
    await dialog.getByLabel('New address').fill('hall');
    await click('Change in my draft');
    await click('Publish …');
    await click('Publish now');
    await expect.poll(async () => (await service.get('/api/screens/hall/playlist')).status, patience).toBe(200);
    const { programmes } = (await (await ask('GET', '/console/api/content')).json()).content;
    expect(programmes).toMatchObject([{ targets: ['hall'] }]);
  },
  120_000,
);
