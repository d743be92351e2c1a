/** What a box dates whose clock is years ahead neither wins for ever over what people do later, nor is lost in silence. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { Health } from '../../service/contract/health.ts';
import { createOwnRecord } from '../../service/peers/gossip.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { secretModes, secretSettings } from '../support/operator.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { emptyPeerState, startBox, unitContext, untilTogether } from './support.ts';

const WRONG = Date.UTC(2038, 0, 19);
const content = {
  ...lobbyWith([{ kind: 'image', media_url: '/media/notice.txt' }]),
  screens: ['lobby', 'hall'].map((slug) => ({ slug, name: slug, playlist_id: 'welcome' })),
};

test.each(secretModes)(
  '%s, the clock of a box is twelve years ahead, then right',
  { timeout: 60_000 },
  async (_, secret) => {
    const env = secretSettings(secret);
    let time: () => number = Date.now;
    const request = (box: TestService, method: string, path: string, body: string, type: string) => {
      const now = box === right ? Date.now() : time();
      const headers = secret === null ? {} : signRequest({ secret, method, url: box.url + path, body, now });
      return box.get(path, { method, body, headers: { ...headers, 'Content-Type': type } });
    };
    const bind = async (box: TestService, screenSlug: string) => {
      const body = JSON.stringify({ deviceId: 'd1', clientName: 'Desk', screenSlug });
      expect((await request(box, 'POST', '/api/onboarding', body, 'application/json')).status).toBe(200);
    };
    const put = async (box: TestService, body: string) => {
      expect((await request(box, 'PUT', '/api/media/notice.txt', body, 'text/plain')).ok).toBe(true);
    };
    const screenAt = async (box: TestService) => {
      const { screenSlug, screen } = await (await box.get('/api/onboarding/status?deviceId=d1')).json();
      return screenSlug ?? screen?.slug ?? null;
    };
    const noticeAt = async (box: TestService) => (await box.get('/media/notice.txt')).text();
    const healthOf = async (box: TestService) => (await (await box.get('/healthz')).json()) as Health;

    time = () => Math.floor(WRONG + performance.now());
    const dataDir = temporaryFolder();
    const right = await startBox([], { content, env });
    const wrong = await startBox([right], { content, env, dataDir, wall: () => time() });
    await untilTogether([right, wrong]);
    await bind(wrong, 'lobby');
    await put(wrong, 'by the wrong clock');

    // The others say what they do not take, and what to do.
    const refused = async () => (await healthOf(right)).replication.refused.map(({ reason }) => reason).toSorted();
    const said = (kind: string, name: string) =>
      expect.stringMatching(
        new RegExp(`^1 of the ${kind} are dated years ahead, such as ${name} at 2038.*set the clock`),
      );
    await expect.poll(refused, patience).toEqual([said('bindings', 'd1')]);
    expect((await healthOf(right)).warnings).toContainEqual(expect.stringContaining('set the clock of that box'));

    // A person's later change holds where it is made, and everywhere once the clock is right.
    await bind(right, 'hall');
    expect(await screenAt(right)).toBe('hall');
    await wrong.close();
    time = Date.now;
    const mended = await startBox([right], { content, env, dataDir });
    await untilTogether([right, mended]);
    await expect.poll(() => screenAt(mended), patience).toBe('hall');
    await expect.poll(() => noticeAt(right), patience).toBe('by the wrong clock');
    await expect.poll(refused, patience).toEqual([]);
    await put(right, 'later');
    await expect.poll(() => noticeAt(mended), patience).toBe('later');
    await bind(mended, 'lobby');
    await expect.poll(() => screenAt(right), patience).toBe('lobby');
  },
);

test('a box whose clock was years ahead at its start is heard once it is right', async () => {
  const context = unitContext();
  let time = WRONG;
  let media = '0'.repeat(64);
  const ids = { nodeId: randomUUID(), instance: 'wrong' };
  const own = createOwnRecord({ ...context, ids, now: () => time }, () => ({ media }));
  const caller = {
    call: async () => {
      const body = { ...emptyPeerState, ...ids, ...own.current(true) };
      return { ok: true, status: 200, address: '127.0.0.1', body };
    },
    close: () => {},
  };
  const registry = createRegistry(context, {
    site: 'default',
    staticPeers: ['http://127.0.0.1:1'],
    caller: caller as never,
  });
  onTestFinished(registry.close);
  registry.start(2);
  await expect.poll(registry.alive, patience).toHaveLength(1);
  // Boxes that compare what they have find nothing new in what they would refuse.
  expect(registry.reached().get(ids.nodeId)).toBe(0);
  expect(registry.applyRecord({ ...own.current(true), seq: WRONG + 1 })).toBe(false);

  time = Date.now();
  const { seq } = own.current(true);
  expect(seq).toBeGreaterThan(0);
  expect(seq).toBeLessThan(WRONG);
  media = '1'.repeat(64);
  expect(registry.applyRecord(own.current(true))).toBe(true);
  expect(registry.find(ids.nodeId)?.state).toMatchObject({ media });
  expect(registry.reached().get(ids.nodeId)).toBe(own.current(true).seq);
  expect(registry.applyRecord({ ...own.current(true), seq })).toBe(false);
});
