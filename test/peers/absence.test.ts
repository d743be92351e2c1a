/** A box that was away for longer than deletions are known takes the list of media of its site. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { Health } from '../../service/contract/health.ts';
import { RELEASED } from '../../service/domain/time.ts';
import { openAbsence } from '../../service/peers/absence.ts';
import { contentContext } from '../content/context.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { operatorSecret, secretSettings } from '../support/operator.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { startBox, unitContext, untilTogether } from './support.ts';

const DAY = 86_400_000;
const named = ['named.txt', 'replaced.txt', 'new.txt'];
const unnamed = ['deleted.txt', 'shared.txt', 'unused.txt'];
const content = lobbyWith(named.map((name) => ({ kind: 'image', media_url: `/media/${name}` })));
const first = (name: string): string => `first ${name}`;

const served = async (box: TestService, names: readonly string[]): Promise<string[]> =>
  Promise.all(
    names.map(async (name) => {
      const answer = await box.get(`/media/${name}`);
      return answer.ok ? answer.text() : String(answer.status);
    }),
  );
const healthAt = async (box: TestService): Promise<Health> => (await (await box.get('/healthz')).json()) as Health;
const lostAt = async (box: TestService): Promise<string[]> => (await healthAt(box)).replication.lostUploads;
/** Resolves once a box has noted that it ran at a time. */
const untilNoted = (dataDir: string, time: number): Promise<void> => {
  const notedAt = () => Number(/"at":(\d+)/.exec(readFileSync(join(dataDir, 'last-run.json'), 'utf8'))?.[1] ?? 0);
  return expect.poll(notedAt, patience).toBeGreaterThan(time - DAY);
};

interface Away {
  days: number;
  /** Its clock when it is back; default: right. */
  clock?: (time: number, leftAt: number) => number;
  isSynchronized?: boolean;
  secret?: string | null;
}

/** A box that was away from its site, which has deleted and replaced files meanwhile. */
const afterDays = async ({ days, clock = (time) => time, isSynchronized = false, secret = null }: Away) => {
  const env = secretSettings(secret);
  const leftAt = Date.now();
  let offset = 0;
  const siteTime = () => Date.now() + offset;
  const request = (box: TestService, method: 'PUT' | 'DELETE', name: string, body = '') => {
    const path = `/api/media/${name}`;
    const headers = secret && signRequest({ secret, method, url: box.url + path, body, now: siteTime() });
    return box.get(path, { method, ...(headers && { headers }), ...(method === 'PUT' && { body }) });
  };
  const put = async (box: TestService, name: string, body = first(name)): Promise<void> =>
    expect((await request(box, 'PUT', name, body)).ok).toBe(true);
  const awayDir = temporaryFolder();
  const away = await startBox([], { content, env, dataDir: awayDir });
  for (const name of ['named.txt', 'replaced.txt', ...unnamed]) await put(away, name);
  await untilNoted(awayDir, leftAt);
  await away.close();
  const site = await startBox([], { content, env, wall: siteTime });
  await put(site, 'shared.txt');
  // A deletion that is older is forgotten.
  if (days < 400) {
    await put(site, 'deleted.txt');
    expect((await request(site, 'DELETE', 'deleted.txt')).status).toBe(204);
  }
  offset = days * DAY;
  await expect.poll(async () => (await healthAt(site)).sync.offset, patience).toBeLessThan(1);
  await put(site, 'replaced.txt', 'second');
  await put(site, 'new.txt', 'new');
  const back = await startBox([site], {
    ...{ content, env, dataDir: awayDir },
    wall: () => clock(siteTime(), leftAt),
    isSynchronized: () => isSynchronized,
  });
  await untilTogether([site, back]);
  await expect.poll(() => served(back, named), patience).toEqual([first('named.txt'), 'second', 'new']);
  return { site, back, awayDir, put };
};

