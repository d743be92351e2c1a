/** The site's clock moves by what most boxes say: real boxes on loopback, some of them wrong or lying. */
import { readFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { Health } from '../../service/contract/health.ts';
import { emptyPeerState, listenOn, secretModes, startBox, untilTogether } from '../peers/support.ts';
import { idsOf, playAgo, readPlays } from '../records/plays/pages.ts';
import { itBrowser } from '../support/browser.ts';
import { patience, payloadOf, titlesOf } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { openPlayer } from '../support/player.ts';
import type { TestService } from '../support/service.ts';
import { testTempo } from '../support/tempo.ts';

const HOUR = 3_600_000;
const later = { ...patience, timeout: 40_000 };

const healthOf = async (box: TestService): Promise<Health> => (await box.get('/healthz')).json();
const isEstablished = async (box: TestService) => (await healthOf(box)).sync.established;
/** By how much the site's time is ahead of the time of day of this process, in s; `offset`: of the box's time of day. */
const aheadAt = async (box: TestService, offset: number): Promise<number> =>
  Math.round(((await healthOf(box)).sync.offset + offset) / 1_000) || 0;

/** A programme that is due by a clock that is an hour ahead. */
const contentSoon = () => {
  const timeIn = (minutes: number): string => new Date(Date.now() + minutes * 60_000).toISOString().slice(11, 16);
  const playlistOf = (id: string) => ({ id, slides: [{ id, kind: 'text', title: id }] });
  return {
    screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'now' }],
    playlists: [playlistOf('now'), playlistOf('soon')],
    programmes: [{ id: 'soon', targets: ['all'], playlist_id: 'soon', start_time: timeIn(30), end_time: timeIn(120) }],
  };
};

