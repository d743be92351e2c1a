/** Zones beside the main one, in a real browser. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { rotationCss } from '../../main/windows/web-pages.ts';
import type { Play } from '../../service/contract/plays.ts';
import { openPlayer, patience, waitForConnection } from '../support/player.ts';
import { startTestService } from '../support/service.ts';
import { walk, walks } from '../support/soak.ts';

const text = (id: string) => ({ id, kind: 'text', title: id, duration_seconds: 3600 });
const playlist = (id: string, slides: readonly object[] = [text(id)]) => ({ id, slides });
const content = (zones: object, slides: readonly object[] = [text('offer')], news?: readonly object[]) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main', layout: 'sidebar-ticker', zones }],
  playlists: [playlist('main'), playlist('offer', slides), playlist('news', news)],
});
const zones = { sidebar: 'offer', ticker: 'news' };

/** `x y width height` of an element. */
const roomOf = (page: Page, id: string): Promise<number[]> =>
  page.locator(id).evaluate((element) => {
    const { x, y, width, height } = element.getBoundingClientRect();
    return [x, y, width, height].map(Math.round);
  });

it('show the sidebar at the right, the ticker below, and the screen in what is left; without a sidebar it has that too', async () => {
  const service = await startTestService({ content: content(zones) });
  const page = await openPlayer(service, 'lobby', { width: 720, height: 360 });
  await waitForConnection(service, 'lobby', { currentSlideId: 'main' });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 540, 320]);
  expect(await roomOf(page, '#sidebar')).toEqual([540, 0, 180, 320]);
  expect(await roomOf(page, '#ticker')).toEqual([0, 320, 720, 40]);
  expect(await page.locator('#sidebar').textContent()).toContain('offer');
  const before = await roomOf(page, '.ticker-track');
  await expect.poll(async () => (await roomOf(page, '.ticker-track'))[0], patience).not.toBe(before[0]);
  await page.setViewportSize({ width: 800, height: 480 });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 600, 427]);
  expect(await roomOf(page, '#sidebar')).toEqual([600, 0, 200, 427]);
  expect(await roomOf(page, '#ticker')).toEqual([0, 427, 800, 53]);
  await page.setViewportSize({ width: 360, height: 720 });
  await expect.poll(() => roomOf(page, '#sidebar'), patience).toEqual([0, 460, 360, 180]);
  await page.setViewportSize({ width: 900, height: 180 });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 720, 180]);
  service.writeContent(content(zones, []));
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 900, 180]);
});

it('leave their room with their screen, and do not come back with it where it has none any more', async () => {
  const service = await startTestService({ content: content(zones) });
  const page = await openPlayer(service, 'lobby', { width: 720, height: 360 });
  await expect.poll(() => roomOf(page, '#sidebar'), patience).toEqual([540, 0, 180, 320]);
  const { playlists, screens } = content({});
  service.writeContent({ playlists, screens: [] });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 720, 360]);
  service.writeContent({ playlists, screens: screens.map((screen) => ({ ...screen, layout: 'full' })) });
  await waitForConnection(service, 'lobby', { currentSlideId: 'main' });
  expect(await roomOf(page, '#stage')).toEqual([0, 0, 720, 360]);
  expect(await page.locator('#sidebar .slide').count()).toBe(0);
});

