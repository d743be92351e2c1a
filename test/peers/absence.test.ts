/** A box that was away for longer than deletions are known takes the list of media of its site. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { Health } from '../../service/contract/health.ts';
import { lobbyWith } from '../content/samples.ts';
import { patience } from '../support/observe.ts';
import { secretSettings, withAndWithoutSecret } from '../support/operator.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { startBox, untilTogether } from './support.ts';

const DAY = 86_400_000;
const names = ['deleted.txt', 'kept.txt', 'replaced.txt', 'new.txt'];
const content = lobbyWith(names.map((name) => ({ kind: 'image', media_url: `/media/${name}` })));

const servedBy = async (box: TestService): Promise<string[]> =>
  Promise.all(
    [...names, 'unused.txt'].map(async (name) => {
      const answer = await box.get(`/media/${name}`);
      return answer.ok ? answer.text() : String(answer.status);
    }),
  );
/** Resolves once a box has noted that it has met others. */
const untilMet = (dataDir: string): Promise<void> =>
  expect.poll(() => readFileSync(join(dataDir, 'attendance.json'), 'utf8'), patience).toMatch(/"met":\s*\{/);
/** Resolves once a box has noted that it was there at a time of the site. */
const untilNoted = (dataDir: string, time: number): Promise<void> => {
  const noted = () => [...readFileSync(join(dataDir, 'attendance.json'), 'utf8').matchAll(/"until":(\d+)/g)];
  return expect.poll(() => Math.max(0, ...noted().map(([, at]) => Number(at))), patience).toBeGreaterThan(time - DAY);
};
const lostAt = async (box: TestService): Promise<string[]> =>
  ((await (await box.get('/healthz')).json()) as Health).replication.lostUploads;

describe.each(withAndWithoutSecret)('%s, a box that was away for', (_, given) => {
  const env = secretSettings(given);
  let time = Date.now();

  const request = (box: TestService, method: 'PUT' | 'DELETE', name: string, body = '') => {
    const path = `/api/media/${name}`;
    const headers = given && signRequest({ secret: given, method, url: box.url + path, body, now: time });
    return box.get(path, { method, ...(headers && { headers }), ...(method === 'PUT' && { body }) });
  };

  /** A site of one box, another box that was away from it for so many days, and what that box has kept beside. */
  const afterDays = async (days: number, clockOfOther: (time: number, leftAt: number) => number = (time) => time) => {
    time = Date.now();
    const leftAt = time;
    const wall = () => time;
    const [siteDir, awayDir] = [temporaryFolder(), temporaryFolder()];
    const start = () => startBox([], { content, env, wall, dataDir: siteDir });
    let site = await start();
    const away = await startBox([site], { content, env, wall, dataDir: awayDir });
    await untilTogether([site, away]);
    for (const name of ['deleted.txt', 'kept.txt', 'replaced.txt', 'unused.txt']) {
      expect((await request(away, 'PUT', name, `first ${name}`)).status).toBe(201);
    }
    const first = ['first deleted.txt', 'first kept.txt', 'first replaced.txt', '404'];
    await expect.poll(() => servedBy(site), patience).toEqual([...first, '404']);
    for (const dir of [siteDir, awayDir]) await untilMet(dir);
    await away.close();
    expect((await request(site, 'DELETE', 'deleted.txt')).status).toBe(204);
    expect((await request(site, 'PUT', 'replaced.txt', 'second')).status).toBe(201);
    // The site goes on, and forgets the deletion in time.
    for (const part of [days / 2, days / 2]) {
      await site.close();
      const records = readdirSync(siteDir).filter((name) => name.startsWith('deleted-media.json'));
      if (days > 400) for (const name of records) rmSync(join(siteDir, name));
      time += part * DAY;
      site = await start();
      await untilNoted(siteDir, time);
    }
    expect((await request(site, 'PUT', 'new.txt', 'new')).status).toBe(201);
    const back = await startBox([site], { content, env, dataDir: awayDir, wall: () => clockOfOther(time, leftAt) });
    await untilTogether([site, back]);
    return { site, back, awayDir };
  };
  const everywhere = async (boxes: TestService[], expected: string[]): Promise<void> => {
    for (const box of boxes)
      await expect.poll(async () => (await servedBy(box)).slice(0, 4), patience).toEqual(expected);
  };

  test('401 days brings nothing back, has what the site has, and keeps beside what the site has not', {
    timeout: 60_000,
  }, async () => {
    const { site, back, awayDir } = await afterDays(401);
    const list = ['404', 'first kept.txt', 'second', 'new'];
    await everywhere([back, site], list);
    await expect.poll(async () => (await lostAt(back)).length, patience).toBe(3);
    const folder = join(awayDir, 'uploads', '.lost');
    const kept = readdirSync(folder).map((name) => [
      name.replace(/^\w+-/, ''),
      readFileSync(join(folder, name), 'utf8'),
    ]);
    expect(kept.toSorted()).toEqual(
      ['deleted.txt', 'replaced.txt', 'unused.txt'].map((name) => [name, `first ${name}`]),
    );
    expect(await lostAt(site)).toEqual([]);
    // From now on it merges again.
    expect((await request(back, 'PUT', 'deleted.txt', 'third')).status).toBe(201);
    await everywhere([site, back], ['third', ...list.slice(1)]);
  });

  test('399 days learns of the deletion, and keeps what it alone has', { timeout: 60_000 }, async () => {
    const { site, back, awayDir } = await afterDays(399);
    await everywhere([back, site], ['404', 'first kept.txt', 'second', 'new']);
    expect((await servedBy(back)).at(-1)).toBe('first unused.txt');
    expect(existsSync(join(awayDir, 'uploads', 'unused.txt'))).toBe(true);
  });

  // With a secret, requests of a box whose clock is behind are stale.
  if (given === null)
    test('401 days, with a clock that stood still meanwhile, brings nothing back', { timeout: 60_000 }, async () => {
      const { site, back } = await afterDays(401, (_, leftAt) => leftAt + 5_000);
      await everywhere([back, site], ['404', 'first kept.txt', 'second', 'new']);
    });

  test('10 days, with a clock of 2038, loses nothing', { timeout: 60_000 }, async () => {
    const { site, back } = await afterDays(10, () => Date.UTC(2038, 0, 19));
    await everywhere([back, site], ['404', 'first kept.txt', 'second', 'new']);
    expect((await servedBy(back)).at(-1)).toBe('first unused.txt');
  });

  // With a secret, a box whose clock was set back takes no requests of others until it is right.
  if (given === null)
    test('401 days, with a clock that is not set, brings nothing back', { timeout: 60_000 }, async () => {
      const { site, back } = await afterDays(401, () => 0);
      await everywhere([back, site], ['404', 'first kept.txt', 'second', 'new']);
    });
});

test('a box that starts with a clock 500 days ahead deletes nothing for its age', { timeout: 60_000 }, async () => {
  const dataDir = temporaryFolder();
  const first = await startBox([], { content, dataDir });
  await first.get('/api/media/deleted.txt', { method: 'PUT', body: 'first' });
  expect((await first.get('/api/media/deleted.txt', { method: 'DELETE' })).status).toBe(204);
  await first.close();
  const lost = '20261122T101530123Z-hall.jpg';
  mkdirSync(join(dataDir, 'uploads', '.lost'), { recursive: true });
  writeFileSync(join(dataDir, 'uploads', '.lost', lost), 'lost');
  const again = await startBox([], { content, dataDir, wall: () => Date.now() + 500 * DAY });
  const isEstablished = async () => ((await (await again.get('/healthz')).json()) as Health).sync.established;
  await expect.poll(isEstablished, patience).toBe(true);
  expect(await lostAt(again)).toEqual([lost]);
  await again.get('/api/media/another.txt', { method: 'PUT', body: 'first' });
  expect((await again.get('/api/media/another.txt', { method: 'DELETE' })).status).toBe(204);
  expect(readFileSync(join(dataDir, 'deleted-media.json'), 'utf8')).toContain('deleted.txt');
});
