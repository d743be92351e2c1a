/** What a box has fetched, another box takes from it. */
import { randomUUID } from 'node:crypto';
import { mkdirSync, writeFileSync } from 'node:fs';
import { createServer } from 'node:http';
import { join } from 'node:path';
import { pino } from 'pino';
import { expect, test } from 'vitest';
import { createDownloads } from '../../main/updates/downloads.ts';
import { emptyPeerState, listenOn, startBox } from '../peers/support.ts';
import { patience } from '../support/observe.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { nodeUpdater, publicKey, serveFeed } from './release.ts';

const downloadsInto = (dataDir: string) =>
  createDownloads(
    { updater: nodeUpdater('1.0.0', temporaryFolder()), log: pino({ level: 'silent' }), key: publicKey },
    { readyDir: join(dataDir, 'updates', 'ready') },
  );

test('a version goes from the feed to one box, and from there to the next', async () => {
  const feed = await serveFeed({ version: '2.0.0' });
  const first = await startTestService();
  await downloadsInto(first.dataDir).fetch({ feed: feed.url, peers: [], channel: 'latest' }, () => true);
  const before = feed.asked.length;
  const second = temporaryFolder();
  expect(
    await downloadsInto(second).fetch({ feed: null, peers: [`${first.url}/updates/`], channel: 'latest' }, () => true),
  ).toMatchObject({
    version: '2.0.0',
  });
  expect(feed.asked).toHaveLength(before);
});

test('nothing but the release can be had there', async () => {
  const { dataDir, get } = await startTestService();
  expect((await get('/updates/latest-linux.yml')).status).toBe(404);
  mkdirSync(join(dataDir, 'updates', 'ready'), { recursive: true });
  writeFileSync(join(dataDir, 'updates', 'state.json'), '{}');
  writeFileSync(join(dataDir, 'updates', 'ready', 'latest-linux.yml'), 'version: 2.0.0\n');
  expect(await (await get('/updates/latest-linux.yml')).text()).toBe('version: 2.0.0\n');
  for (const path of ['/updates/..%2Fstate.json', '/updates/%2e%2e%2fstate.json', '/updates/state.json', '/updates/']) {
    expect((await get(path)).status).toBe(404);
  }
});

test('any box of the site may be among the few that are asked for a version', async () => {
  const peers = await Promise.all(
    Array.from({ length: 5 }, async () => {
      const nodeId = randomUUID();
      const server = createServer((request, response) => {
        const isState = request.url?.startsWith('/api/peers/state') === true;
        response.writeHead(isState ? 200 : 404, { 'Content-Type': 'application/json' });
        const state = { ...emptyPeerState, nodeId, instance: nodeId };
        response.end(JSON.stringify(isState ? state : { error: { code: 'not_found', message: 'No.' } }));
      });
      return { url: await listenOn(server) };
    }),
  );
  const box = await startBox(peers);
  await expect.poll(() => box.updateFeeds().length, patience).toBe(5);
  const asked = new Set(Array.from({ length: 100 }, () => box.updateFeeds().slice(0, 3)).flat());
  expect([...asked].toSorted()).toEqual(peers.map(({ url }) => `${url}/updates/`).toSorted());
});