describe.each(secretModes)('%s', (_, env) => {
  test('a site that a wrong clock has led steps to the time of most boxes, once they are there', {
    timeout: 90_000,
  }, async () => {
    const content = contentSoon();
    const zone = { ...env, SIGNAGE_TIME_ZONE: 'UTC' };
    const wrong = await startBox([], { env: zone, content, wall: () => Date.now() + HOUR });
    await expect.poll(() => isEstablished(wrong), patience).toBe(true);
    expect(await titlesOf(wrong)).toEqual(['soon']);
    // It hears of the first before it takes its own time.
    const second = await startBox([wrong], {
      env: zone,
      content,
      tempo: { ...testTempo, clock: { ...testTempo.clock, grace: 5_000 } },
    });
    await expect.poll(() => isEstablished(second), patience).toBe(true);
    // One against one: nothing moves.
    await expect.poll(() => aheadAt(second, 0), patience).toBe(3_600);
    const third = await startBox([wrong, second], { env: zone, content });
    const boxes = [wrong, second, third];
    await untilTogether(boxes);
    for (const box of boxes) {
      await expect.poll(() => aheadAt(box, box === wrong ? HOUR : 0), later).toBe(0);
    }
    const note = expect.stringMatching(/^The clock of this box is 3600 s ahead of the site's time: .*time server/);
    await expect.poll(async () => (await healthOf(wrong)).warnings, later).toContainEqual(note);
    // What is due is due by the site's clock.
    for (const box of boxes) await expect.poll(() => titlesOf(box), patience).toEqual(['now']);
  });
});

test('a liar with the lowest id is not followed, and is named', { timeout: 90_000 }, async () => {
  const nodeId = '00000000-0000-4000-8000-000000000000';
  const asked: string[] = [];
  const server = createServer((request, response) => {
    const path = (request.url ?? '').split('?')[0] ?? '';
    asked.push(path);
    const time = Date.now() + HOUR;
    const answers: Record<string, unknown> = {
      '/api/peers/time': { nodeId, established: true, received: time, sent: time, wall: time },
      '/api/peers/state': {
        ...emptyPeerState,
        ...{ nodeId, instance: nodeId, serverTime: time, startedAt: time },
      },
    };
    response.statusCode = path in answers ? 200 : 404;
    response.setHeader('Content-Type', 'application/json');
    response.end(JSON.stringify(answers[path] ?? {}));
  });
  const one = await startBox([]);
  const other = await startBox([one]);
  for (const box of [one, other]) await expect.poll(() => isEstablished(box), patience).toBe(true);
  const { port } = new URL(await listenOn(server));
  for (const box of [one, other]) await fetch(`${box.url}/api/peers/state?from=${nodeId}&port=${port}&news=1`);
  const named = expect.stringContaining(`The box ${nodeId} contradicts most boxes about the time`);
  for (const box of [one, other]) {
    await expect.poll(async () => (await healthOf(box)).warnings, later).toContainEqual(named);
    expect(await aheadAt(box, 0)).toBe(0);
    expect((await healthOf(box)).sync.reference).not.toBe(nodeId);
  }
  expect(asked).toContain('/api/peers/time');
});

test('plays and fetches are dated by the clock that a page goes by, where another box says another time', async () => {
  const feed = '<rss version="2.0"><channel><title>News</title><item><title>Rain</title></item></channel></rss>';
  const url = await listenOn(createServer((_, response) => void response.end(feed)));
  const content = { ...contentSoon(), rssFeeds: [{ id: 'news', url }] };
  content.playlists[0]?.slides.push({ id: 'news', kind: 'rss', title: '', content: { feed_id: 'news' } } as never);
  const late = await startBox([], { content, wall: () => Date.now() - HOUR });
  await expect.poll(() => isEstablished(late), patience).toBe(true);
  const tempo = { ...testTempo, clock: { ...testTempo.clock, grace: 5_000 } };
  const box = await startBox([late], { content, tempo });
  await expect.poll(() => isEstablished(box), patience).toBe(true);
  expect(await aheadAt(box, 0)).toBe(-3_600);
  const page = await joinScreen(box, 'lobby');
  page.send({ type: 'time', t0: 0 });
  expect(await page.message(({ type }) => type === 'time')).toMatchObject({ followed: false });
  const play = playAgo(60);
  page.send({ type: 'plays', plays: [play] });
  await page.message(({ type }) => type === 'ack');
  expect(idsOf(await readPlays(box))).toEqual([play.play_id]);
  const age = async () => Date.now() - Date.parse((await payloadOf(box)).rssFeeds?.[0]?.fetched_at ?? '');
  await expect.poll(age, patience).toBeLessThan(HOUR / 2);
});

itBrowser(
  'a page shows what is due by the time that most boxes agree on, though the clock of its box is a week ahead',
  async () => {
    const WEEK = 168 * HOUR;
    const timed = (title: string, start: number | null, end: number | null) => {
      const [from, until] = [start, end].map((at) => (at === null ? null : new Date(at).toISOString()));
      const schedule = { schedule_mode: 'between', schedule_start_datetime: from, schedule_end_datetime: until };
      return { kind: 'text', title, ...schedule };
    };
    const turn = Date.now() + 2 * HOUR;
    const content = {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [{ id: 'main', slides: [timed('This week', null, turn), timed('Next week', turn, null)] }],
    };
    const early = await startBox([], { content, wall: () => Date.now() + WEEK });
    const page = await openPlayer(early, 'lobby');
    const shown = () => page.locator('#stage .slide').allInnerTexts();
    await expect.poll(shown, patience).toEqual(['Next week']);
    const second = await startBox([early], { content });
    const third = await startBox([early, second], { content });
    await expect.poll(shown, later).toEqual(['This week']);
    // A box that is left alone keeps the time that was agreed, and so does a page that comes then.
    await Promise.all([second.close(), third.close()]);
    const states = async () => (await healthOf(early)).peers.map(({ state }) => state);
    await expect.poll(states, later).not.toContain('alive');
    await page.reload();
    await expect.poll(shown, patience).toEqual(['This week']);
    // What is done there does not win over what others do later.
    const binding = { deviceId: 'TV-1', clientName: 'Lobby', screenSlug: 'lobby' };
    expect((await early.post('/api/onboarding', binding)).status).toBe(200);
    const { body } = JSON.parse(readFileSync(join(early.dataDir, 'state.json'), 'utf8'));
    expect(Math.abs(Date.parse(body.devices[0].updatedAt) - Date.now())).toBeLessThan(HOUR);
  },
  90_000,
);
