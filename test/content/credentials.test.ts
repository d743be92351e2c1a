/** Credentials in the content stay on the box: no payload, audit, log, health or metrics holds one. */
import type { RequestListener } from 'node:http';
import { expect, test } from 'vitest';
import { item, rss, startFeedServer } from '../feeds/server.ts';
import { patience, payloadOf } from '../support/observe.ts';
import { createOperator } from '../support/operator.ts';
import { joinScreen } from '../support/page.ts';
import { startTestService } from '../support/service.ts';

const marker = 'M4rk3r';

test('no password and no key of an address is in any answer but that of the content itself', async () => {
  const answer: RequestListener = (_, response) => response.end(rss(item('One')));
  const server = await startFeedServer(answer);
  const service = await startTestService({
    content: {
      screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
      playlists: [
        {
          id: 'main',
          slides: [
            { id: 'door', kind: 'stream', media_url: `rtmp://cam:${marker}@127.0.0.1:9/live/door?quality=high` },
            {
              id: 'gate',
              kind: 'stream',
              media_url: 'rtmp://127.0.0.1:9/live/gate',
              content: { fallback_media_url: `http://me:(a,'${marker}')@127.0.0.1:9/still.jpg` },
            },
            { id: 'film', kind: 'video', media_url: `http://me:${marker}@127.0.0.1:9/film.mp4` },
            { id: 'news', kind: 'rss', content: { feed_id: 'news' } },
            {
              id: 'board',
              kind: 'template',
              template_id: 'board',
              content: { pictures: [{ picture: `http://me:${marker}@127.0.0.1:9/own.jpg` }] },
            },
            { id: 'words', kind: 'text', body: `<img src="http://me:${marker}@127.0.0.1:9/body.jpg">Me @ home` },
            { id: 'quotes', kind: 'text', body: `<img src="http://me:it's,(${marker})@127.0.0.1:9/body.jpg">Me` },
            {
              id: 'menu',
              kind: 'template',
              template_id: 'design:menu',
              content: { picture: `http://${marker}@127.0.0.1:9/menu.jpg` },
            },
          ],
        },
      ],
      style: { logo_url: `http://me:${marker}@127.0.0.1:9/logo.png` },
      templates: [{ id: 'board', html: `{{ sources.weather.data }}<img src='//me:${marker}@127.0.0.1:9/html.jpg'>` }],
      rssFeeds: [
        { id: 'news', url: `${server.at('/news').replace('//', `//me:${marker}@`)}?apikey=${marker}#${marker}` },
      ],
      apiSources: [{ id: 'weather', url: server.at(`/weather?token=${marker}`, 2) }],
    },
  });
  await expect.poll(async () => (await payloadOf(service)).rssFeeds[0]?.status, patience).toBe('ok');
  const { slides, rssFeeds, apiSources, style } = await payloadOf(service);
  expect(slides.map(({ media_url }) => media_url)).toEqual([
    'rtmp://127.0.0.1:9/live/door?quality=high',
    'rtmp://127.0.0.1:9/live/gate',
    'http://127.0.0.1:9/film.mp4',
    null,
    null,
    null,
    null,
    null,
  ]);
  expect([slides[5]?.body, slides[6]?.body, style]).toEqual([
    '<img src="http://127.0.0.1:9/body.jpg">Me @ home',
    '<img src="http://127.0.0.1:9/body.jpg">Me',
    { logo_url: 'http://127.0.0.1:9/logo.png' },
  ]);
  expect([...rssFeeds, ...apiSources].map(({ url }) => url)).toEqual([server.at('/news'), server.at('/weather', 2)]);
  // The sources themselves are asked with them.
  expect(server.requests.some(({ url, headers }) => url?.includes(marker) && headers.authorization)).toBe(true);

  const session = async (source: string): Promise<string> => {
    const response = await service.get(`/api/rtmp/session?source=${encodeURIComponent(source)}&slide=door`);
    return ((await response.json()) as { key: string }).key;
  };
  const own = `rtmp://cam:${marker}@127.0.0.1:9/live/door?quality=high`;
  expect(await session(slides[0]?.media_url ?? '')).toBe(await session(own));

  const ask = createOperator(service, null);
  await ask('POST', '/api/screens/lobby/commands', {
    command: 'redirect',
    url: `https://example.com/?token=${marker}`,
  });
  const page = await joinScreen(service, 'lobby', { page: `https://me:${marker}@example.com/hello` });
  page.send({ type: 'state', page: `https://me:${marker}@example.com/?q=1` });
  const pageOf = async () => (await (await service.get('/api/screens/lobby/connections')).json()).connections[0].page;
  await expect.poll(pageOf).toBe('https://example.com/?q=1');
  const until = new Date(Date.now() + 60_000).toISOString();
  const media_url = `https://me:${marker}@example.com/exit.png`;
  const takeover = { targets: ['all'], level: 'info', media_url, until };
  const refused = await ask('PUT', '/console/api/takeovers/exit', takeover);
  expect([refused.status, (await refused.json()).error]).toMatchObject([400, { field: 'media_url' }]);
  for (const path of [
    '/api/screens/lobby/connections',
    '/console/api/site',
    '/api/screens/lobby/playlist',
    '/console/api/audit',
    '/healthz',
    '/metrics',
  ]) {
    expect(await (await ask('GET', path)).text(), path).not.toContain(marker);
  }
  expect(service.log()).not.toContain(marker);
});
