/** Which takeover a page shows when, and how it shows it. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { Page } from 'playwright-core';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { createPagePlan } from '../../renderer/player/page-plan.ts';
import { createTakeovers, splitPlaylist } from '../../renderer/player/takeovers.ts';
import type { TakeoverLevel } from '../../service/contract/console/takeover-levels.ts';
import type { Slide } from '../../service/contract/playlist.ts';
import { describeBrowser } from '../support/browser.ts';
import { putImage, type Rgb } from '../support/media.ts';
import { colourSlide, colourTemplate, lobby, openPlayer, waitForColour, waitForConnection } from '../support/player.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { payloadOf, slide } from './scene.ts';

const NOON = Date.parse('2026-07-01T12:00:00Z');
const at = (seconds: number): string => new Date(NOON + seconds * 1000).toISOString();

/** On between two moments, in s after noon. */
const takeover = (id: string, level: TakeoverLevel, from: number, until: number, more: Partial<Slide> = {}): Slide =>
  slide(`takeover-${id}`, {
    schedule_mode: 'between',
    schedule_start_datetime: at(from),
    schedule_end_datetime: at(until),
    duration_seconds: null,
    content: { takeover: { id, level } },
    ...more,
  });

describe('a takeover', () => {
  /** What each player on this page was given, and what it shows: what it is given, at once; `slow` after 20 s. */
  const open = () => {
    const given: (string | undefined)[] = [];
    const fetched: string[] = [];
    const retry = vi.fn();
    const takeovers = createTakeovers({
      moment: () => ({ at: Date.now(), monotonic: performance.now() }),
      timeZone: 'UTC',
      player: {
        load: (payload) => {
          const [first] = createPagePlan(payload, false).slides;
          given.push(first?.id);
          const report = (): void => takeovers.onReport(first ?? null);
          if (first?.id.endsWith('slow')) setTimeout(report, 20_000);
          else queueMicrotask(report);
        },
        retry,
      },
      mediaCache: { resolve: async (url) => `blob:${fetched.push(url)}` },
      onDue: () => {},
      onShow: () => {},
    });
    const shownAt = async (seconds: number): Promise<string | undefined> => {
      await vi.advanceTimersByTimeAsync(NOON + seconds * 1000 - Date.now());
      return takeovers.shown?.id;
    };
    return { takeovers, given, fetched, retry, shownAt };
  };

  beforeEach(() => {
    vi.useFakeTimers({ now: NOON });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('is shown while programmes plan what plays', async () => {
    const { takeovers, shownAt } = open();
    const lunch = slide('lunch');
    const playlist = { id: 'noon', name: 'noon', fade_between_slides: false };
    takeovers.load({
      ...payloadOf(takeover('fire', 'emergency', 10, 20), lunch),
      programme: {
        revision: 'plan',
        from: at(-3_600),
        until: at(3_600),
        slides: { lunch },
        playlists: { lunch: 'noon' },
        lists: [{ playlist, sync: false, slides: ['lunch'] }],
        spans: [{ from: at(-3_600), list: 0, programme_id: 'p' }],
      },
    });
    expect([await shownAt(11), await shownAt(21)]).toEqual(['fire', undefined]);
  });

  it.each<[string, Slide[], [seconds: number, shown: string | undefined][]]>([
    [
      'is shown from its start to its end',
      [takeover('a', 'info', 10, 20)],
      [
        [9.9, undefined],
        [10.1, 'a'],
        [19.9, 'a'],
        [20.1, undefined],
      ],
    ],
    [
      'of a higher level goes before others',
      [takeover('a', 'warning', 0, 50), takeover('b', 'emergency', 10, 20), takeover('c', 'info', 15, 30)],
      [
        [1, 'a'],
        [10.1, 'b'],
        [16, 'b'],
        [20.1, 'a'],
      ],
    ],
    [
      'of the same level goes before one that began earlier',
      [takeover('b', 'info', 0, 50), takeover('a', 'info', 10, 20)],
      [
        [1, 'b'],
        [10.1, 'a'],
        [20.1, 'b'],
      ],
    ],
    [
      'of the same level and start goes before lesser ids',
      [takeover('b', 'info', 0, 50), takeover('c', 'info', 0, 20), takeover('a', 'info', 0, 60)],
      [
        [1, 'c'],
        [20.1, 'b'],
        [50.1, 'a'],
      ],
    ],
  ])('%s', async (_, slides, expected) => {
    const { takeovers, shownAt } = open();
    takeovers.load(payloadOf(...slides, slide('x')));
    for (const [seconds, shown] of expected) expect(await shownAt(seconds)).toBe(shown);
  });

  it('waits for the picture of the next one while its time lasts, and at most 1 s after that', async () => {
    const { takeovers, shownAt } = open();
    takeovers.load(payloadOf(takeover('a', 'warning', 0, 25), takeover('slow', 'emergency', 10, 60)));
    expect([await shownAt(9), await shownAt(24.9), await shownAt(26)]).toEqual(['a', 'a', undefined]);
    expect(await shownAt(31)).toBe('slow');
  });

  it('whose time has passed stays over whatever a clock says later, until the service has it again', async () => {
    const { takeovers, shownAt } = open();
    const playlist = payloadOf(takeover('fire', 'emergency', 0, 10));
    takeovers.load(playlist);
    expect(await shownAt(5)).toBe('fire');
    expect(await shownAt(11)).toBeUndefined();
    takeovers.load(payloadOf(takeover('fire', 'emergency', 0, 10), slide('x')));
    expect(await shownAt(12)).toBeUndefined();
    vi.setSystemTime(NOON + 5_000);
    takeovers.onClockSet();
    expect(await shownAt(6)).toBeUndefined();
    takeovers.load(playlist);
    expect(await shownAt(8)).toBe('fire');
  });

  it.each([
    ['warning', undefined],
    ['emergency', 'a'],
  ] as const)('of level %s whose end a clock was set past is %s, and on again with the clock', async (level, shown) => {
    const { takeovers, shownAt } = open();
    takeovers.load(payloadOf(takeover('a', level, 0, 600)));
    expect(await shownAt(1)).toBe('a');
    vi.setSystemTime(NOON + 3_600_000);
    takeovers.onClockSet();
    expect(await shownAt(3_601)).toBe(shown);
    vi.setSystemTime(NOON + 10_000);
    takeovers.onClockSet();
    expect(await shownAt(11)).toBe('a');
    expect(await shownAt(601)).toBeUndefined();
  });

  it('has its medium fetched before it begins and when media change, and is compared with it once it is on', async () => {
    const { takeovers, fetched, retry, shownAt } = open();
    const media = ['/media/a.png', '/media/b.mp4'];
    const more = media.map((media_url, at) => ({
      kind: at === 0 ? ('image' as const) : ('video' as const),
      media_url,
    }));
    takeovers.load(payloadOf(takeover('a', 'info', 10, 20, more[0]), takeover('b', 'emergency', 30, 40, more[1])));
    expect(await shownAt(1)).toBeUndefined();
    expect([fetched, retry.mock.calls.length]).toEqual([media, 0]);
    takeovers.onMedia();
    expect(await shownAt(2)).toBeUndefined();
    expect([fetched, retry.mock.calls.length]).toEqual([[...media, ...media], 1]);
    expect(await shownAt(11)).toBe('a');
    expect(retry.mock.calls.length).toBe(2);
  });

  it('that an unchanged playlist repeats is not begun again', async () => {
    const { takeovers, given, shownAt } = open();
    takeovers.load(payloadOf(takeover('a', 'info', 0, 60)));
    await shownAt(30);
    expect(given).toEqual(['takeover-a']);
  });

  it('leaves its player, whose film would go on unseen, when the screen is gone', async () => {
    const { takeovers, given, shownAt } = open();
    takeovers.load(payloadOf(takeover('a', 'info', 0, 60)));
    expect(await shownAt(1)).toBe('a');
    takeovers.load(null);
    expect(await shownAt(2)).toBeUndefined();
    expect(given).toEqual(['takeover-a', undefined]);
  });

  it('is taken out of the playlist, which is left as it is without one', () => {
    const plain = payloadOf(slide('x'), slide('y'));
    expect(splitPlaylist(plain)).toEqual({ takeovers: [], playlist: plain });
    const { takeovers, playlist } = splitPlaylist(payloadOf(takeover('a', 'info', 0, 9), slide('x')));
    expect(takeovers).toMatchObject([{ id: 'a', level: 'info', index: 0 }]);
    expect(playlist.slides.map(({ id }) => id)).toEqual(['x']);
  });

  it.each([
    ['with values of its own by that name', slide('x', { content: { takeover: { id: 'x', level: 'info' } } })],
    ['without a level', slide('takeover-x', { schedule_mode: 'between', content: { takeover: { id: 'x' } } })],
    ['that is always on', slide('takeover-x', { content: { takeover: { id: 'x', level: 'info' } } })],
  ])('is no slide %s', (_, one) => {
    expect(splitPlaylist(payloadOf(one)).takeovers).toEqual([]);
  });
});

const red = [200, 30, 30] as const;
const blue = [30, 30, 200] as const;
const green = [30, 160, 30] as const;

describeBrowser('a page that is taken over', () => {
  const content = (...slides: object[]) => lobby([...slides, colourSlide('red', red)], { templates: [colourTemplate] });
  const now = (seconds: number): string => new Date(Date.now() + seconds * 1000).toISOString();
  const fire = (seconds: number, more: object = {}) => ({
    id: 'takeover-fire',
    kind: 'text',
    title: 'Leave the building',
    schedule_mode: 'between',
    schedule_start_datetime: now(-1),
    schedule_end_datetime: now(seconds),
    content: { takeover: { id: 'fire', level: 'emergency' } },
    ...more,
  });
  const open = async (dataDir = temporaryFolder()): Promise<{ service: TestService; page: Page }> => {
    const service = await startTestService({ dataDir, content: content() });
    const page = await openPlayer(service, 'lobby');
    await waitForConnection(service, 'lobby', { currentSlideId: 'red' });
    return { service, page };
  };
  const command = (service: TestService, name: string, more: object = {}) =>
    service.post('/api/screens/lobby/commands', { command: name, ...more });

  it('shows the takeover over pause, blackout and redirect, says so, and afterwards what was there before', async () => {
    const { service, page } = await open();
    await command(service, 'pause');
    await command(service, 'redirect', {
      url: putImage(service.dataDir, 'blue.png', blue),
    });
    await waitForColour(page, blue);
    await command(service, 'blackout', { blackout: true });
    await waitForColour(page, [0, 0, 0]);
    service.writeContent(content(fire(3600)));
    await waitForConnection(service, 'lobby', {
      currentSlide: 0,
      currentSlideId: 'takeover-fire',
      blackout: true,
      paused: true,
    });
    await page.locator('#takeover.on .notice', { hasText: 'Leave the building' }).waitFor();
    service.writeContent(content());
    await waitForColour(page, [0, 0, 0]);
    await command(service, 'blackout', { blackout: false });
    await waitForColour(page, blue);
    await waitForConnection(service, 'lobby', { currentSlide: 0, currentSlideId: 'red', paused: true });
  });

  it('shows it without the service too, from its start to its end', async () => {
    const { service, page } = await open();
    service.writeContent(content(fire(9, { schedule_start_datetime: now(5) })));
    await waitForConnection(service, 'lobby', { currentSlide: 1, currentSlideId: 'red' });
    await service.close();
    await page.locator('#takeover.on').waitFor({ timeout: 12_000 });
    await waitForColour(page, red);
    expect(await page.locator('#takeover').isHidden()).toBe(true);
  });

  it('shows its picture as it is now: replaced since it was on, and while it is', walk, async () => {
    const dataDir = temporaryFolder();
    const { service, page } = await open(dataDir);
    const put = async (colour: Rgb): Promise<string> => {
      const made = temporaryFolder();
      const url = putImage(made, 'notice.png', colour);
      const body = new Uint8Array(readFileSync(join(made, 'uploads', 'notice.png')));
      expect((await service.get('/api/media/notice.png', { method: 'PUT', body })).ok).toBe(true);
      return url;
    };
    const notice = fire(3600, { kind: 'image', media_url: await put(blue) });
    service.writeContent(content(notice));
    await waitForColour(page, blue);
    service.writeContent(content());
    await waitForColour(page, red);
    await put(green);
    service.writeContent(content(notice));
    await waitForColour(page, green);
    await put(blue);
    await waitForColour(page, blue);
  });

  it('shows the text of a takeover whose picture can not be shown, and the whole picture of one that can', async () => {
    const dataDir = temporaryFolder();
    const { service, page } = await open(dataDir);
    service.writeContent(content(fire(3600, { kind: 'image', media_url: '/media/missing.png' })));
    await page.locator('#takeover.on .notice', { hasText: 'Leave the building' }).waitFor();
    service.writeContent(content(fire(3600, { kind: 'image', media_url: putImage(dataDir, 'blue.png', blue) })));
    await waitForColour(page, blue);
    await page.locator('#takeover .notice').waitFor({ state: 'detached' });
  });
});
