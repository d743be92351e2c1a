/** One box, several displays: plugged in, pulled out, turned, each with what is its own. */
import { copyFileSync, existsSync, readFileSync, writeFileSync } from 'node:fs';
import { delimiter, join } from 'node:path';
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { expect } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { type Electron, layersOf } from '../support/electron/ask.ts';
import { displaysOf, itDouble as it, patience, startKiosk } from '../support/kiosk.ts';
import { isClose, lobby } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const readSlots = (dataDir: string): number[] =>
  JSON.parse(readFileSync(join(dataDir, 'kiosk.json'), 'utf8')).body.slots.map(
    ({ displayId }: { displayId: number }) => displayId,
  );

describeBrowser('displays', { timeout: 90_000 }, () => {
  it('have a window each, and each its own device, as they come and go', async () => {
    const kiosk = await startKiosk({
      displays: [
        [960, 540],
        [640, 360],
      ],
    });
    const [first, second] = displaysOf([
      [960, 540],
      [640, 360],
    ]);
    const deviceOf = (page: Page) => new URL(page.url(), 'http://x').searchParams.get('deviceId');
    const devices = () => kiosk.pages().map(deviceOf).toSorted();
    await expect.poll(devices, patience).toEqual([expect.any(String), expect.any(String)]);
    const both = devices();
    expect(new Set(both).size).toBe(2);
    const sized = await Promise.all(
      kiosk.pages().map(async (page) => [await page.evaluate(() => innerWidth), deviceOf(page)]),
    );
    const { 960: left, 640: right } = Object.fromEntries(sized);
    expect([left, right].toSorted()).toEqual(both);
    const names = () =>
      Promise.all(kiosk.pages().map((page) => page.evaluate(() => localStorage.getItem('signage.clientId') ?? '')));
    await expect.poll(async () => new Set((await names()).filter(Boolean)).size, patience).toBe(2);

    // Each window gives the keyboard to its page when it gets it, and takes it from no other.
    const keyboard = () =>
      kiosk.evaluate(({ BaseWindow, webContents }) => {
        const windows = BaseWindow.getAllWindows();
        const contents = webContents.getFocusedWebContents();
        const holds = ({ contentView }: Electron) =>
          contentView.children.some((view: Electron) => view.webContents === contents);
        return [
          windows.findIndex((each: Electron) => each.isFocused()),
          contents === null ? -1 : windows.findIndex(holds),
        ];
      });
    const pagesOf = (index: number) =>
      kiosk.evaluate(
        ({ BaseWindow }, at) =>
          BaseWindow.getAllWindows()[at].contentView.children.map(({ webContents }: Electron) => webContents?.id),
        index,
      );
    for (const index of [0, 1]) {
      await kiosk.evaluate(({ BaseWindow }, at) => BaseWindow.getAllWindows()[at].focus(), index);
      await expect.poll(keyboard, patience).toEqual([index, index]);
      const before = await pagesOf(1 - index);
      await kiosk.evaluate(({ BaseWindow }, at) => {
        const [{ webContents }] = BaseWindow.getAllWindows()[at].contentView.children;
        webContents.emit('did-fail-load', {}, -2, 'ERR_FAILED', '', true);
      }, 1 - index);
      const isReplaced = async () => {
        const pages = await pagesOf(1 - index);
        return pages.length > 0 && pages.every((id: number) => !before.includes(id));
      };
      await expect.poll(isReplaced, patience).toBe(true);
      expect(await keyboard()).toEqual([index, index]);
    }

    const plug = (displays: unknown[]) => kiosk.evaluate(({ screen }, given) => screen.become(given), displays);
    await plug([first]);
    await expect.poll(devices, patience).toEqual([left]);
    // All panels are off: what there is stays.
    await plug([]);
    await plug([second, first]);
    await expect.poll(devices, patience).toEqual(both);
    await plug([first, { ...second, id: 99 }]);
    await expect.poll(devices, patience).toEqual(both);
    const windows = () => kiosk.evaluate(({ BaseWindow }) => BaseWindow.getAllWindows().length);
    await expect.poll(() => readSlots(kiosk.dataDir), patience).toEqual([11, 99]);
    expect(await windows()).toBe(2);

    // A compositor that restarts its numbering gives the display that wakes up first the number of the other.
    await plug([{ ...second, id: 11 }]);
    await expect.poll(devices, patience).toEqual([right]);
    await plug([
      { ...second, id: 11 },
      { ...first, id: 12 },
    ]);
    await expect.poll(devices, patience).toEqual(both);
    await expect.poll(() => readSlots(kiosk.dataDir), patience).toEqual([12, 11]);

    // A supervisor that ends all processes, and the program that started this one, ask twice.
    const stops = kiosk.evaluate(
      ({ app }) => new Promise((resolve) => app.once('before-quit', () => resolve('stops'))),
    );
    kiosk.signal('SIGTERM');
    expect(await stops).toBe('stops');
    kiosk.signal('SIGTERM');
    expect(await kiosk.ended()).toBe(0);
  });

  it('leave no page behind when they are unplugged and plugged in while they are black', walk, async () => {
    const days = [-1, 0, 1].map((day) => new Date(Date.now() + day * 86_400_000).toISOString().slice(0, 10));
    const content = lobby([{ id: 'hello', kind: 'text', title: 'Hello' }]);
    const sizes: [number, number][] = [
      [960, 540],
      [640, 360],
    ];
    const kiosk = await startKiosk({
      content: {
        ...content,
        screens: content.screens.map((each) => ({ ...each, hours: days.map((date) => ({ date })) })),
      },
      config: { kiosk: { displays: [1, 2].map((display) => ({ display, screen: 'lobby' })) } },
      displays: sizes,
    });
    const black = ['/screen/lobby', 'black'];
    const contents = () => kiosk.evaluate(({ webContents }) => webContents.getAllWebContents().length);
    await expect.poll(() => layersOf(kiosk.evaluate), patience).toEqual([black, black]);
    const both = displaysOf(sizes);
    for (const displays of [1, 2, 3, 4, 5].flatMap(() => [both.slice(0, 1), both])) {
      await kiosk.evaluate(({ screen }, given) => screen.become(given), displays);
      await expect.poll(() => layersOf(kiosk.evaluate), patience).toEqual(displays.map(() => black));
      await expect.poll(contents, { timeout: 5_000 }).toBe(2 * displays.length);
    }
  });

  it('are devices of another box once a copied disk has its own node id', walk, async () => {
    const kiosk = await startKiosk();
    const landing = async () => new URL((await kiosk.page(/deviceId=/)).url()).searchParams.get('deviceId');
    const first = await landing();
    const dataDir = temporaryFolder();
    copyFileSync(join(kiosk.dataDir, 'state.json'), join(dataDir, 'state.json'));
    // Of two with one id the one that started later is the copy.
    const wall = () => Date.now() - 3_600_000;
    const original = await startTestService({ dataDir, wall, env: { SIGNAGE_PEERS: await kiosk.url() } });
    await expect.poll(landing, patience).not.toBe(first);
    expect((await (await original.get('/healthz')).json()).nodeId).toBe(original.nodeId);
  });

  it('have their windows moved to their outputs where the compositor is sway', async () => {
    const bin = temporaryFolder();
    const calls = join(bin, 'calls');
    const node = (type: string, name: string, x: number, nodes: object[] = [], id = 1) => ({
      id,
      type,
      name,
      rect: { x, y: 0 },
      nodes,
      floating_nodes: [],
      fullscreen_mode: 1,
    });
    const windows = [11, 12].map((id) => node('con', `Signage player ${id}`, 0, [], id));
    const tree = node('root', 'root', 0, [node('output', 'HDMI-A-1', 0, windows), node('output', 'HDMI-A-2', 4000)]);
    const script = `#!/bin/sh\ncase "$*" in *get_tree*) echo '${JSON.stringify(tree)}' ;; *) echo "$*" >>'${calls}' ;; esac\n`;
    writeFileSync(join(bin, 'swaymsg'), script, { mode: 0o755 });
    await startKiosk({
      env: { PATH: `${bin}${delimiter}${process.env.PATH}`, SWAYSOCK: join(bin, 'sway.sock') },
      displays: [
        [960, 540],
        [640, 360],
      ],
    });
    const asked = (): string => (existsSync(calls) ? (readFileSync(calls, 'utf8').split('\n')[0] ?? '') : '');
    await expect.poll(asked, patience).toBe('[con_id=12] move container to output "HDMI-A-2", fullscreen enable');
  });

  it('are turned by the setting, and the whole picture with them', async () => {
    const kiosk = await startKiosk({ config: { kiosk: { rotation: 90 } }, displays: [[800, 450]] });
    const page = await kiosk.page(/deviceId=/);
    await page.getByText('can’t reach this player').waitFor();
    await expect
      .poll(() => page.evaluate(() => getComputedStyle(document.documentElement).transform), patience)
      .not.toBe('none');
    const stage = await page.locator('#landing').boundingBox();
    expect(stage).toMatchObject({ x: 0, y: 0, width: 800, height: 450 });
    const { width, height, data } = PNG.sync.read(await page.screenshot());
    const corner = ((height - 2) * width + width - 2) * 4;
    expect(isClose([data[corner] ?? 0, data[corner + 1] ?? 0, data[corner + 2] ?? 0], [255, 255, 255], 20)).toBe(false);
  });
});
