/** What a page counts as plays of its ticker, which shows several slides at once. */
import { expect, it } from 'vitest';
import { createPlayRecorder } from '../../../renderer/player/plays/recorder.ts';
import { createTickerPlays } from '../../../renderer/player/plays/ticker-plays.ts';
import type { Slide } from '../../../service/contract/playlist.ts';
import { type PagePlay, pagePlay } from '../../../service/contract/plays.ts';
import { slide } from '../scene.ts';

it('a ticker has a play for each of its slides, which ends when it goes, or is covered', () => {
  const plays: PagePlay[] = [];
  let elapsed = 0;
  const ticker = createTickerPlays(() =>
    createPlayRecorder({
      clock: { elapsed: () => elapsed, now: () => Date.parse('2026-07-01T12:00:00Z') + elapsed, state: () => 'ok' },
      screen: 'lobby',
      zone: 'ticker',
      revision: () => 'r1',
      onPlay: (play) => plays.push(pagePlay.parse(play)),
    }),
  );
  const told = () => plays.splice(0).map((play) => [play.slide_id, play.duration_ms, play.result, play.reason]);
  const show = (...slides: Slide[]) => ticker.show(slides.map((each) => ({ slide: each, playlistId: 'news' })));
  const [bread, soup] = [slide('bread'), slide('soup')];
  show(bread, soup);
  elapsed += 4_000;
  // What is shown again goes on.
  show(soup, { ...bread });
  expect(plays).toEqual([]);
  expect(ticker.underWay().map(({ slide_id, zone, playlist_id }) => [slide_id, zone, playlist_id])).toEqual([
    ['bread', 'ticker', 'news'],
    ['soup', 'ticker', 'news'],
  ]);
  show(soup);
  expect(told()).toEqual([['bread', 4_000, 'played', null]]);
  elapsed += 1_000;
  ticker.cover('takeover');
  show(soup, bread);
  elapsed += 1_000;
  ticker.cover(null);
  elapsed += 500;
  // An edit of a slide is another play.
  show({ ...soup, title: 'Hot soup' });
  expect(told()).toEqual([
    ['soup', 5_000, 'played', null],
    ['soup', 500, 'played', null],
    ['bread', 500, 'played', null],
  ]);
  show(...Array.from({ length: 1_000 }, (_, index) => slide(`s${index}`)));
  expect(ticker.underWay()).toHaveLength(100);
});
