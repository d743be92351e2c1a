/** The plays of a page in a real browser, with a service that acknowledges them or not. */
import type { Page } from 'playwright-core';
import { expect, it, onTestFinished } from 'vitest';
import { type PagePlay, playsMessage } from '../../../service/contract/plays.ts';
import { describeBrowser, launchBrowser } from '../../support/browser.ts';
import { colourSlide, colourTemplate, lobby, patience, waitForConnection } from '../../support/player.ts';
import { startTestService, type TestService } from '../../support/service.ts';
import { walk } from '../../support/soak.ts';

const red = [200, 30, 30] as const;
const blue = [30, 30, 200] as const;

interface Scene {
  service: TestService;
  page: Page;
  /** What arrived, each play once. */
  plays(): PagePlay[];
  /** From now on plays are acknowledged, or not. */
  acknowledge(on: boolean): void;
}

const open = async (slides: object[]): Promise<Scene> => {
  const service = await startTestService({ content: lobby(slides, { templates: [colourTemplate] }) });
  const context = await (await launchBrowser()).newContext({ viewport: { width: 160, height: 90 } });
  onTestFinished(() => context.close());
  const page = await context.newPage();
  const arrived = new Map<string, PagePlay>();
  let isAcknowledged = true;
  await page.routeWebSocket(/\/socket$/, (socket) => {
    const server = socket.connectToServer();
    socket.onMessage((data) => {
      const message = JSON.parse(String(data)) as { type: string };
      if (message.type !== 'plays') return server.send(data);
      const { plays } = playsMessage.parse(message);
      if (!isAcknowledged) return;
      for (const play of plays) arrived.set(play.play_id, play);
      socket.send(JSON.stringify({ type: 'ack', play_ids: plays.map(({ play_id }) => play_id) }));
    });
  });
  await page.goto(`${service.url}/screen/lobby`);
  return {
    service,
    page,
    plays: () => [...arrived.values()],
    acknowledge: (on) => {
      isAcknowledged = on;
    },
  };
};

const slides = [colourSlide('red', red, 1), colourSlide('blue', blue, 1)];

describeBrowser('a page', () => {
  it('delivers a record of each slide that it showed, those of an outage afterwards, and none twice', async () => {
    const { plays, acknowledge } = await open(slides);
    await expect.poll(() => plays().length, patience).toBeGreaterThan(1);
    expect(plays()[0]).toMatchObject({
      screen: 'lobby',
      slide_id: 'red',
      slide_title: 'The red slide',
      kind: 'template',
      media_url: null,
      revision: expect.stringMatching(/^[\w-]+$/) as string,
      expected_ms: 1_000,
      clock: 'synced',
    });
    acknowledge(false);
    const before = plays().length;
    await new Promise((resolve) => setTimeout(resolve, 4_000));
    expect(plays()).toHaveLength(before);
    acknowledge(true);
    await expect.poll(() => plays().length, patience).toBeGreaterThan(before + 3);
    const shown = plays().map(({ slide_id }) => slide_id);
    expect(shown.slice(0, 6)).toEqual(['red', 'blue', 'red', 'blue', 'red', 'blue']);
    const starts = plays().map(({ started_at }) => Date.parse(started_at));
    expect(starts).toEqual(starts.toSorted((a, b) => a - b));
    expect(plays().every(({ duration_ms }) => duration_ms > 500 && duration_ms < 3_000)).toBe(true);
  });

  it('goes on to deliver its plays after the browser has closed its database', walk, async () => {
    const { page, plays } = await open(slides);
    await expect.poll(() => plays().length, patience).toBeGreaterThan(1);
    const session = await page.context().newCDPSession(page);
    const { origin } = new URL(page.url());
    await session.send('Storage.clearDataForOrigin', { origin, storageTypes: 'indexeddb' });
    const before = plays().length;
    await expect.poll(() => plays().length, patience).toBeGreaterThan(before + 3);
    const kept = () => page.evaluate(async () => (await indexedDB.databases()).map(({ name }) => name));
    await expect.poll(kept, patience).toContain('signage.plays');
  });

  it(
    'that is loaded again or ends delivers the play that was under way as cut, as long as last noted',
    walk,
    async () => {
      const { page, plays, service } = await open([colourSlide('red', red, 3600)]);
      await waitForConnection(service, 'lobby', { currentSlideId: 'red' });
      await page.waitForTimeout(6_000);
      await page.reload();
      await expect.poll(plays, patience).toMatchObject([{ slide_id: 'red', result: 'cut', reason: 'page_ended' }]);
      expect(plays()[0]?.duration_ms).toBeGreaterThan(4_000);
      expect(plays()[0]?.duration_ms).toBeLessThan(12_000);
    },
  );

  it('counts nothing while it is black, taken over or redirected', async () => {
    const { service, plays } = await open([colourSlide('red', red, 3600)]);
    await waitForConnection(service, 'lobby', { currentSlideId: 'red' });
    const blackout = (on: boolean) =>
      service.post('/api/screens/lobby/commands', { command: 'blackout', blackout: on });
    await blackout(true);
    await expect.poll(plays, patience).toMatchObject([{ slide_id: 'red', result: 'cut', reason: 'blackout' }]);
    const endedAt = Date.parse(plays()[0]?.ended_at ?? '');
    await new Promise((resolve) => setTimeout(resolve, 2_000));
    await blackout(false);
    await waitForConnection(service, 'lobby', { blackout: false });
    const takeover = {
      id: 'takeover-fire',
      kind: 'text',
      title: 'Leave the building',
      schedule_mode: 'between',
      schedule_start_datetime: new Date(Date.now() - 1_000).toISOString(),
      schedule_end_datetime: new Date(Date.now() + 3_600_000).toISOString(),
      content: { takeover: { id: 'fire', level: 'emergency' } },
    };
    service.writeContent(lobby([takeover, colourSlide('red', red, 3600)], { templates: [colourTemplate] }));
    await expect.poll(() => plays().length, patience).toBe(2);
    expect(plays()[1]).toMatchObject({ slide_id: 'red', result: 'cut', reason: 'takeover' });
    expect(Date.parse(plays()[1]?.started_at ?? '') - endedAt).toBeGreaterThan(1_900);
    service.writeContent(lobby([colourSlide('red', red, 3600)], { templates: [colourTemplate] }));
    await expect.poll(() => plays().length, patience).toBe(3);
    expect(plays()[2]).toMatchObject({ slide_id: 'takeover-fire', kind: 'text', result: 'cut', reason: 'ended' });
    // One until it is ended is planned for no time.
    const endless = { ...takeover, schedule_end_datetime: null };
    service.writeContent(lobby([endless, colourSlide('red', red, 3600)], { templates: [colourTemplate] }));
    await expect.poll(() => plays().length, patience).toBe(4);
    service.writeContent(lobby([colourSlide('red', red, 3600)], { templates: [colourTemplate] }));
    await expect.poll(() => plays().length, patience).toBe(5);
    expect(plays()[4]).toMatchObject({ slide_id: 'takeover-fire', result: 'played', expected_ms: 0 });
  });
});
