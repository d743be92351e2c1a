import { cpSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { startHeadless } from '../platform/options/process.ts';
import { patience } from '../support/observe.ts';
import { temporaryFolder } from '../support/service.ts';
import { item, rss, startFeedServer } from './server.ts';

test('feeds and sources are read by the built service, with no library anywhere near it', async () => {
  const server = await startFeedServer(({ url }, response) =>
    response.end(url === '/feed' ? rss(item('One')) : '{"now":{"temperature":21}}'),
  );
  const folder = temporaryFolder();
  cpSync(join(import.meta.dirname, '..', '..', 'dist'), join(folder, 'dist'), { recursive: true });
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
  const dataDir = temporaryFolder();
  const content = {
    screens: [{ name: 'Lobby', slug: 'lobby', playlist_id: 'main' }],
    playlists: [{ id: 'main', slides: [{ kind: 'template', template_id: 'all' }] }],
    templates: [{ id: 'all', html: '{{ feeds.news.items.size }}{{ sources.weather.data }}' }],
    rssFeeds: [{ id: 'news', url: server.at('/feed') }],
    apiSources: [{ id: 'weather', url: server.at('/data', 2), select: '$.now.temperature' }],
  };
  writeFileSync(join(dataDir, 'content.json'), JSON.stringify(content));
  const headless = startHeadless({ SIGNAGE_DATA_DIR: dataDir }, join(folder, 'dist', 'service', 'headless.js'));
  const url = await headless.ready();
  const told = async () => {
    const { rssFeeds, apiSources } = (await (
      await fetch(`${url}/api/screens/lobby/playlist`)
    ).json()) as PlaylistPayload;
    return [rssFeeds[0]?.items[0]?.title, apiSources[0]?.data];
  };
  await expect.poll(told, patience).toEqual(['One', 21]);
});
