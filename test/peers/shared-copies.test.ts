/** A site downloads each remote file once; its boxes copy it from each other. */
import { randomUUID } from 'node:crypto';
import { expect, test } from 'vitest';
import type { CopiesHealth } from '../../service/contract/health.ts';
import type { Registry } from '../../service/peers/registry.ts';
import { createSharedCopies, downloadersOf } from '../../service/peers/shared-records.ts';
import { lobbyWith } from '../content/samples.ts';
import { noise, type Remote, serveBytes, startRemote } from '../media/remote.ts';
import { png } from '../media/server.ts';
import { patience } from '../support/observe.ts';
import type { TestService } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { emptyPeerState, secret, startBox, startSite, untilTogether } from './support.ts';

const picture = Buffer.concat([png, noise(100_000)]);

const showing = (remote: Remote, paths: readonly string[]) =>
  lobbyWith(paths.map((path) => ({ kind: 'image', media_url: remote.url + path })));

const until = (box: TestService, expected: Partial<CopiesHealth>): Promise<void> =>
  expect
    .poll(async () => ((await (await box.get('/healthz')).json()) as { copies: CopiesHealth }).copies, patience)
    .toMatchObject(expected);

const requested = ({ requests }: Remote): string[] => requests.map(({ url = '' }) => url).toSorted();

test('every box is the first to download its share of the files, in an order on which all agree', () => {
  const boxes = Array.from({ length: 4 }, () => randomUUID());
  const shares = new Map<string, number>(boxes.map((box) => [box, 0]));
  for (let n = 0; n < 400; n += 1) {
    const [first = '', ...others] = downloadersOf(`https://example.com/${n}`, boxes);
    expect([first, ...others]).toEqual(downloadersOf(`https://example.com/${n}`, boxes.toReversed()));
    shares.set(first, (shares.get(first) ?? 0) + 1);
    // Without the first box the others keep their order.
    expect(downloadersOf(`https://example.com/${n}`, others)).toEqual(others);
  }
  for (const share of shares.values()) expect(share).toBeGreaterThan(50);
});

test.each([null, secret])(
  'three boxes (secret: %s) ask the origin once for each file, and a box that joins not at all',
  walk,
  async (key) => {
    const remote = await startRemote();
    const paths = Array.from({ length: 8 }, (_, n) => `/${n}.png`);
    for (const [n, path] of paths.entries()) {
      remote.answer(path, serveBytes(Buffer.concat([picture, noise(n + 8)]), { type: 'image/png', etag: `"${n}"` }));
    }
    const env = key === null ? {} : { SIGNAGE_SHARED_SECRET: key };
    const boxes = await startSite({ env }, 1);
    boxes[0].writeContent(showing(remote, paths));
    for (const box of boxes) await until(box, { count: 8, pending: 0, failed: [] });
    expect(requested(remote)).toEqual(paths);

    const fourth = await startBox([boxes[0]], { env, content: showing(remote, paths) });
    await untilTogether([...boxes, fourth]);
    await until(fourth, { count: 8, pending: 0, failed: [] });
    expect(requested(remote)).toEqual(paths);
    for (const path of paths.slice(0, 2)) {
      const copies = boxes.map(async (box) => {
        const answer = await box.get(`/copies?url=${encodeURIComponent(remote.url + path)}`, { redirect: 'manual' });
        return [answer.status, answer.headers.get('content-type'), (await answer.arrayBuffer()).byteLength];
      });
      const [first, ...others] = await Promise.all(copies);
      expect(first?.[0]).toBe(200);
      for (const other of others) expect(other).toEqual(first);
    }
  },
);

test('where the box that is to download a file can not, the others do', async () => {
  const remote = await startRemote();
  let isDown = true;
  remote.answer('/a.png', (request, response) => {
    // The first box that asks is refused, and any after it is not.
    if (isDown) response.writeHead(404).end();
    else serveBytes(picture, { type: 'image/png' })(request, response);
    isDown = false;
  });
  const boxes = await startSite();
  boxes[0].writeContent(showing(remote, ['/a.png']));
  await expect
    .poll(async () => {
      const counts = boxes.map(
        async (box) => ((await (await box.get('/healthz')).json()) as { copies: CopiesHealth }).copies.count,
      );
      return Math.max(...(await Promise.all(counts)));
    }, patience)
    .toBe(1);
});

test('a box that answers late may be downloading the file, and one that is away is not', async () => {
  const [nodeId, other] = [randomUUID(), randomUUID()];
  const peer = { nodeId: other, url: 'http://127.0.0.1:9', state: emptyPeerState };
  const urls = Array.from({ length: 50 }, (_, n) => `https://example.com/${n}`);
  const theirs = urls.find((url) => downloadersOf(url, [nodeId, other])[0] === other) ?? '';
  const ours = urls.find((url) => downloadersOf(url, [nodeId, other])[0] === nodeId) ?? '';
  const failure = { ok: false, status: null, answered: false, code: null, reason: 'does not answer' } as const;
  const copyOf = (more: { isLate?: true }) =>
    createSharedCopies(
      nodeId,
      { alive: () => [peer], settled: async () => undefined } as unknown as Pick<Registry, 'alive' | 'settled'>,
      { ask: async () => ({ ...failure, ...more }) },
    );
  expect(await copyOf({ isLate: true })(theirs)).toBe('unknown');
  expect(await copyOf({})(theirs)).toBe(null);
  // The other box would have it only from before, and this one is to download it.
  expect(await copyOf({ isLate: true })(ours)).toBe(null);
});

test('a box with hours leaves the files to one without, and names them all', async () => {
  const remote = await startRemote();
  const paths = Array.from({ length: 6 }, (_, n) => `/${n}.png`);
  for (const path of paths) remote.answer(path, serveBytes(picture, { type: 'image/png' }));
  const hour = (new Date().getUTCHours() + 2) % 24;
  const SIGNAGE_FETCH_HOURS = `${String(hour).padStart(2, '0')}:00-${String((hour + 1) % 24).padStart(2, '0')}:00`;
  const env = { SIGNAGE_TIME_ZONE: 'UTC', SIGNAGE_FETCH_HOURS };
  const free = await startBox([]);
  const held = await startBox([free], { env });
  await untilTogether([free, held]);
  free.writeContent(showing(remote, paths));
  await until(free, { pending: 0, failed: [], count: 1 });
  expect(requested(remote)).toEqual(paths);
  const reason = expect.stringContaining('only (SIGNAGE_FETCH_HOURS)');
  await until(held, {
    count: 0,
    failed: paths.map((path) => expect.objectContaining({ url: remote.url + path, reason })),
  });
});
