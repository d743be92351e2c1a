import type { Page, Route } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { item, rss, startFeedServer } from '../../feeds/server.ts';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { payloadOf } from '../../support/observe.ts';
import { lobby, openPlayer, patience, waitForConnection } from '../../support/player.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';

const picture = Buffer.from(
  '<svg xmlns="http://www.w3.org/2000/svg" width="400" height="300"><rect width="400" height="300" fill="red"/></svg>',
);
const image = (path: string): string => `<media:content url="${path}" medium="image"/>`;

const open = async (feeds: Record<string, string>, slides: object[]) => {
  const contents = { ...feeds };
  const server = await startFeedServer(({ url = '' }, response) => {
    if (url === '/picture.svg') response.setHeader('Content-Type', 'image/svg+xml').end(picture);
    else if (url === '/hang.png') return;
    else if (contents[url.slice(1)] === undefined) response.writeHead(404).end();
    else response.end(contents[url.slice(1)]);
  });
  const rssFeeds = Object.keys(feeds).map((id, at) => ({
    ...{ id, name: `The ${id}`, url: server.at(`/${id}`, at + 1), refresh_seconds: 10 },
  }));
  const written = { ...lobby(slides), rssFeeds };
  const service = await startTestService({ content: written });
  return { service, written, contents, server };
};
const headlines = (more: object = {}) => ({ id: 'headlines', kind: 'rss', content: { feed_id: 'news' }, ...more });
const text = { id: 'text', kind: 'text', title: 'A text', duration_seconds: 3600 };
/** A slide whose feed is not there yet would be skipped at first. */
const waitForFeeds = (service: TestService) =>
  expect
    .poll(async () => (await payloadOf(service)).rssFeeds.every(({ status }) => status === 'ok'), patience)
    .toBe(true);
const headline = (page: Page) => page.locator('.slide-rss[data-state="playing"] .headline').last().textContent();
const waitForHeadline = (page: Page, title: string) => expect.poll(() => headline(page), patience).toBe(title);
const command = (service: TestService, name: string) => service.post('/api/screens/lobby/commands', { command: name });

