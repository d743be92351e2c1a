/** One box of the site, asked through any other: its log, its restart, pictures of its displays, versions and media. */
import { setTimeout as wait } from 'node:timers/promises';
import { describe, expect, test } from 'vitest';
import type { ContentVersions, EditedContent } from '../../service/contract/console/content.ts';
import type { BoxLog, SiteOverview } from '../../service/contract/console/site.ts';
import type { MediaList } from '../../service/contract/media.ts';
import { lobbyWith } from '../content/samples.ts';
import { startBox, startSite, untilTogether } from '../peers/support.ts';
import { putImage } from '../support/media.ts';
import { patience } from '../support/observe.ts';
import { createOperator, refusalOf, secretModes, secretSettings } from '../support/operator.ts';
import { joinScreen, protocolsOf } from '../support/page.ts';
import type { TestService } from '../support/service.ts';

const jpeg = Uint8Array.of(0xff, 0xd8, 0xff, 0xd9);

describe.each(secretModes)('%s', (_, secret) => {
  const env = secretSettings(secret);
  const nodeIdOf = async (ask: ReturnType<typeof createOperator>): Promise<string> =>
    ((await (await ask('GET', '/console/api/site')).json()) as SiteOverview).nodeId;

  test('the log of a box is read at any box, by level and number, and that of an unknown box is 404', async () => {
    const [first, second] = await startSite({ env });
    const ask = createOperator(first, secret);
    const ids = [await nodeIdOf(ask), await nodeIdOf(createOperator(second, secret))];
    second.writeContent('{ this is no JSON');
    const linesOf = async (id: string, query = ''): Promise<BoxLog['lines']> =>
      ((await (await ask('GET', `/console/api/boxes/${id}/log${query}`)).json()) as BoxLog).lines;
    for (const id of ids) {
      const lines = await linesOf(id);
      expect(lines.length).toBeGreaterThan(0);
      expect(lines.map(({ time }) => time)).toEqual(lines.map(({ time }) => time).toSorted());
      expect(await linesOf(id, '?limit=1')).toHaveLength(1);
    }
    await expect.poll(async () => (await linesOf(ids[1] ?? '', '?level=warn')).length, patience).toBeGreaterThan(0);
    expect((await linesOf(ids[1] ?? '', '?level=warn')).every(({ level }) => level >= 40)).toBe(true);
    expect(await refusalOf(await ask('GET', '/console/api/boxes/nobody/log'))).toEqual([404, 'box_not_found']);
    for (const query of ['level=loud', 'limit=0', 'limit=1001', 'limit=x']) {
      const refused = await ask('GET', `/console/api/boxes/${ids[0]}/log?${query}`);
      expect([query, ...(await refusalOf(refused))]).toEqual([query, 400, 'invalid_field']);
    }
  });

  test('a box is restarted through any box where something restarts it, and else says so', async () => {
    const restarted: string[] = [];
    const host = { restart: () => void restarted.push('the supervised one') };
    const supervised = await startBox([], { env, host });
    const bare = await startBox([supervised], { env });
    await untilTogether([supervised, bare]);
    const [askSupervised, askBare] = [createOperator(supervised, secret), createOperator(bare, secret)];
    const ids = { supervised: await nodeIdOf(askSupervised), bare: await nodeIdOf(askBare) };
    for (const [count, ask] of [askSupervised, askBare].entries()) {
      expect((await ask('POST', `/console/api/boxes/${ids.supervised}/restart`)).status).toBe(202);
      await expect.poll(() => restarted.length, patience).toBe(count + 1);
      const refused = await ask('POST', `/console/api/boxes/${ids.bare}/restart`);
      expect(await refusalOf(refused)).toEqual([409, 'not_supported']);
    }
    expect(await refusalOf(await askBare('POST', '/console/api/boxes/nobody/restart'))).toEqual([404, 'box_not_found']);
  });

  test('what a display shows is a JPEG at any box, with when it was taken; a browser has none, and a display that hangs is given up', async () => {
    const host = {
      capture: (deviceId: string) => {
        if (deviceId === 'box.1') return Promise.resolve(jpeg);
        return deviceId === 'box.2' ? wait(60_000, jpeg, { ref: false }) : null;
      },
    };
    const first = await startBox([], { env, host });
    const second = await startBox([first], { env });
    await untilTogether([first, second]);
    const join = async (deviceId: string | null): Promise<string> => {
      const hello = { clientId: `client of ${deviceId}`, deviceId };
      const protocols = await protocolsOf(first, 'lobby', secret);
      return (await joinScreen(first, 'lobby', hello, { protocols })).connectionId;
    };
    const [shown, hanging, browser] = [await join('box.1'), await join('box.2'), await join(null)];
    for (const box of [first, second]) {
      const ask = createOperator(box, secret);
      const take = (id: string) => ask('GET', `/console/api/connections/${id}/screenshot`);
      const picture = await take(shown);
      expect(picture.headers.get('Content-Type')).toBe('image/jpeg');
      expect(Date.parse(picture.headers.get('x-signage-captured-at') ?? '')).toBeLessThanOrEqual(Date.now());
      expect(new Uint8Array(await picture.arrayBuffer())).toEqual(jpeg);
      expect(await refusalOf(await take(browser))).toEqual([409, 'screenshot_unavailable']);
      expect(await refusalOf(await take(hanging))).toEqual([504, 'screenshot_timeout']);
      expect(await refusalOf(await take('nobody'))).toEqual([404, 'connection_not_found']);
    }
  });

  test('what is published at one box plays at both, and each lists its versions and media by itself', async () => {
    const boxes = await startSite({ env });
    const read = async <T>(box: TestService, path: string): Promise<T> =>
      (await (await createOperator(box, secret)('GET', path)).json()) as T;
    putImage(boxes[0].dataDir, 'hall.png', [20, 90, 60]);
    const shas = () =>
      Promise.all(boxes.map(async (box) => (await read<EditedContent>(box, '/console/api/content')).sha256));
    // Each has begun with a document of its own.
    await expect.poll(async () => new Set(await shas()).size, patience).toBe(1);
    const [before] = await shas();
    const document = lobbyWith([{ id: 'hall', kind: 'image', media_url: '/media/hall.png' }]);
    const headers = { 'If-Match': `"${before}"` };
    const published = await createOperator(boxes[0], secret)('PUT', '/console/api/content', document, headers);
    expect(published.status).toBe(200);
    const { sha256 } = (await published.json()) as { sha256: string };
    for (const box of boxes) {
      const playing = async () => (await box.get('/api/screens/lobby/playlist')).text();
      await expect.poll(playing, { ...patience, interval: 20 }).toContain('hall.png');
      expect((await read<EditedContent>(box, '/console/api/content')).sha256).toBe(sha256);
      const { versions } = await read<ContentVersions>(box, '/console/api/content/versions');
      expect(versions.map((version) => version.sha256)).toContain(sha256);
      const uses = async () =>
        (await read<MediaList>(box, '/console/api/media')).media.map(({ filename, used_by }) => [filename, ...used_by]);
      await expect.poll(uses, patience).toEqual([['hall.png', 'hall']]);
    }
  });
});
