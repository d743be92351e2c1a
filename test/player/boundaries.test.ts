/** Two pages of two boxes at boundaries of programmes, a second apart, frame by frame. */
import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { startBox, untilTogether } from '../peers/support.ts';
import { describeBrowser } from '../support/browser.ts';
import type { Rgb } from '../support/media.ts';
import { colourSlide, colourTemplate, isClose, openPlayer, patience, waitForConnection } from '../support/player.ts';
import { type Frame, record } from '../support/screencast.ts';
import { isSoak, repeats } from '../support/soak.ts';

/** Colours whose parts add up to one sum, as do those of every mixture of them: black and the page's own do not. */
const red: Rgb = [230, 20, 20];
const blue: Rgb = [20, 20, 230];
const grey: Rgb = [90, 90, 90];
const SUM = 270;
const TOLERANCE = 60;
const isMeant = ([r, g, b]: Rgb): boolean => Math.abs(r + g + b - SUM) <= TOLERANCE;

const BOUNDARIES = repeats(60, 2_000, 'SIGNAGE_TEST_BOUNDARIES');
/** From the edit that brings the programmes until the first boundary. */
const AHEAD_MS = 6_000;
/** A page that has just got the programmes prepares the next slide. */
const PREPARED_MS = 1_500;
/** A busy machine paints later; `npm run soak` has one for itself. */
const MOST_SKEW_MS = isSoak ? 50 : 2_000;
const MOST_EARLY_MS = isSoak ? 20 : 500;

const columns = 5;
/** The points of the grid in the zones beside the ticker, whose ground is dark, and those of the main zone. */
const aboveTicker = (points: readonly Rgb[]): readonly Rgb[] => points.slice(0, 4 * columns);
const inMain = (points: readonly Rgb[], hasZones: boolean): readonly Rgb[] =>
  aboveTicker(points).filter((_, index) => !hasZones || index % columns < 3);

/** When each boundary is seen, ms after it; the frames are in order. */
const delaysOf = (frames: readonly Frame[], first: number, ready: number, hasZones: boolean): number[] =>
  Array.from({ length: BOUNDARIES }, (_, index) => index).flatMap((index) => {
    const boundary = first + index * 1000;
    if (boundary < ready) return [];
    const colour = index % 2 === 0 ? blue : red;
    const seen = frames.find(
      ({ at, points }) =>
        at * 1000 > boundary - 500 && inMain(points, hasZones).every((point) => isClose(point, colour, TOLERANCE)),
    );
    return [seen === undefined ? Number.POSITIVE_INFINITY : seen.at * 1000 - boundary];
  });

const quantile = (values: readonly number[], share: number): number =>
  Math.round(values.toSorted((one, other) => one - other)[Math.floor(share * (values.length - 1))] ?? Number.NaN);

describeBrowser('two pages of two boxes', () => {
  // A ticker moves in every frame, which costs the recorder a processor.
  it.each([['without zones', false] as const, ...(isSoak ? [['with a sidebar and a ticker', true] as const] : [])])(
    `switch at ${BOUNDARIES} boundaries, a second apart, together and without a frame that is dark, %s`,
    async (_, hasZones) => {
      const list = (id: string, colour: Rgb) => ({
        id,
        fade_between_slides: false,
        slides: [colourSlide(`${id}-slide`, colour)],
      });
      const content = {
        screens: [
          {
            name: 'Lobby',
            slug: 'lobby',
            playlist_id: 'red',
            ...(hasZones ? { layout: 'sidebar-ticker', zones: { sidebar: 'grey', ticker: 'news' } } : {}),
          },
        ],
        playlists: [
          list('red', red),
          list('blue', blue),
          list('grey', grey),
          { id: 'news', slides: [{ kind: 'text', title: 'Bread of the day: spelt with walnuts' }] },
        ],
        templates: [colourTemplate],
        // Makes the pages follow the site's time from the beginning.
        programmes: [{ id: 'past', targets: ['all'], playlist_id: 'blue', dates: ['2000-01-01'] }],
      };
      const programmesFrom = (first: number) => {
        const iso = (index: number): string => new Date(first + index * 1000).toISOString();
        return Array.from({ length: BOUNDARIES / 2 }, (__, index) => ({
          id: `p${index}`,
          targets: ['lobby'],
          playlist_id: 'blue',
          dates: [iso(2 * index).slice(0, 10)],
          start_time: iso(2 * index).slice(11, 19),
          end_time: iso(2 * index + 1).slice(11, 19),
        }));
      };
      const env = { SIGNAGE_TIME_ZONE: 'UTC' };
      const box = await startBox([], { content, env });
      const other = await startBox([box], { content, env });
      await untilTogether([box, other]);
      const pages = await Promise.all(
        [box, other].map((each) => openPlayer(each, 'lobby', { width: 320, height: 180 })),
      );
      for (const each of [box, other]) await waitForConnection(each, 'lobby', { currentSlideId: 'red-slide' });
      const recordings = await Promise.all(pages.map(record));
      const first = Math.ceil(Date.now() / 1000) * 1000 + AHEAD_MS;
      box.writeContent({ ...content, programmes: programmesFrom(first) });
      for (const each of [box, other]) {
        const spans = async () =>
          ((await (await each.get('/api/screens/lobby/playlist')).json()) as PlaylistPayload).programme?.spans.length;
        await expect.poll(spans, patience).toBeGreaterThan(BOUNDARIES);
      }
      const ready = Date.now() + PREPARED_MS;
      const last = first + BOUNDARIES * 1000;
      await expect.poll(() => Date.now(), { timeout: last - Date.now() + 30_000, interval: 500 }).toBeGreaterThan(last);
      for (const each of [box, other]) await waitForConnection(each, 'lobby', { currentSlideId: 'red-slide' });
      const films = await Promise.all(recordings.map((recording) => recording.stop()));
      const isShown = ({ points }: Frame): boolean => aboveTicker(points).every(isMeant);
      // The recording may begin before the page has painted its first picture.
      const dark = films.flatMap((frames) => frames.slice(frames.findIndex(isShown)).filter((each) => !isShown(each)));
      const [delays = [], others = []] = films.map((frames) => delaysOf(frames, first, ready, hasZones));
      const skews = delays.map((delay, index) => Math.abs(delay - (others[index] ?? Number.NaN)));
      const all = [...delays, ...others];
      console.log(
        `${skews.length} boundaries, ${films.map(({ length }) => length).join(' and ')} frames: ${dark.length} dark; ` +
          `seen after ms: first ${quantile(all, 0)}, median ${quantile(all, 0.5)}, p95 ${quantile(all, 0.95)}, last ${quantile(all, 1)}; ` +
          `skew ms: median ${quantile(skews, 0.5)}, p95 ${quantile(skews, 0.95)}, most ${quantile(skews, 1)}`,
      );
      expect(dark).toEqual([]);
      expect(skews.length).toBeGreaterThan(3);
      expect(Math.min(...all)).toBeGreaterThan(-MOST_EARLY_MS);
      expect(quantile(skews, 0.95)).toBeLessThan(MOST_SKEW_MS);
      expect(quantile(skews, 1)).toBeLessThan(Number.POSITIVE_INFINITY);
    },
    BOUNDARIES * 1000 + patience.timeout * 4,
  );
});