describeBrowser('headlines', () => {
  it('turn by themselves, share the duration, and give way to the next slide', walk, async () => {
    const slides = [headlines({ duration_seconds: 9 }), text];
    const { service } = await open({ news: rss(item('One') + item('Two') + item('Three') + item('Four')) }, slides);
    await waitForFeeds(service);
    const page = await openPlayer(service, 'lobby');
    for (const title of ['One', 'Two', 'Three']) await waitForHeadline(page, title);
    await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
  });

  it('are turned by left and right; at the ends by a whole slide', walk, async () => {
    const slides = [headlines({ duration_seconds: 3600 }), text];
    const { service } = await open({ news: rss(item('One') + item('Two')) }, slides);
    await waitForFeeds(service);
    const page = await openPlayer(service, 'lobby');
    await waitForHeadline(page, 'One');
    await command(service, 'right');
    await waitForHeadline(page, 'Two');
    await command(service, 'left');
    await waitForHeadline(page, 'One');
    await command(service, 'left');
    await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
    await command(service, 'right');
    await waitForHeadline(page, 'One');
    await command(service, 'right');
    await command(service, 'right');
    await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
  });

  it('have a foot that goes the way of their script, and no id in it', walk, async () => {
    const { service, written } = await open({ news: rss(item('افتتاح المكتبة') + item('Two')) }, [headlines()]);
    service.writeContent({ ...written, rssFeeds: written.rssFeeds.map(({ name, ...feed }) => feed) });
    await waitForFeeds(service);
    const page = await openPlayer(service, 'lobby');
    await waitForHeadline(page, 'افتتاح المكتبة');
    const foot = page.locator('.slide-rss .source');
    expect(await foot.evaluate((element) => getComputedStyle(element).direction)).toBe('rtl');
    expect(await foot.locator('.name').textContent()).toBe('News');
    await command(service, 'right');
    await expect.poll(() => foot.evaluate((element) => getComputedStyle(element).direction), patience).toBe('ltr');
  });

  it('show their pictures in each round where they are alone, and backwards', async () => {
    const stories = ['One', 'Two', 'Three', 'Four'].map((title) => item(title, image('/picture.svg')));
    const { service } = await open({ news: rss(stories.join('')) }, [headlines({ duration_seconds: 3600 })]);
    await waitForFeeds(service);
    const page = await (await launchBrowser()).newPage();
    onTestFinished(() => page.close());
    await page.addInitScript(() => {
      const { decode } = HTMLImageElement.prototype;
      Object.assign(globalThis, { decoded: 0 });
      HTMLImageElement.prototype.decode = async function () {
        await decode.call(this);
        (globalThis as unknown as { decoded: number }).decoded += 1;
      };
    });
    await page.goto(`${service.url}/screen/lobby`);
    await waitForHeadline(page, 'One');
    const turns = [
      'right Two',
      'right Three',
      'right Four',
      'right One',
      'right Two',
      'right Three',
      'left Two',
      'left One',
    ];
    for (const [index, turn] of turns.entries()) {
      const [way = '', title = ''] = turn.split(' ');
      // The picture that is on and the next one, and with each turn that of one more story.
      await page.waitForFunction((count) => (globalThis as unknown as { decoded: number }).decoded >= count, index + 2);
      await command(service, way);
      await waitForHeadline(page, title);
      expect(await page.locator('.story').last().getAttribute('class'), turn).toContain('pictured');
    }
  });

  it('show their pictures, and leave out those that are broken, late or tiny', async () => {
    const stories = ['/picture.svg', '/gone.png', '/hang.png'].map((path) => item(path, image(path)));
    const { service, server } = await open({ news: rss(stories.join('')) }, [headlines({ duration_seconds: 3600 })]);
    const page = await openPlayer(service, 'lobby');
    await waitForHeadline(page, '/picture.svg');
    const photo = page.locator('.story.pictured .photo');
    expect(await photo.evaluate((img: HTMLImageElement) => img.naturalWidth)).toBe(400);
    for (const path of ['/gone.png', '/hang.png']) {
      await command(service, 'right');
      await waitForHeadline(page, path);
      await expect.poll(() => page.locator('.story').count(), patience).toBe(1);
      expect(await photo.count()).toBe(0);
    }
    expect(server.requests.some(({ url }) => url === '/hang.png')).toBe(true);
  });

  it(
    'show no picture that the service withholds, does not know or can not give, and load it from nowhere else',
    walk,
    async () => {
      const feed = rss(item('One', image('/picture.svg')) + item('Two'));
      const { service, server } = await open({ news: feed }, [headlines({ duration_seconds: 3600 })]);
      await waitForFeeds(service);
      const page = await (await launchBrowser()).newPage();
      onTestFinished(() => page.close());
      const answers = [
        (route: Route) => route.fulfill({ status: 403 }),
        (route: Route) => route.fulfill({ status: 404 }),
        (route: Route) => route.abort(),
      ];
      for (const answer of answers) {
        await page.unroute('**/copies?*');
        await page.route('**/copies?*', answer);
        await page.goto(`${service.url}/screen/lobby`);
        await waitForHeadline(page, 'One');
        await expect.poll(async () => (await command(service, 'right')).status).toBe(200);
        await waitForHeadline(page, 'Two');
        expect(await page.locator('.story.pictured').count()).toBe(0);
      }
      expect(server.requests.filter(({ headers }) => headers['user-agent'] !== 'signage-player')).toEqual([]);
    },
  );

  it('of a feed that has nothing to show are skipped and reported, and come when it has', walk, async () => {
    const { service, contents } = await open({ news: 'not yet' }, [headlines(), { ...text, duration_seconds: 2 }]);
    const page = await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlideId: 'text' });
    await expect.poll(() => service.log(), patience).toMatch(/"slideId":"headlines","reason":"the feed news has not/);
    contents['news'] = rss(item('At last'));
    await waitForHeadline(page, 'At last');
  });

  it('stay where they are when another feed has news, and begin again when their own has', async () => {
    const slides = [headlines({ duration_seconds: 3600 })];
    const { service, written } = await open(
      { news: rss(item('One') + item('Two')), sport: rss(item('A')), other: rss(item('B')) },
      slides,
    );
    const page = await openPlayer(service, 'lobby');
    await waitForHeadline(page, 'One');
    await waitForFeeds(service);
    await command(service, 'right');
    await waitForHeadline(page, 'Two');
    const marked = await page.locator('.slide-rss').evaluateHandle((element) => element);
    const { rssFeeds } = written;
    // Other addresses are asked at once, and need not wait for their turn.
    service.writeContent({ ...written, rssFeeds: [rssFeeds[0], { ...rssFeeds[1], url: rssFeeds[2]?.url }] });
    await waitForFeeds(service);
    await command(service, 'left');
    await waitForHeadline(page, 'One');
    expect(await page.locator('.slide-rss').evaluate((element, first) => element === first, marked)).toBe(true);
    service.writeContent({ ...written, rssFeeds: [{ ...rssFeeds[0], url: rssFeeds[2]?.url }] });
    await waitForHeadline(page, 'B');
  }, 60_000);

  it('are as large as they go, and all of each on the screen', { ...walk, timeout: 60_000 }, async () => {
    const titles = [
      'Open',
      'New bridge over the river opens two years ahead of schedule',
      'something happened again '.repeat(12).trim(),
      'Donaudampfschifffahrtsgesellschaftskapitänsversammlungsraum',
      'افتتاح الجسر الجديد فوق النهر قبل الموعد بعامين',
    ];
    const more = `<description>${'Two lines of text about it. '.repeat(20)}</description>${image('/picture.svg')}`;
    const news = rss(titles.map((title) => item(title, more)).join(''));
    const { service } = await open({ news }, [headlines({ duration_seconds: 3600 })]);
    await waitForFeeds(service);
    const page = await openPlayer(service, 'lobby', { width: 1920, height: 1080 });
    const over = () =>
      page
        .locator('.words')
        .last()
        .evaluate((words) => Math.max(words.scrollHeight - words.clientHeight, words.scrollWidth - words.clientWidth));
    for (const title of titles) {
      await page.setViewportSize({ width: 1920, height: 1080 });
      await waitForHeadline(page, title);
      for (const viewport of [
        { width: 1080, height: 1920 },
        { width: 390, height: 844 },
      ]) {
        await expect.poll(over, { ...patience, message: title }).toBeLessThanOrEqual(0);
        await page.setViewportSize(viewport);
        await expect.poll(over, { ...patience, message: title }).toBeLessThanOrEqual(0);
      }
      await command(service, 'right');
    }
  });
});
