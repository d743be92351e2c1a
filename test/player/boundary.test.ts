/** A page and a box at a boundary of programmes. */
import { expect, it } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import type { Rgb } from '../support/media.ts';
import { colourSlide, colourTemplate, openPlayer, waitForColour, waitForConnection } from '../support/player.ts';
import { startTestService } from '../support/service.ts';

const red: Rgb = [200, 30, 30];
const green: Rgb = [30, 160, 30];

it('a page switches at a boundary by itself, without asking, and plays on by the revision of the box', async () => {
  const boundary = Math.ceil(Date.now() / 1000) * 1000 + 12_000;
  const content = {
    screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'day' }],
    playlists: [
      { id: 'day', fade_between_slides: false, slides: [colourSlide('morning', red)] },
      { id: 'noon', fade_between_slides: false, slides: [colourSlide('lunch', green)] },
    ],
    templates: [colourTemplate],
    programmes: [
      { id: 'p', targets: ['lobby'], playlist_id: 'noon', start_time: new Date(boundary).toISOString().slice(11, 19) },
    ],
  };
  const service = await startTestService({ content, env: { SIGNAGE_TIME_ZONE: 'UTC' } });
  const page = await openPlayer(service, 'lobby');
  await waitForConnection(service, 'lobby', { currentSlideId: 'morning' });
  const asked: number[] = [];
  page.on('request', (request) => {
    if (request.url().endsWith('/playlist')) asked.push(Date.now());
  });
  await waitForColour(page, green);
  // What is drawn for a frame can be photographed up to two slow frames before it is displayed.
  expect(Date.now()).toBeGreaterThanOrEqual(boundary - 100);
  await waitForConnection(service, 'lobby', { currentSlideId: 'lunch', currentSlide: 0 });
  const payload = (await (await service.get('/api/screens/lobby/playlist')).json()) as PlaylistPayload;
  expect(payload.slides.map(({ id }) => id)).toEqual(['lunch']);
  // Its minutely question aside.
  expect(asked.filter((at) => at >= boundary && at < boundary + 2_000)).toEqual([]);
});
