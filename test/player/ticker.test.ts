/** A ticker and a sidebar beside a film: what they cost, and whether the ticker drifts. */
import type { Page } from 'playwright-core';
import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { hasFfmpeg, putNumberedVideo } from '../support/media.ts';
import { openPlayer, patience, waitForConnection } from '../support/player.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { isSoak, repeats, walk } from '../support/soak.ts';

const SECONDS = repeats(3, 3_600, 'SIGNAGE_TEST_TICKER');
/** Share of the frames at 60 a second that the page may drop more than the same page without a ticker. */
const MOST_MORE = 0.01;
/** What the page corrects beyond, and how far its time may be off on a busy machine. */
const MOST_DRIFT_MS = isSoak ? 60 : 250;

const text = (id: string) => ({
  id,
  kind: 'text',
  title: `The ${id} of the day: spelt with walnuts`,
  duration_seconds: 3600,
});

/** Counts the frames that the page draws from now on, and those that it misses. */
const countFrames = (page: Page): Promise<void> =>
  page.evaluate(() => {
    const frames = { drawn: 0, missed: 0 };
    Object.assign(globalThis, { frames });
    let before = performance.now();
    const step = (now: number): void => {
      frames.drawn += 1;
      frames.missed += Math.max(0, Math.round((now - before) / (1000 / 60)) - 1);
      before = now;
      requestAnimationFrame(step);
    };
    requestAnimationFrame(step);
  });

const shareMissed = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const { drawn, missed } = (globalThis as unknown as { frames: { drawn: number; missed: number } }).frames;
    return missed / (drawn + missed);
  });

/** How far the line is from where it is to be at this time, ms. */
const driftOf = (page: Page): Promise<number> =>
  page.evaluate(() => {
    const [motion] = document.querySelector('.ticker-track')?.getAnimations() ?? [];
    const duration = Number(motion?.effect?.getTiming().duration);
    const apart = Math.abs(
      (Number(motion?.currentTime) % duration) - ((performance.timeOrigin + performance.now()) % duration),
    );
    return Math.min(apart, duration - apart);
  });

describeBrowser('a ticker', () => {
  it.skipIf(!hasFfmpeg)(
    `is where the clock says after ${SECONDS} s, and costs hardly a frame`,
    { ...walk, timeout: SECONDS * 1000 + 4 * patience.timeout },
    async () => {
      const dataDir = temporaryFolder();
      const film = {
        id: 'film',
        kind: 'video',
        media_url: putNumberedVideo(dataDir, 'film.mp4', 60, 10),
        duration_seconds: 3600,
      };
      const screen = (slug: string, layout: string) => ({
        name: slug,
        slug,
        layout,
        playlist_id: 'films',
        zones: { sidebar: 'offers', ...(layout === 'sidebar' ? {} : { ticker: 'news' }) },
      });
      const service = await startTestService({
        dataDir,
        content: {
          screens: [screen('with', 'sidebar-ticker'), screen('without', 'sidebar')],
          playlists: [
            { id: 'films', slides: [film] },
            { id: 'offers', slides: [text('soup')] },
            { id: 'news', slides: [text('bread'), text('cake')] },
          ],
        },
      });
      const [own, other] = [await openPlayer(service, 'with'), await openPlayer(service, 'without')];
      for (const slug of ['with', 'without']) await waitForConnection(service, slug, { currentSlideId: 'film' });
      await expect.poll(() => driftOf(own), patience).toBeLessThan(MOST_DRIFT_MS);
      for (const page of [own, other]) await countFrames(page);
      const drifts: number[] = [];
      const end = Date.now() + SECONDS * 1000;
      while (Date.now() < end) {
        await own.waitForTimeout(Math.min(10_000, Math.max(0, end - Date.now())));
        drifts.push(await driftOf(own));
      }
      const [missed, without] = [await shareMissed(own), await shareMissed(other)];
      const percent = (share: number): string => `${(100 * share).toFixed(2)} %`;
      console.log(
        `${SECONDS} s: frames missed with a ticker ${percent(missed)}, without ${percent(without)}; ` +
          `drift ms: most ${Math.round(Math.max(...drifts))}, at the end ${Math.round(drifts.at(-1) ?? Number.NaN)}`,
      );
      expect(drifts.at(-1)).toBeLessThan(MOST_DRIFT_MS);
      // A font that comes later makes the line wider, and the line moves by its new width.
      const moved = await own.evaluate(() => {
        document.head.append(
          Object.assign(document.createElement('style'), { textContent: '.ticker-line { letter-spacing: 0.5em }' }),
        );
        const duration = () =>
          Number(document.querySelector('.ticker-track')?.getAnimations()[0]?.effect?.getTiming().duration);
        const before = duration();
        document.fonts.dispatchEvent(new Event('loadingdone'));
        return duration() / before;
      });
      expect(moved).toBeGreaterThan(1.2);
      if (isSoak) expect(missed - without).toBeLessThanOrEqual(MOST_MORE);
    },
  );
});
