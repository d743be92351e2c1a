import type { Page, Route } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { describeBrowser } from '../../support/browser.ts';
import { patience, sharePlayer } from '../../support/player.ts';
import { repeats } from '../../support/soak.ts';

const sentence = 'The house opens at seven, and breakfast is served by the long window until eleven. ';
const landscape = { width: 1920, height: 1080 };
const portrait = { width: 1080, height: 1920 };

/** The smallest type on the slide in px, and by how much the text is larger than its place. */
const measure = (page: Page): Promise<{ smallest: number; over: number }> =>
  page.locator('.copy').evaluate((copy) => ({
    smallest: Math.min(...[...copy.children].map((part) => Number.parseFloat(getComputedStyle(part).fontSize))),
    over: Math.max(copy.scrollHeight - copy.clientHeight, copy.scrollWidth - copy.clientWidth),
  }));

describeBrowser('a text slide', () => {
  const player = sharePlayer(landscape);

  const openText = async (slide: object): Promise<Page> => {
    await player().page.setViewportSize(landscape);
    return player().show([{ kind: 'text', ...slide }]);
  };

  const texts: [name: string, slide: object, px: number][] = [
    ['a title and a line', { title: 'Tonight: live piano', body: 'From eight, in the bar' }, 60],
    ['2,000 characters', { title: 'House notes', body: sentence.repeat(30).slice(0, 2000) }, 22],
    ['another script', { title: 'صباح الخير', body: '早餐供应至十一点' }, 60],
    ['two words', { title: 'Good morning' }, 150],
    ['a statement', { body: 'Please take the stairs on the left.' }, 120],
    ['300 characters', { title: 'House notes', body: sentence.repeat(4).slice(0, 300) }, 40],
    ['2,000 characters without a space', { body: 'x'.repeat(2000) }, 16],
    ['a long word', { title: 'Donaudampfschifffahrtsgesellschaft', body: 'closed today' }, 40],
    ['forty lines', { title: 'Departures', body: Array.from({ length: 40 }, (_, n) => `Gate ${n}`).join('\n') }, 8],
  ];
  it.each(texts.slice(0, repeats(3, texts.length)))(
    '%s: its type is as large as it goes, and all of it on the screen',
    async (_, slide, px) => {
      const page = await openText(slide);
      const wide = await measure(page);
      expect(wide.over).toBeLessThanOrEqual(0);
      expect(wide.smallest).toBeGreaterThanOrEqual(px);
      await page.setViewportSize(portrait);
      await expect.poll(async () => (await measure(page)).over).toBeLessThanOrEqual(0);
    },
  );

  it('has type of the same share of the screen at every resolution', async () => {
    const page = await openText({ title: 'Good morning', body: sentence });
    const { smallest } = await measure(page);
    await page.setViewportSize({ width: 3840, height: 2160 });
    await expect.poll(async () => (await measure(page)).smallest / smallest).toBeCloseTo(2, 1);
  });

  const lunch = '<ul><li>Soup of the day</li><li>Bread and butter</li><li>Quiche</li></ul>';
  const bands: [name: string, slide: object, px: number][] = [
    ['a list', { title: 'Lunch', body: lunch }, 1000],
    ['a title', { title: 'Good morning' }, 1500],
    ['a title and a line', { title: 'Tonight: live piano', body: 'From eight, in the bar' }, 2000],
    ['a paragraph', { title: 'House notes', body: sentence.repeat(4) }, 3000],
  ];
  it.each(bands.slice(0, repeats(1, bands.length)))(
    'uses a very wide band: %s reaches far into it, and no further',
    async (_, slide, px) => {
      const page = await openText(slide);
      await page.setViewportSize({ width: 3840, height: 600 });
      const widthOf = () =>
        page.locator('.copy').evaluate((copy) => {
          const range = document.createRange();
          range.selectNodeContents(copy);
          const { left, right } = range.getBoundingClientRect();
          return right - left;
        });
      await expect.poll(widthOf).toBeGreaterThan(px);
      expect((await measure(page)).over).toBeLessThanOrEqual(0);
      await page.setViewportSize(landscape);
      await expect.poll(() => page.locator('.band').count()).toBe(0);
    },
  );

  it('is not seen while it waits for its fonts, and is fitted once more when they come after that', async () => {
    const slide = { id: 'late', title: 'House notes', body: sentence.repeat(20) };
    const fitted = await measure(await openText(slide));
    const { page } = player();
    const held: Route[] = [];
    await page.route('**/*.woff2', (route) => void held.push(route));
    const release = async (): Promise<void> => {
      for (const route of held.splice(0)) await route.continue();
      await page.unroute('**/*.woff2');
    };
    onTestFinished(release);
    await page.reload();
    const layer = page.locator('#stage .layer', { has: page.locator('.copy h1') });
    await layer.waitFor({ state: 'attached' });
    expect(await layer.evaluate((each) => getComputedStyle(each).opacity)).toBe('0.001');
    await expect.poll(() => page.locator('#stage [data-state]').count(), { timeout: 15_000 }).toBe(1);
    expect(await layer.evaluate((each) => getComputedStyle(each).opacity)).toBe('1');
    expect(await measure(page)).not.toEqual(fitted);
    await release();
    await expect.poll(() => measure(page), { timeout: 15_000 }).toEqual(fitted);
  });

  it('keeps the lines of plain text, and shows what looks like HTML but is not', async () => {
    const page = await openText({ body: 'Eggs < bread\nbread < soup' });
    const body = page.locator('.body');
    expect(await body.textContent()).toBe('Eggs < bread\nbread < soup');
    expect(await body.evaluate((element) => getComputedStyle(element).whiteSpace)).toBe('pre-line');
  });

  it('uses the width: a list and a picture stand side by side where that makes them larger', async () => {
    const page = await openText({
      body: `<h1>Prices</h1><ul><li>Coffee</li><li>Tea</li></ul><p>${sentence}</p><img alt="" src="data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' width='800' height='450'/%3E">`,
    });
    const share = () =>
      page.locator('.body').evaluate((body) => {
        const range = document.createRange();
        range.selectNodeContents(body);
        return range.getBoundingClientRect().width / (innerWidth - innerHeight * 0.18);
      });
    expect(await share()).toBeGreaterThan(0.8);
  });

  it('takes its colours from the content, and a legible ink where only the ground is said', async () => {
    const inkOn = async (background: string): Promise<string> => {
      const page = await openText({ title: 'Hello', content: { background } });
      return page.locator('.title').evaluate((title) => {
        const context = document.createElement('canvas').getContext('2d');
        if (context === null) return '';
        context.fillStyle = getComputedStyle(title).color;
        context.fillRect(0, 0, 1, 1);
        return (context.getImageData(0, 0, 1, 1).data[0] ?? 0) > 127 ? 'light' : 'dark';
      });
    };
    expect(await inkOn('#102030')).toBe('light');
    expect(await inkOn('gold')).toBe('dark');
    const page = await openText({ title: 'Hello', content: { background: 'white', color: 'rgb(1, 2, 3)' } });
    expect(await page.locator('.title').evaluate((title) => getComputedStyle(title).color)).toBe('rgb(1, 2, 3)');
  });

  it('does not move: a fade of it takes no more than that of a picture', async () => {
    const page = await openText({ title: 'Hello' });
    // What was on before fades out.
    await expect.poll(() => page.evaluate(() => document.getAnimations().length), patience).toBe(0);
  });
});
