/** The house style as a page shows it: fonts, colours, logo; and that a slide's own colours win. */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { crc32, deflateSync } from 'node:zlib';
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { hasFfmpeg } from '../support/media.ts';
import { createOperator } from '../support/operator.ts';
import { lobby, openPlayer, patience } from '../support/player.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const fonts = join(import.meta.dirname, '../../node_modules/@fontsource-variable');
const font = readFileSync(join(fonts, 'fraunces/files/fraunces-latin-opsz-normal.woff2'));
const otherFont = readFileSync(join(fonts, 'inter/files/inter-latin-opsz-normal.woff2'));
const logo =
  '<svg xmlns="http://www.w3.org/2000/svg" width="20" height="10"><rect width="20" height="10" fill="red"/></svg>';
const colours = { background: '#1f3d2b', text: '#f3efe2', accent: '#e9b44c' };
const hall = { id: 'hall', kind: 'text', title: 'The hall', duration_seconds: 3600 };

const start = (slides: object[], style: object, more: object = {}): Promise<TestService> =>
  startTestService({ content: { ...lobby(slides), style, ...more } });

/** A white square of this side. */
const blankPng = (side: number): Buffer => {
  const chunk = (type: string, data: Buffer): Buffer => {
    const body = Buffer.concat([Buffer.from(type, 'latin1'), data]);
    const ends = Buffer.alloc(8);
    ends.writeUInt32BE(data.length, 0);
    ends.writeUInt32BE(crc32(body), 4);
    return Buffer.concat([ends.subarray(0, 4), body, ends.subarray(4)]);
  };
  const head = Buffer.alloc(13);
  head.writeUInt32BE(side, 0);
  head.writeUInt32BE(side, 4);
  head[8] = 1;
  const row = Buffer.alloc(1 + Math.ceil(side / 8), 0xff);
  row[0] = 0;
  const rows = deflateSync(Buffer.concat(Array<Buffer>(side).fill(row)));
  const signature = Buffer.from('\x89PNG\r\n\x1a\n', 'latin1');
  return Buffer.concat([signature, chunk('IHDR', head), chunk('IDAT', rows), chunk('IEND', Buffer.alloc(0))]);
};

const styleOf = (page: Page, selector: string, property: string): Promise<string> =>
  page.locator(selector).evaluate((element, name) => getComputedStyle(element).getPropertyValue(name), property);
const textSlide = '.slide-text[data-state="playing"]';

