/** Renditions at a site, and on its displays. */
import { readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { MediaList } from '../../service/contract/media.ts';
import { lobbyWith } from '../content/samples.ts';
import { startBox, startSite, untilTogether } from '../peers/support.ts';
import { describeBrowser } from '../support/browser.ts';
import { hasFfmpeg, makeMedium, type Rgb } from '../support/media.ts';
import { patience } from '../support/observe.ts';
import { openPlayer, waitForColour } from '../support/player.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';

const green: Rgb = [0, 160, 0];
const tone = ['-f', 'lavfi', '-i', 'sine=frequency=440:duration=3'];
const film = ['-f', 'lavfi', '-i', 'color=0x00a000:size=320x180:rate=25:duration=3'];
const hevc = makeHevc();

function makeHevc(): string {
  if (!hasFfmpeg) return '';
  return makeMedium('hevc.mp4', [...film, ...tone, '-c:v', 'libx265', '-tag:v', 'hvc1', '-c:a', 'aac']);
}

const put = (box: TestService, name: string, path: string): Promise<Response> =>
  box.get(`/api/media/${name}`, { method: 'PUT', body: new Uint8Array(readFileSync(path)) });

const stateOn = async (box: TestService, name: string): Promise<string | undefined> => {
  const { media } = (await (await box.get('/console/api/media')).json()) as MediaList;
  return media.find(({ filename }) => filename === name)?.rendition.state;
};

const conversions = async (box: TestService): Promise<string[]> =>
  [
    ...(await (await box.get('/metrics')).text()).matchAll(/^signage_conversions_total\{result="(\w+)"\} (\d+)$/gm),
  ].flatMap(([, result = '', count]) => (count === '0' ? [] : [`${result} ${count}`]));

describe.skipIf(!hasFfmpeg)('at a site', () => {
  test('one box converts, and the others fetch what it has made', { timeout: 120_000 }, async () => {
    const boxes = await startSite({ content: lobbyWith([{ kind: 'video', media_url: '/media/hevc.mp4' }]) }, 1);
    await put(boxes[1], 'hevc.mp4', hevc);
    for (const box of boxes) await expect.poll(() => stateOn(box, 'hevc.mp4'), { timeout: 40_000 }).toBe('ready');
    const tags = await Promise.all(boxes.map(async (box) => (await box.get('/media/hevc.mp4')).headers.get('ETag')));
    expect(new Set(tags).size).toBe(1);
    const counted = (): Promise<string[][]> => Promise.all(boxes.map(conversions));
    await expect.poll(counted, patience).toEqual([['fetched 1'], ['made 1'], ['fetched 1']]);
    // A deleted original takes its rendition with it everywhere.
    expect((await boxes[0].get('/api/media/hevc.mp4', { method: 'DELETE' })).status).toBe(204);
    for (const box of boxes) {
      const bytes = async (): Promise<string> => (await box.get('/metrics')).text();
      await expect.poll(bytes, patience).toContain('signage_media_bytes{store="renditions"} 0');
    }
  });
});

test.skipIf(!hasFfmpeg)('a box without ffmpeg fetches what another one has made of its upload', walk, async () => {
  const content = lobbyWith([{ kind: 'video', media_url: '/media/old.avi' }]);
  const blind = await startBox([], { content, env: { SIGNAGE_FFMPEG_PATH: '/nonexistent/ffmpeg' } });
  const able = await startBox([blind], { content });
  await untilTogether([blind, able]);
  const source = ['-f', 'lavfi', '-i', 'color=0x00a000:size=64x36:rate=25:duration=1'];
  await put(blind, 'old.avi', makeMedium('old.avi', [...source, '-c:v', 'mpeg4']));
  await put(blind, 'plain.mp4', makeMedium('plain.mp4', [...source, '-c:v', 'libx264', '-pix_fmt', 'yuv420p']));
  for (const box of [able, blind]) await expect.poll(() => stateOn(box, 'old.avi'), patience).toBe('ready');
  const sent = await blind.get('/media/old.avi');
  expect([sent.headers.get('x-signage-rendition'), sent.headers.get('content-type')]).toEqual(['h264', 'video/mp4']);
  expect(await conversions(blind)).toEqual(['fetched 1']);
});

test.skipIf(!hasFfmpeg)('a rendition that is larger than an upload may be reaches the other boxes', async () => {
  const noise = 'nullsrc=size=320x180,geq=lum=random(1)*255:cb=128:cr=128';
  const photo = makeMedium('noise.bmp', ['-f', 'lavfi', '-i', noise, '-frames:v', '1', '-pix_fmt', 'monob']);
  const content = lobbyWith([{ kind: 'image', media_url: '/media/noise.bmp' }]);
  const most = statSync(photo).size;
  const env = { SIGNAGE_MAX_UPLOAD_BYTES: String(most) };
  const taker = await startBox([], { content, env });
  const other = await startBox([taker], { content, env });
  await untilTogether([taker, other]);
  await put(taker, 'noise.bmp', photo);
  await expect.poll(() => stateOn(other, 'noise.bmp'), patience).toBe('ready');
  const shown = await other.get('/media/noise.bmp');
  expect(shown.headers.get('x-signage-rendition')).toBe('picture');
  expect((await shown.arrayBuffer()).byteLength).toBeGreaterThan(most);
});

test.skipIf(!hasFfmpeg)('a box that is fetching a rendition stops at once', async () => {
  const content = lobbyWith([{ kind: 'image', media_url: '/media/photo.tiff' }]);
  const env = { SIGNAGE_FFMPEG_PATH: '/nonexistent/ffmpeg', SIGNAGE_FETCH_BYTES_PER_SECOND: '1024' };
  const slow = await startBox([], { content, env });
  const able = await startBox([slow], { content });
  await untilTogether([slow, able]);
  const noise = ['-f', 'lavfi', '-i', 'color=gray:size=320x180,noise=alls=100:all_seed=1', '-frames:v', '1'];
  await put(slow, 'photo.tiff', makeMedium('photo.tiff', noise));
  const parts = () => readdirSync(join(slow.dataDir, 'media')).filter((name) => name.startsWith('.part-'));
  await expect.poll(parts, patience).not.toEqual([]);
  const begun = performance.now();
  await slow.close();
  // What is left takes a minute.
  expect(performance.now() - begun).toBeLessThan(10_000);
});

describeBrowser('a film of HEVC', () => {
  test('is skipped while it is converted, and shown as soon as it is', { ...walk, timeout: 60_000 }, async () => {
    const slides = [
      { id: 'film', kind: 'video', media_url: '/media/hevc.mp4' },
      { id: 'text', kind: 'text', title: 'Between', duration_seconds: 1 },
    ];
    const service = await startTestService({ content: lobbyWith(slides) });
    const page = await openPlayer(service, 'lobby');
    await page.locator('.slide-text[data-state="playing"]').waitFor();
    await put(service, 'hevc.mp4', hevc);
    await waitForColour(page, green);
  });

  test('that the browser cannot decode is a failed slide, and its sound is not heard', {
    timeout: 60_000,
  }, async () => {
    const slides = [
      { id: 'film', kind: 'video', media_url: '/media/hevc.mp4', content: { muted: false } },
      { id: 'text', kind: 'text', title: 'Between', duration_seconds: 1 },
    ];
    // Without a conversion the original is sent.
    const service = await startTestService({ content: lobbyWith(slides), env: { SIGNAGE_CONVERT: 'off' } });
    await put(service, 'hevc.mp4', hevc);
    const page = await openPlayer(service, 'lobby');
    await page.locator('.slide-text[data-state="playing"]').waitFor();
    const health = async (): Promise<string> => JSON.stringify((await (await service.get('/healthz')).json()).pages);
    await expect.poll(health, patience).toContain('/media/hevc.mp4 has no picture that this player can show');
    expect(await page.locator('.slide-video[data-state="playing"]').count()).toBe(0);
    const { content } = await (await service.get('/healthz')).json();
    expect(JSON.stringify(content.warnings)).toContain('hevc.mp4\\" is not shown. Conversion is switched off');
    const plays = async () => (await service.get('/console/api/plays')).text();
    await expect.poll(plays, patience).toContain('"failed"');
  });
});
