/** Media come from other hosts and boxes in the hours for it alone, and no faster than they may. */
import { readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';
import fc from 'fast-check';
import { describe, expect, it, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { Health } from '../../service/contract/health.ts';
import { createByteRate } from '../../service/domain/rate.ts';
import { untilOpen } from '../../service/media/fetch-limits.ts';
import { lobbyWith } from '../content/samples.ts';
import { secret, startBox } from '../peers/support.ts';
import { logged, patience } from '../support/observe.ts';
import { startTestService, type TestService } from '../support/service.ts';
import { serveBytes, startRemote } from './remote.ts';
import { png } from './server.ts';

const MINUTE = 60_000;
const HOUR = 60 * MINUTE;
const at = (time: string): number => Date.parse(`2026-06-01T${time}Z`);

describe('the time until media may be fetched', () => {
  it.each([
    ['none without hours', null, '12:00:00', 'UTC', 0],
    ['none within them', { open: '22:00', close: '06:00' }, '23:00:00', 'UTC', 0],
    ['none after midnight', { open: '22:00', close: '06:00' }, '05:59:59', 'UTC', 0],
    ['until the evening, once they are over', { open: '22:00', close: '06:00' }, '06:00:00', 'UTC', 16 * HOUR],
    ['until tomorrow, after them', { open: '01:00', close: '02:00' }, '02:00:00', 'UTC', 23 * HOUR],
    ['by the clock of the zone', { open: '01:00', close: '02:00' }, '02:00:00', 'Europe/Vienna', 21 * HOUR],
    ['none where they are the whole day', { open: '08:00', close: '08:00' }, '07:00:00', 'UTC', 0],
  ])('is %s', (_, hours, time, zone, expected) => {
    expect(untilOpen(hours, at(time), zone)).toBe(expected);
  });
});

test('transfers that share a rate never get more than it in any span, but for the last piece', () => {
  const pieces = fc.array(fc.record({ bytes: fc.integer({ min: 1, max: 65_536 }), idle: fc.nat(500) }), {
    minLength: 1,
    maxLength: 200,
  });
  fc.assert(
    fc.property(pieces, fc.integer({ min: 1_000, max: 1_000_000 }), (list, perSecond) => {
      const rate = createByteRate(perSecond);
      let now = 0;
      const arrivals: { at: number; bytes: number }[] = [];
      for (const { bytes, idle } of list) {
        now += idle;
        arrivals.push({ at: now, bytes });
        now += rate.take(bytes, now);
      }
      const [first] = arrivals;
      const before = arrivals.slice(0, -1).reduce((sum, each) => sum + each.bytes, 0);
      const span = (arrivals.at(-1)?.at ?? 0) - (first?.at ?? 0);
      expect(before).toBeLessThanOrEqual((span / 1_000) * perSecond + 1);
    }),
  );
});

const healthOf = async (box: TestService): Promise<Health> => (await box.get('/healthz')).json();
const upload = async (
  box: TestService,
  name: string,
  body: Buffer,
  { key, now = Date.now() }: { key?: string | undefined; now?: number } = {},
): Promise<void> => {
  const path = `/api/media/${name}`;
  const headers = key === undefined ? {} : signRequest({ secret: key, method: 'PUT', url: box.url + path, body, now });
  expect((await box.get(path, { method: 'PUT', body: new Uint8Array(body), headers })).status).toBe(201);
};
const showing = (...addresses: string[]) =>
  lobbyWith(addresses.map((media_url) => ({ kind: 'image', media_url, duration_seconds: 5 })));

describe.each([
  ['with a secret', secret],
  ['without a secret', undefined],
])('hours, %s', (_, key) => {
  test('keep media of other boxes and hosts away, which is visible, until they begin', async () => {
    const remote = await startRemote();
    remote.answer('/sign.png', serveBytes(png, { type: 'image/png' }));
    const address = `${remote.url}/sign.png`;
    let offset = at('12:00:00') - Date.now();
    const wall = () => Date.now() + offset;
    const env = {
      ...{ SIGNAGE_TIME_ZONE: 'UTC', SIGNAGE_FETCH_HOURS: '22:00-06:00' },
      ...(key !== undefined && { SIGNAGE_SHARED_SECRET: key }),
    };
    const content = showing('/media/hall.png', address);
    const one = await startTestService({ content, env, wall });
    await upload(one, 'hall.png', png, { key, now: wall() });
    const other = await startBox([one], { env, wall, content });

    const reason = 'is fetched between 22:00 and 06:00 only (SIGNAGE_FETCH_HOURS)';
    await expect
      .poll(async () => (await healthOf(other)).warnings, patience)
      .toEqual(
        expect.arrayContaining([
          `A screen needs hall.png, which ${reason}.`,
          `A screen needs ${address}, which ${reason}.`,
        ]),
      );
    const { replication, copies, status } = await healthOf(other);
    expect(replication.media.missing).toMatchObject([{ name: 'hall.png', reason }]);
    expect(copies.failed).toMatchObject([{ url: address, reason: `it ${reason}`, held: false }]);
    expect(status).toBe('degraded');
    for (const line of ['a medium has to wait', 'a remote file has to wait']) {
      await expect.poll(() => logged(other, line), patience).toHaveLength(1);
    }
    expect((await other.get('/media/hall.png')).status).toBe(404);
    // The page is not sent there either.
    const copy = `/copies?url=${encodeURIComponent(address)}`;
    expect((await other.get(copy, { redirect: 'manual' })).status).toBe(403);
    expect(remote.requests).toHaveLength(0);

    offset = at('22:30:00') - Date.now();
    await expect.poll(async () => (await other.get('/media/hall.png')).status, patience).toBe(200);
    await expect.poll(async () => (await other.get(copy, { redirect: 'manual' })).status, patience).toBe(200);
    await expect.poll(async () => (await healthOf(other)).warnings, patience).toEqual([]);
  });
});

test('a transfer that is under way when the hours end goes on where it was when they begin again', async () => {
  let offset = at('05:59:00') - Date.now();
  const wall = () => Date.now() + offset;
  const content = showing('/media/film.bin');
  const one = await startTestService({ content, env: { SIGNAGE_TIME_ZONE: 'UTC' }, wall });
  // Longer than the test takes.
  await upload(one, 'film.bin', Buffer.alloc(20_000_000));
  const env = {
    ...{ SIGNAGE_TIME_ZONE: 'UTC', SIGNAGE_FETCH_HOURS: '22:00-06:00', SIGNAGE_FETCH_BYTES_PER_SECOND: '200000' },
  };
  const other = await startBox([one], { env, wall, content });
  const folder = join(other.dataDir, 'media');
  const arrived = (): number =>
    readdirSync(folder)
      .filter((name) => /^\.part-[0-9a-f]+$/.test(name))
      .reduce((sum, name) => sum + statSync(join(folder, name)).size, 0);
  const missing = async () => (await healthOf(other)).replication.media.missing.map(({ reason }) => reason);
  await expect.poll(arrived, patience).toBeGreaterThan(0);
  offset += 2 * MINUTE;
  await expect.poll(missing, patience).toEqual([expect.stringContaining('only (SIGNAGE_FETCH_HOURS)')]);
  await expect.poll(() => other.log(), patience).toContain('a medium has to wait');
  const before = arrived();
  expect(before).toBeGreaterThan(0);
  offset += 17 * HOUR;
  await expect.poll(missing, patience).toEqual(['is being fetched']);
  expect(arrived()).toBeGreaterThanOrEqual(before);
  await expect.poll(arrived, patience).toBeGreaterThan(before);
});

test('media of other boxes and hosts together arrive no faster than the rate', async () => {
  const bytes = 120_000;
  const remote = await startRemote();
  remote.answer('/sign.png', serveBytes(Buffer.concat([png, Buffer.alloc(bytes)]), { type: 'image/png' }));
  const address = `${remote.url}/sign.png`;
  const one = await startTestService({ content: showing('/media/film.bin', address) });
  await upload(one, 'film.bin', Buffer.alloc(bytes));
  const startedAt = performance.now();
  const other = await startBox([one], { env: { SIGNAGE_FETCH_BYTES_PER_SECOND: '100000' }, content: undefined });
  const copy = `/copies?url=${encodeURIComponent(address)}`;
  await expect.poll(async () => (await other.get('/media/film.bin')).status, patience).toBe(200);
  await expect.poll(async () => (await other.get(copy, { redirect: 'manual' })).status, patience).toBe(200);
  // Pieces have up to 64 KiB, and the last one of each is not waited for.
  expect(performance.now() - startedAt).toBeGreaterThan((2 * bytes - 2 * 65_536) / 100);
});