it('are measured in what the page is laid out in, not in the window', () => {
  const folder = join(import.meta.dirname, '..', '..', 'renderer', 'player');
  const sheets = readdirSync(folder, { recursive: true, encoding: 'utf8' }).filter((name) => name.endsWith('.css'));
  expect(sheets).toContain('player.css');
  for (const name of sheets) {
    const code = readFileSync(join(folder, name), 'utf8').replace(/\/\*[^]*?\*\//g, '');
    expect([name, code.match(/\d[dsl]?v(?:w|h|i|b|min|max)\b|@media[^{]*/g)]).toEqual([name, null]);
  }
});

it.each<[rotation: 90 | 270, rooms: Record<'stage' | 'sidebar' | 'ticker', number[]>]>([
  [90, { stage: [40, 0, 320, 540], sidebar: [40, 540, 320, 180], ticker: [0, 0, 40, 720] }],
  ...walks<[270, Record<'stage' | 'sidebar' | 'ticker', number[]>]>([
    270,
    { stage: [0, 180, 320, 540], sidebar: [0, 0, 320, 180], ticker: [320, 0, 40, 720] },
  ]),
])('are laid out as people see them on a display that is rotated by %i degrees', async (rotation, rooms) => {
  const service = await startTestService({ content: content(zones) });
  const page = await openPlayer(service, 'lobby', { width: 360, height: 720 });
  await waitForConnection(service, 'lobby', { currentSlideId: 'main' });
  await page.addStyleTag({ content: rotationCss(rotation) });
  await expect.poll(() => roomOf(page, '#stage'), patience).toEqual(rooms.stage);
  expect(await roomOf(page, '#sidebar')).toEqual(rooms.sidebar);
  expect(await roomOf(page, '#ticker')).toEqual(rooms.ticker);
  // The line moves by its own length in the time that its height allows, and its copies fill the ticker.
  const motionOf = () =>
    page.evaluate(() => {
      const track = document.querySelector<HTMLElement>('.ticker-track');
      const [motion] = track?.getAnimations() ?? [];
      const line = track?.firstElementChild as HTMLElement | null;
      const moved = (motion?.effect as KeyframeEffect | undefined)?.getKeyframes().at(-1)?.['transform'];
      return {
        apart: Math.abs(
          Math.round(Number.parseFloat(String(moved).slice('translateX('.length)) + (line?.offsetWidth ?? 0)),
        ),
        speed: Math.round((line?.offsetWidth ?? 0) / (Number(motion?.effect?.getTiming().duration) / 1000)),
        isFilled: (track?.offsetWidth ?? 0) - (line?.offsetWidth ?? 0) >= 720,
      };
    });
  await expect.poll(motionOf, patience).toEqual({ apart: 0, speed: 64, isFilled: true });
  expect(await page.locator('#ticker').evaluate((element) => getComputedStyle(element).fontSize)).toBe('16.8px');
});

it('show in a ticker the texts of slides in one line, markup and brackets too, and nothing that is no text', async () => {
  const unseen = '<style>p { color: red }</style><script>let hours = 1;</script><noscript>None</noscript>';
  const bodies = ['<p>Soup.</p><p>Bread</p>Tea<br>Cake', 'Write to <info@example.org>', `<p>Open</p>${unseen} all day`];
  const news = bodies.map((body, index) => ({ id: `news-${index}`, kind: 'text', body }));
  const service = await startTestService({ content: content(zones, [], news) });
  const page = await openPlayer(service, 'lobby', { width: 720, height: 360 });
  const said = page.locator('.ticker-line').first().locator('span');
  await expect
    .poll(async () => (await said.allTextContents()).map((each) => each.replace(/\s+/g, ' ')), patience)
    .toEqual(['Soup. Bread Tea Cake', 'Write to <info@example.org>', 'Open all day']);
});

it.each([
  ['left', 'Soup with bread', 'Reading', -1],
  ['right', 'قاعة البلوط في الطابق الأول', 'مرحبا', 1],
])('move a ticker to the %s where its texts begin at the other side', async (_, one, other, way) => {
  const news = [one, other].map((title, index) => ({ id: `news-${index}`, kind: 'text', title }));
  const service = await startTestService({ content: content(zones, [], news) });
  const page = await openPlayer(service, 'lobby', { width: 720, height: 360 });
  await page.locator('.ticker-line').first().waitFor();
  const placesAt = (share: number) =>
    page.evaluate((at) => {
      const track = document.querySelector('.ticker-track');
      const [motion] = track?.getAnimations() ?? [];
      if (!track || !motion) return null;
      motion.pause();
      motion.currentTime = at * Number(motion.effect?.getTiming().duration);
      const { left, right } = track.getBoundingClientRect();
      const [first, second] = [...track.querySelectorAll('span')].map((each) => each.getBoundingClientRect().x);
      return { isFilled: left <= 0 && right >= innerWidth, first: first ?? 0, second: second ?? 0 };
    }, share);
  await expect.poll(() => placesAt(0), patience).toMatchObject({ isFilled: true });
  const [before, after] = [await placesAt(0), await placesAt(0.99)];
  expect(after?.isFilled).toBe(true);
  expect(Math.sign((after?.first ?? 0) - (before?.first ?? 0))).toBe(way);
  expect(Math.sign((before?.first ?? 0) - (before?.second ?? 0))).toBe(way);
});

it(
  'whose playlist becomes empty leave their room, while the main slide stays as it is and as long as it has',
  walk,
  async () => {
    const main = { id: 'day', slides: ['one', 'two'].map((id) => ({ ...text(id), duration_seconds: 6 })) };
    const special = { id: 'special', slides: [{ ...text('cake'), duration_seconds: 1 }] };
    const withMain = (...slides: object[]) => {
      const { screens, playlists } = content(zones, slides, [text('news'), ...slides]);
      const programmes = [{ id: 'always', targets: ['lobby'], playlist_id: 'day' }];
      return { screens, playlists: [...playlists, main, special], programmes };
    };
    const service = await startTestService({ content: withMain({ kind: 'playlist', playlist_id: 'special' }) });
    const page = await openPlayer(service, 'lobby', { width: 720, height: 360 });
    await waitForConnection(service, 'lobby', { currentSlideId: 'one' });
    await expect.poll(() => roomOf(page, '#sidebar'), patience).toEqual([540, 0, 180, 320]);
    const first = await page.locator('#stage [data-state="playing"]').elementHandle();
    const plays = async () => (await (await service.get('/console/api/plays')).json()) as Play[];
    service.writeContent(withMain());
    await expect.poll(() => roomOf(page, '#stage'), patience).toEqual([0, 0, 720, 320]);
    expect(await first?.evaluate((element) => element.getAttribute('data-state'))).toBe('playing');
    await waitForConnection(service, 'lobby', { currentSlideId: 'two' });
    const shown = async (zone: string) => (await plays()).find((play) => play.zone === zone);
    await expect
      .poll(() => shown('main'), patience)
      .toMatchObject({
        slide_id: 'one',
        playlist_id: 'day',
        programme_id: 'always',
        result: 'played',
      });
    const { duration_ms = 0 } = (await shown('main')) ?? {};
    expect(Math.abs(duration_ms - 6_000)).toBeLessThan(1_500);
    expect(await shown('sidebar')).toMatchObject({ slide_id: 'cake', playlist_id: 'special', programme_id: null });
    expect(await shown('ticker')).toMatchObject({ slide_id: 'cake', playlist_id: 'special', programme_id: null });
  },
);
