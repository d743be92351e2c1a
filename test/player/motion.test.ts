/** Videos from their first frame to their last, as they are seen. */
import { expect, it } from 'vitest';
import { describeBrowser } from '../support/browser.ts';
import { numberOf, putImage, putNumberedVideo } from '../support/media.ts';
import { healthOf } from '../support/observe.ts';
import { lobby, openPlayer, patience, waitForConnection } from '../support/player.ts';
import { type Frame, record } from '../support/screencast.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';

const FRAMES = 30;
const RATE = 10;
const red = [230, 20, 20] as const;

interface Seen {
  at: number;
  /** Of the video's frame; null: it can't be read. */
  number: number | null;
  /** How much of the picture is the still one, 0 to 1. */
  still: number;
}

/** What can be seen of the two slides in a frame of the screen: the video is grey, so what is red is the other's. */
const read = ({ at, points }: Frame): Seen => {
  const bars = points.slice(10, 15);
  const [r, , b] = bars.reduce(([r, g, b], bar) => [r + bar[0], g + bar[1], b + bar[2]], [0, 0, 0]);
  return { at, number: numberOf(bars.map(([, green]) => green)), still: (r - b) / 5 / (red[0] - red[2]) };
};

/** Films some rounds of a still picture and a video, by default as long as its slide. */
const film = async (fade_between_slides: boolean, swaps: number, duration_seconds?: number): Promise<Seen[]> => {
  const dataDir = temporaryFolder();
  const slides = [
    { id: 'still', kind: 'image', media_url: putImage(dataDir, 'red.png', red), duration_seconds: 1.5 },
    { id: 'film', kind: 'video', media_url: putNumberedVideo(dataDir, 'film.mp4', FRAMES, RATE), duration_seconds },
  ];
  const content = lobby(slides);
  const [playlist] = content.playlists;
  const service = await startTestService({
    dataDir,
    content: { ...content, playlists: [{ ...playlist, fade_between_slides }] },
  });
  const page = await openPlayer(service, 'lobby', { width: 320, height: 180 });
  await waitForConnection(service, 'lobby', { currentSlideId: 'film' });
  const filming = await record(page);
  const swapped = async () => (await healthOf(service)).gaps.count;
  const before = await swapped();
  await expect.poll(swapped, { ...patience, timeout: 60_000 }).toBeGreaterThanOrEqual(before + swaps);
  return (await filming.stop()).map(read);
};

describeBrowser('a video', { timeout: 120_000 }, () => {
  it('is seen from its first frame where it is cut in', async () => {
    const seen = await film(false, 6);
    const firsts = seen.filter((each, index) => each.still < 0.1 && (seen[index - 1]?.still ?? 0) > 0.9);
    expect(firsts.length).toBeGreaterThanOrEqual(2);
    // The bars of the frame 0 are all alike.
    expect(firsts.map(({ number }) => number)).toEqual(firsts.map(() => null));
  });

  it('that ends shortly before its slide stands on its last frame, and does not begin again', async () => {
    let last = 0;
    for (const { number, still } of await film(false, 4, FRAMES / RATE + 0.4)) {
      if (still > 0.5) last = 0;
      if (still > 0.1 || number === null) continue;
      expect(number).toBeGreaterThanOrEqual(last);
      last = number;
    }
  });

  it('as long as its slide moves while the next one fades in over it, until it is gone', async () => {
    const seen = await film(true, 6);
    /** How long each frame of the video was seen under the other slide; it is the later half that gives way to it. */
    const stands: { number: number; from: number; to: number }[] = [];
    for (const { at, number, still } of seen) {
      if (number === null || number < FRAMES / 2 || still < 0.05) continue;
      const last = stands.at(-1);
      if (last?.number === number && at - last.to < 1) last.to = at;
      else stands.push({ number, from: at, to: at });
    }
    expect(Math.max(...stands.map(({ from, to }) => to - from))).toBeLessThan(0.3);
    expect(stands.length).toBeGreaterThanOrEqual(6);
  });
});