describe('a box that was away for', () => {
  test('401 days keeps what the content or a peer names, and the rest beside', { timeout: 60_000 }, async () => {
    const { site, back, awayDir, put } = await afterDays({ days: 401 });
    await expect.poll(() => served(back, unnamed), patience).toEqual(['404', first('shared.txt'), '404']);
    await expect.poll(() => served(site, named), patience).toEqual([first('named.txt'), 'second', 'new']);
    const folder = join(awayDir, 'uploads', '.lost');
    const kept = readdirSync(folder).map((name) => readFileSync(join(folder, name), 'utf8'));
    expect(kept.toSorted()).toEqual(['deleted.txt', 'replaced.txt', 'unused.txt'].map(first));
    expect(await lostAt(site)).toEqual([]);
    // From now on its files are its own again.
    await put(back, 'unused.txt', 'third');
    await put(site, 'named.txt', 'third');
    await expect.poll(() => served(back, ['named.txt', 'unused.txt']), patience).toEqual(['third', 'third']);
  });

  test('399 days learns of the deletion, and keeps what it alone has, with a secret too', {
    timeout: 60_000,
  }, async () => {
    const { back, awayDir } = await afterDays({ days: 399, secret: operatorSecret });
    await expect.poll(() => served(back, unnamed), patience).toEqual(['404', first('shared.txt'), first('unused.txt')]);
    expect(existsSync(join(awayDir, 'uploads', 'unused.txt'))).toBe(true);
  });

  test.each([
    ['401 days, with a clock that stood still meanwhile,', 401, (_: number, leftAt: number) => leftAt + 5_000],
    ['401 days, with a clock that is not set,', 401, () => 0],
    ['10 days, with a clock of 2038,', 10, () => Date.UTC(2038, 0, 19)],
  ])('%s loses nothing', { timeout: 60_000 }, async (_, days, clock) => {
    const { back } = await afterDays({ days, clock });
    await expect.poll(async () => (await healthAt(back)).sync.established, patience).toBe(true);
    expect(await served(back, ['shared.txt', 'unused.txt'])).toEqual(['shared.txt', 'unused.txt'].map(first));
  });
});

test('a box without peers deletes nothing, and takes the list of the first one that comes', {
  timeout: 60_000,
}, async () => {
  const dataDir = temporaryFolder();
  const before = await startBox([], { content, dataDir });
  expect((await before.get('/api/media/unused.txt', { method: 'PUT', body: first('unused.txt') })).status).toBe(201);
  await untilNoted(dataDir, Date.now());
  await before.close();
  const wall = () => Date.now() + 401 * DAY;
  const box = await startBox([], { content, dataDir, wall, isSynchronized: () => true });
  await expect.poll(async () => (await healthAt(box)).sync.established, patience).toBe(true);
  expect(await served(box, ['unused.txt'])).toEqual([first('unused.txt')]);
  await startBox([box], { content, wall });
  await expect.poll(() => served(box, ['unused.txt']), patience).toEqual(['404']);
  expect(await lostAt(box)).toHaveLength(1);
});

test('a box that starts with a clock 500 days ahead deletes nothing for its age', { timeout: 60_000 }, async () => {
  const dataDir = temporaryFolder();
  const earlier = await startBox([], { content, dataDir });
  await earlier.get('/api/media/deleted.txt', { method: 'PUT', body: 'first' });
  expect((await earlier.get('/api/media/deleted.txt', { method: 'DELETE' })).status).toBe(204);
  await earlier.close();
  const lost = '20261122T101530123Z-hall.jpg';
  mkdirSync(join(dataDir, 'uploads', '.lost'), { recursive: true });
  writeFileSync(join(dataDir, 'uploads', '.lost', lost), 'lost');
  const again = await startBox([], { content, dataDir, wall: () => Date.now() + 500 * DAY });
  await expect.poll(async () => (await healthAt(again)).sync.established, patience).toBe(true);
  expect(await lostAt(again)).toEqual([lost]);
  await again.get('/api/media/another.txt', { method: 'PUT', body: 'first' });
  expect((await again.get('/api/media/another.txt', { method: 'DELETE' })).status).toBe(204);
  expect(readFileSync(join(dataDir, 'deleted-media.json'), 'utf8')).toContain('deleted.txt');
});

test('a short start with a clock that is far behind is no absence', async () => {
  const time = Date.now() + 3 * 365 * DAY;
  const dataDir = temporaryFolder();
  const run = async (now: number, isConfirmed: boolean): Promise<boolean> => {
    const context = { ...contentContext(dataDir), ...unitContext(), now: () => now, keep: <T>(each: T) => each };
    const absence = await openAbsence(context, {
      media: { setAside: async () => true },
      siteTime: {
        now: () => now,
        isEstablished: () => true,
        timeOfDay: () => now,
        isConfirmed: () => isConfirmed,
      },
    });
    return absence.isPending();
  };
  expect(await run(time - DAY, true)).toBe(false);
  expect(await run(RELEASED + 60_000, false)).toBe(false);
  expect(await run(time, true)).toBe(false);
  // A clock that is surely right sets back what one that was ahead has noted.
  expect(await run(time + 500 * DAY, false)).toBe(false);
  expect(await run(time, true)).toBe(false);
  expect(await run(time + 401 * DAY, true)).toBe(true);
});
