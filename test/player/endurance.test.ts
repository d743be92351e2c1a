import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { putImage, putVideo } from '../support/media.ts';
import { colourSlide, colourTemplate, lobby, openPlayer } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { repeats, walk } from '../support/soak.ts';

const swaps = repeats(40, 5_000, 'SIGNAGE_TEST_SWAPS');

interface Weight {
  nodes: number;
  heapBytes: number;
}

describeBrowser('over thousands of swaps', () => {
  it(`the document and the heap stay as they are (${swaps} swaps)`, { ...walk, timeout: 3_700_000 }, async () => {
    const dataDir = temporaryFolder();
    const slides = [
      { id: 'text', kind: 'text', title: 'Hello', body: 'Good morning', duration_seconds: 0.01 },
      { id: 'image', kind: 'image', media_url: putImage(dataDir, 'red.png', [230, 20, 20]), duration_seconds: 0.01 },
      colourSlide('template', [20, 20, 230], 0.01),
      {
        id: 'video',
        kind: 'video',
        media_url: putVideo(dataDir, 'green.mp4', [20, 180, 20], 1),
        duration_seconds: 0.01,
      },
    ];
    const service = await startTestService({ dataDir, content: lobby(slides, { templates: [colourTemplate] }) });
    const page = await openPlayer(service, 'lobby', { width: 160, height: 90 });
    await page.locator('.layer').first().waitFor();
    await page.evaluate(() => {
      Object.assign(globalThis, { swaps: 0 });
      const stage = document.getElementById('stage') as HTMLElement;
      new MutationObserver((changes) => {
        const removed = changes.flatMap(({ removedNodes }) => [...removedNodes]).length;
        Object.assign(globalThis, { swaps: (globalThis as unknown as { swaps: number }).swaps + removed });
      }).observe(stage, { childList: true });
    });
    const session = await page.context().newCDPSession(page);
    const weigh = async (): Promise<Weight> => {
      await session.send('HeapProfiler.collectGarbage');
      await session.send('HeapProfiler.collectGarbage');
      const { nodes } = await session.send('Memory.getDOMCounters');
      const { usedSize } = await session.send('Runtime.getHeapUsage');
      return { nodes, heapBytes: usedSize };
    };
    const reach = (count: number): Promise<unknown> =>
      page.waitForFunction((wanted) => (globalThis as unknown as { swaps: number }).swaps >= wanted, count, {
        timeout: 3_600_000,
        polling: 250,
      });

    /** What weighs least of several slides: some have more nodes than others. */
    const lightest = async (): Promise<Weight> => {
      const weights: Weight[] = [];
      for (let sample = 0; sample < repeats(4, 8); sample += 1) weights.push(await weigh());
      return {
        nodes: Math.min(...weights.map(({ nodes }) => nodes)),
        heapBytes: Math.min(...weights.map(({ heapBytes }) => heapBytes)),
      };
    };

    await reach(swaps / 4);
    const before = await lightest();
    await reach(swaps);
    // Frames that were removed are collected late on a busy machine; what leaks never is.
    await expect
      .poll(async () => (await lightest()).nodes, { timeout: 60_000, interval: 500 })
      .toBeLessThan(before.nodes + 100);
    await expect
      .poll(async () => (await lightest()).heapBytes, { timeout: 60_000, interval: 500 })
      .toBeLessThan(before.heapBytes * 1.1 + 500_000);
  });
});
