/** A deleted medium is gone at the whole site and stays gone; an upload that loses is kept beside for 30 days. */
import { execFileSync } from 'node:child_process';
import {
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmdirSync,
  utimesSync,
  writeFileSync,
} from 'node:fs';
import { join } from 'node:path';
import { describe, expect, onTestFinished, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { Health, ReplicationHealth } from '../../service/contract/health.ts';
import { createLostUploads } from '../../service/media/lost.ts';
import { unseal } from '../../service/platform/store/adapter.ts';
import { lobbyWith } from '../content/samples.ts';
import { mediaContext } from '../media/context.ts';
import { patience } from '../support/observe.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { secret, secretModes, startBox, untilTogether } from './support.ts';

const DAY = 86_400_000;
const showing = (...names: string[]) =>
  lobbyWith(names.map((name) => ({ kind: 'image', media_url: `/media/${encodeURIComponent(name)}` })));
const content = showing('notice.txt');

/** Requests for media, signed where there is a secret. */
const request = (box: TestService, method: 'PUT' | 'DELETE', name: string, body = '', now = Date.now()) => {
  const path = `/api/media/${encodeURIComponent(name)}`;
  const headers = signRequest({ secret, method, url: box.url + path, body, now });
  return box.get(path, { method, headers, ...(method === 'PUT' && { body }) });
};
const served = async (box: TestService, name = 'notice.txt'): Promise<string> => {
  const answer = await box.get(`/media/${encodeURIComponent(name)}`);
  return answer.ok ? answer.text() : String(answer.status);
};
const replicationOf = async (box: TestService): Promise<ReplicationHealth> =>
  ((await (await box.get('/healthz')).json()) as Health).replication;
const everywhere = async (boxes: readonly TestService[], expected: string): Promise<void> => {
  for (const box of boxes) await expect.poll(() => served(box), patience).toBe(expected);
};
/** Waits until all boxes have nothing left to exchange. */
const untilSettled = async (boxes: readonly TestService[]): Promise<void> => {
  const missing = async (box: TestService) => (await replicationOf(box)).media.missing.map(({ reason }) => reason);
  for (const box of boxes) await expect.poll(() => missing(box), patience).toEqual(['no box has it']);
};

describe.each(secretModes)('a deletion, %s', (_, env) => {
  test('at any box is one at the whole site, and a box that was away does not bring the medium back', {
    timeout: 60_000,
  }, async () => {
    const awayDir = temporaryFolder();
    const away = await startBox([], { content, env, dataDir: awayDir });
    const first = await startBox([away], { content, env });
    const second = await startBox([away, first], { content, env });
    expect((await request(away, 'PUT', 'notice.txt', 'first')).status).toBe(201);
    await everywhere([away, first, second], 'first');
    await away.close();

    // This box has a copy alone.
    expect((await request(second, 'DELETE', 'notice.txt')).status).toBe(204);
    await everywhere([first, second], '404');
    expect((await request(first, 'DELETE', 'notice.txt')).status).toBe(404);

    const back = await startBox([first, second], { content, env, dataDir: awayDir });
    await everywhere([back], '404');
    await untilTogether([first, second, back]);
    await untilSettled([first, second, back]);
    expect(existsSync(join(awayDir, 'uploads', 'notice.txt'))).toBe(false);
    // What was deleted was known to the byte, so that nothing is kept.
    expect((await replicationOf(back)).lostUploads).toEqual([]);

    expect((await request(back, 'PUT', 'notice.txt', 'second')).status).toBe(201);
    await everywhere([first, second, back], 'second');
  });
});

test('a medium that another box has, and this one has not, is deleted too', async () => {
  const one = await startBox([], { content });
  const other = await startBox([one], { content });
  await untilTogether([one, other]);
  expect((await request(one, 'PUT', 'unused.txt', 'x')).status).toBe(201);
  await expect
    .poll(async () => (await request(other, 'DELETE', 'unused.txt')).status, { ...patience, interval: 250 })
    .toBe(204);
  await expect.poll(() => served(one, 'unused.txt'), patience).toBe('404');
});

test('deletions that a box missed are carried out in a few writes, however many they are', async () => {
  const [oneDir, otherDir] = [temporaryFolder(), temporaryFolder()];
  const names = Array.from({ length: 40 }, (_, n) => `${n}.txt`);
  for (const folder of [oneDir, otherDir]) {
    mkdirSync(join(folder, 'uploads'));
    for (const name of names) writeFileSync(join(folder, 'uploads', name), name);
  }
  const one = await startBox([], { content, dataDir: oneDir });
  for (const name of names) expect((await request(one, 'DELETE', name)).status).toBe(204);
  const other = await startBox([one], { content, dataDir: otherDir });
  const here = () => readdirSync(join(otherDir, 'uploads')).filter((name) => name.endsWith('.txt'));
  await expect.poll(here, patience).toEqual([]);
  await other.close();
  const { seq, body } = unseal(readFileSync(join(otherDir, 'deleted-media.json')));
  expect(body).toMatchObject({ due: [] });
  expect(seq).toBeLessThan(10);
});

test('a file that the system does not remove is deleted at the whole site (needs the right to mount)', async ({
  skip,
}) => {
  const dataDir = temporaryFolder();
  const file = join(dataDir, 'uploads', 'notice.txt');
  mkdirSync(join(dataDir, 'uploads'));
  writeFileSync(file, 'busy');
  try {
    execFileSync('mount', ['--bind', file, file], { stdio: 'ignore' });
  } catch {
    return skip();
  }
  onTestFinished(() => void execFileSync('umount', ['--lazy', file]));
  const one = await startBox([], { content, dataDir });
  const other = await startBox([one], { content });
  await everywhere([one, other], 'busy');
  expect((await request(one, 'DELETE', 'notice.txt')).status).toBe(204);
  await everywhere([other], '404');
});

test('a file that is put into the folder by hand after a deletion is a new one, however old it is', async () => {
  const dataDir = temporaryFolder();
  const first = await startBox([], { content, dataDir });
  const other = await startBox([first], { content });
  expect((await request(first, 'PUT', 'notice.txt', 'first')).status).toBe(201);
  await everywhere([first, other], 'first');
  expect((await request(other, 'DELETE', 'notice.txt')).status).toBe(204);
  await everywhere([first, other], '404');
  await first.close();
  const file = join(dataDir, 'uploads', 'notice.txt');
  writeFileSync(file, 'by hand');
  utimesSync(file, new Date(0), new Date(0));
  const one = await startBox([other], { content, dataDir });
  await everywhere([one, other], 'by hand');
});

test('a medium that is deleted while the disk of the uploads is away is not there when that is back', async () => {
  const box = await startBox([], { content });
  const [uploads, away] = ['uploads', 'away'].map((name) => join(box.dataDir, name)) as [string, string];
  expect((await request(box, 'PUT', 'notice.txt', 'first')).status).toBe(201);
  renameSync(uploads, away);
  mkdirSync(uploads);
  const deleted = [{ name: 'notice.txt', deletedAt: new Date().toISOString(), sha256: null }];
  expect((await box.post('/api/peers/deletions', { deleted })).status).toBe(200);
  const due = () => (unseal(readFileSync(join(box.dataDir, 'deleted-media.json'))).body as { due: string[] }).due;
  await expect.poll(due, patience).toEqual([]);
  rmdirSync(uploads);
  renameSync(away, uploads);
  // Folders are read when the content changes.
  box.writeContent(showing('notice.txt', 'other.txt'));
  await everywhere([box], '404');
});

test('an upload that loses is kept beside for 30 days, takes nothing of the quota, and is not deleted by a wrong clock', {
  ...walk,
  timeout: 60_000,
}, async () => {
  const dataDir = temporaryFolder();
  const loser = await startBox([], { content, dataDir });
  const winner = await startBox([], { content });
  expect((await request(loser, 'PUT', 'notice.txt', 'older')).status).toBe(201);
  expect((await request(winner, 'PUT', 'notice.txt', 'newer')).status).toBe(201);
  const bridge = await startBox([loser, winner], { content });
  await everywhere([loser, winner, bridge], 'newer');

  const folder = join(dataDir, 'uploads', '.lost');
  await expect.poll(async () => (await replicationOf(loser)).lostUploads, patience).toHaveLength(1);
  const [name = ''] = readdirSync(folder);
  expect(name).toMatch(/^\d{8}T\d{9}Z-notice\.txt$/);
  expect(readFileSync(join(folder, name), 'utf8')).toBe('older');
  expect((await replicationOf(winner)).lostUploads).toEqual([]);
  const used = async (box: TestService) => (await (await box.get('/console/api/media')).json()).used_bytes;
  expect((await used(loser)) - (await used(winner))).toBe(0);
  await loser.close();

  /** Whether it is still there after a start at that time. */
  const isKeptAt = async (time: number): Promise<boolean> => {
    const box = await startBox([], { dataDir, wall: () => time });
    await box.close();
    return existsSync(join(folder, name));
  };
  expect(await isKeptAt(Date.now() + 29 * DAY)).toBe(true);
  expect(await isKeptAt(0)).toBe(true);
  // The clock may be ahead at the start.
  expect(await isKeptAt(Date.now() + 31 * DAY)).toBe(true);
  await createLostUploads({ ...mediaContext(dataDir), now: () => Date.now() + 31 * DAY }).prune();
  expect(readdirSync(folder)).toEqual([]);
});

test('an upload that was made apart, before its name was deleted elsewhere, is kept beside', async () => {
  const apart = await startBox([], { content });
  expect((await request(apart, 'PUT', 'notice.txt', 'made apart')).status).toBe(201);
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'uploads'));
  const other = await startBox([], { content, dataDir: folder });
  expect((await request(other, 'PUT', 'notice.txt', 'other')).status).toBe(201);
  expect((await request(other, 'DELETE', 'notice.txt')).status).toBe(204);
  const bridge = await startBox([apart, other], { content });
  await everywhere([apart, other, bridge], '404');
  await expect.poll(async () => (await replicationOf(apart)).lostUploads, patience).toHaveLength(1);
});