describeBrowser('a house style', () => {
  it('gives slides its colours, its fonts, which are preloaded and block, and its logo', async () => {
    const service = await start([hall], {
      logo_url: '/media/logo.svg',
      fonts: { display: '/media/house.woff2' },
      colours,
      corner: 20,
    });
    writeFileSync(join(service.dataDir, 'uploads', 'house.woff2'), font);
    writeFileSync(join(service.dataDir, 'uploads', 'logo.svg'), logo);
    const page = await openPlayer(service, 'lobby');
    await page.locator(textSlide).waitFor();
    expect(await styleOf(page, textSlide, 'background-color')).toBe('rgb(31, 61, 43)');
    expect(await styleOf(page, `${textSlide} .copy`, 'color')).toBe('rgb(243, 239, 226)');
    expect(await styleOf(page, `${textSlide} .title`, 'font-family')).toMatch(/^"House Display"/);
    const face = () =>
      page.evaluate(() =>
        [...document.fonts]
          .filter(({ family }) => family.includes('House Display'))
          .map(({ status, display }) => ({ status, display })),
      );
    await expect.poll(face, patience).toEqual([{ status: 'loaded', display: 'block' }]);
    expect(await page.locator('link[rel=preload][as=font]').getAttribute('href')).toBe('/media/house.woff2');
    await expect.poll(() => page.locator('html[data-logo]').count(), patience).toBe(1);
  });

  it('has the logo and the font that replace others under their names', walk, async () => {
    const service = await start([hall], { logo_url: '/media/logo.svg', fonts: { display: '/media/house.woff2' } });
    const put = async (name: string, body: Uint8Array<ArrayBuffer> | string): Promise<void> => {
      expect((await service.get(`/api/media/${name}`, { method: 'PUT', body })).ok).toBe(true);
    };
    await put('house.woff2', new Uint8Array(font));
    await put('logo.svg', logo);
    const page = await openPlayer(service, 'lobby');
    await page.locator(textSlide).waitFor();
    const shown = () =>
      page.evaluate(async () => {
        const house = [...document.fonts].filter(({ family }) => family.includes('House Display'));
        const context = document.createElement('canvas').getContext('2d') as CanvasRenderingContext2D;
        context.font = '100px "House Display", monospace';
        const [, src = ''] =
          /url\("(.*)"\)/.exec(document.documentElement.style.getPropertyValue('--house-logo')) ?? [];
        const picture = Object.assign(new Image(), { src });
        await picture.decode().catch(() => {});
        const isLoaded = house.length === 1 && house[0]?.status === 'loaded';
        return { isLoaded, logo: picture.naturalWidth, words: context.measureText('Wirtshaus im Hof').width };
      });
    await expect.poll(shown, patience).toMatchObject({ isLoaded: true, logo: 20 });
    const { words } = await shown();
    await put('house.woff2', new Uint8Array(otherFont));
    await put('logo.svg', logo.replaceAll('"20"', '"30"'));
    await expect.poll(shown, patience).toMatchObject({ isLoaded: true, logo: 30 });
    await expect.poll(async () => Math.abs((await shown()).words - words), patience).toBeGreaterThan(5);
    const addresses = page
      .locator('link[rel=preload][as=font]')
      .evaluateAll((links) => links.map((link) => link.getAttribute('href')));
    expect(await addresses).toEqual(['/media/house.woff2?again=1']);
  });

  it.skipIf(!hasFfmpeg)('has a logo of 100 megapixels once a smaller one has been made of it', walk, async () => {
    const service = await start([hall], { logo_url: '/media/huge.png' });
    const upload = { method: 'PUT', body: new Uint8Array(blankPng(10_000)), headers: { 'Content-Type': 'image/png' } };
    expect((await service.get('/api/media/huge.png', upload)).status).toBe(201);
    const page = await openPlayer(service, 'lobby');
    await page.locator(textSlide).waitFor();
    const sideOf = (): Promise<number> =>
      page.evaluate(async () => {
        const [, address = ''] =
          /url\("(.*)"\)/.exec(document.documentElement.style.getPropertyValue('--house-logo')) ?? [];
        const picture = Object.assign(new Image(), { src: address });
        return picture.decode().then(
          () => picture.naturalWidth,
          () => 0,
        );
      });
    const sides = new Set<number>();
    const look = async (): Promise<boolean> => sides.add(await sideOf()).has(3_840);
    await expect.poll(look, { ...patience, timeout: 25_000 }).toBe(true);
    // Until then there is none.
    expect([...sides].filter((side) => side !== 0)).toEqual([3_840]);
  });

  it('yields to the colours of a slide, and changes while a slide is on', walk, async () => {
    const own = { ...hall, content: { background: '#ffffff', color: '#202020' } };
    const service = await start([own], { colours });
    const page = await openPlayer(service, 'lobby');
    await page.locator(textSlide).waitFor();
    expect(await styleOf(page, textSlide, 'background-color')).toBe('rgb(255, 255, 255)');
    service.writeContent({ ...lobby([hall]), style: { colours: { ...colours, background: '#102040' } } });
    await expect
      .poll(() => styleOf(page, textSlide, 'background-color').catch(() => ''), patience)
      .toBe('rgb(16, 32, 64)');
    service.writeContent(lobby([hall]));
    await expect.poll(() => page.locator('html[data-colours]').count(), patience).toBe(0);
  });

  it('colours the idle page and the ticker, and notices of the level info alone', async () => {
    const service = await start(
      [],
      { colours },
      {
        playlists: [
          { id: 'main', slides: [] },
          { id: 'news', slides: [hall] },
        ],
        screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main', layout: 'ticker', zones: { ticker: 'news' } }],
      },
    );
    const page = await openPlayer(service, 'lobby');
    await expect.poll(() => styleOf(page, '.idle', 'background-color'), patience).toBe('rgb(31, 61, 43)');
    expect(await styleOf(page, '#ticker', 'color')).toBe('rgb(243, 239, 226)');
    const ask = createOperator(service, null);
    const takeover = async (level: string) => {
      const until = new Date(Date.now() + 300_000).toISOString();
      await ask('PUT', `/console/api/takeovers/${level}`, { targets: ['all'], level, title: 'Please note', until });
      const notice = page.locator(`.notice-${level}`);
      await notice.waitFor();
      return notice.evaluate((element) => getComputedStyle(element).backgroundColor);
    };
    expect(await takeover('info')).toBe('rgb(31, 61, 43)');
    expect(await takeover('warning')).toBe('rgb(255, 194, 10)');
  });
});
