/** A player page in a real browser, and what the service knows of it. */
import type { Page } from 'playwright-core';
import { PNG } from 'pngjs';
import { afterAll, beforeAll, expect, onTestFinished } from 'vitest';
import type { Connection, ConnectionSnapshot } from '../../service/contract/connections.ts';
import { closeContext, launchBrowser } from './browser.ts';
import type { Rgb } from './media.ts';
import { startTestService, type TestService } from './service.ts';

/** What a test waits for happens at once, or on a busy machine much later. */
export const patience = { timeout: 25_000, interval: 100 };

/** Small: each frame is drawn by the processor. */
const usualViewport = { width: 640, height: 360 };

/** Opens a screen in a browser of its own storage; it closes with the test. */
export const openPlayer = async (
  { url }: Pick<TestService, 'url'>,
  slug: string,
  viewport = usualViewport,
): Promise<Page> => {
  const context = await (await launchBrowser()).newContext({ viewport });
  onTestFinished(() => closeContext(context));
  const page = await context.newPage();
  await page.goto(`${url}/screen/${slug}`);
  return page;
};

/** The one connection of a screen; null while there is none. */
export const connectionOf = async (service: TestService, slug: string): Promise<Connection | null> => {
  const snapshot = (await (await service.get(`/api/screens/${slug}/connections`)).json()) as ConnectionSnapshot;
  return snapshot.connections[0] ?? null;
};

/** Waits until the snapshot says so. */
export const waitForConnection = (service: TestService, slug: string, expected: Partial<Connection>): Promise<void> =>
  expect.poll(() => connectionOf(service, slug), patience).toMatchObject(expected);

/** The colour in the middle of what the page shows. */
export const colourOf = async (page: Page): Promise<Rgb> => {
  const { width, height } = page.viewportSize() ?? { width: 0, height: 0 };
  const clip = { x: Math.floor(width / 2), y: Math.floor(height / 2), width: 1, height: 1 };
  const { data } = PNG.sync.read(await page.screenshot({ clip }));
  return [data[0] ?? 0, data[1] ?? 0, data[2] ?? 0];
};

/** Whether two colours are the same but for what codecs do to them. */
export const isClose = (a: Rgb, b: Rgb, tolerance = 24): boolean =>
  a.every((part, index) => Math.abs(part - (b[index] ?? 0)) <= tolerance);

/** Waits until the page shows the colour. */
export const waitForColour = (page: Page, colour: Rgb): Promise<void> =>
  expect
    .poll(async () => isClose(await colourOf(page), colour), { ...patience, message: `waiting for ${colour}` })
    .toBe(true);

/** Content with one screen, `lobby`, and its slides. */
export const lobby = (slides: object[], more: Record<string, unknown> = {}) => ({
  screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
  playlists: [{ id: 'main', fade_between_slides: false, slides }],
  ...more,
});

/** A template slide of one colour, and the template for it. */
export const colourTemplate = {
  id: 'colour',
  html: '<style>div { position: absolute; inset: 0; background: {{ content.colour }} }</style><div></div>',
};
export const colourSlide = (id: string, [red, green, blue]: Rgb, duration_seconds = 3600) => ({
  id,
  title: `The ${id} slide`,
  kind: 'template',
  template_id: 'colour',
  content: { colour: `rgb(${red},${green},${blue})` },
  duration_seconds,
});

export interface SharedPlayer {
  readonly service: TestService;
  readonly page: Page;
  /** Puts these slides in place of those before; resolves to the page once the first of them is on, alone. */
  show(slides: object[], more?: Record<string, unknown>): Promise<Page>;
}

/** One service and one page on its screen `lobby` for all tests of a suite, which change nothing but its slides. */
export const sharePlayer = (viewport = usualViewport, env: Record<string, string> = {}): (() => SharedPlayer) => {
  const ends: (() => void | Promise<void>)[] = [];
  let player: SharedPlayer;
  let shows = 0;
  beforeAll(async () => {
    const service = await startTestService({ content: lobby([]), env }, (end) => ends.unshift(end));
    const context = await (await launchBrowser()).newContext({ viewport });
    ends.unshift(() => context.close());
    const page = await context.newPage();
    await page.goto(`${service.url}/screen/lobby`);
    const show: SharedPlayer['show'] = async (slides, more) => {
      shows += 1;
      const first = `show-${shows}`;
      const named = slides.map((slide, at) => ({ id: at === 0 ? first : `${first}-${at}`, ...slide }));
      const currentSlideId = (named[0] as { id: string }).id;
      const { currentSlide = null, currentSlideId: before = null } = (await connectionOf(service, 'lobby')) ?? {};
      if ((currentSlide ?? 0) > 0 || named.some((slide) => slide.id === before)) {
        // One of the test before has the same name, and would stay on; after a later one the first would not come next.
        service.writeContent(lobby([]));
        await waitForConnection(service, 'lobby', { currentSlideId: null });
      }
      service.writeContent(lobby(named, more));
      await waitForConnection(service, 'lobby', { currentSlideId });
      // A slide that is only made ready has no state yet.
      await expect.poll(() => page.locator('#stage [data-state]').count(), patience).toBe(1);
      return page;
    };
    player = { service, page, show };
  });
  afterAll(async () => {
    for (const end of ends) await end();
  });
  return () => player;
};
