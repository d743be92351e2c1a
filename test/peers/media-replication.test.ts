/** Every box has the media that the content names, with the same bytes under one name. */
import { randomBytes } from 'node:crypto';
import { existsSync, mkdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from 'vitest';
import { signRequest } from '../../service/auth/sign.ts';
import type { ReplicationHealth } from '../../service/contract/health.ts';
import { lobbyWith } from '../content/samples.ts';
import { itBrowser } from '../support/browser.ts';
import { putImage, type Rgb } from '../support/media.ts';
import { patience } from '../support/observe.ts';
import { joinScreen } from '../support/page.ts';
import { openPlayer, waitForColour } from '../support/player.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';
import { secret, startBox, startSite } from './support.ts';

const red: Rgb = [200, 30, 30];
const green: Rgb = [30, 160, 60];

const mediaOf = async (box: TestService): Promise<ReplicationHealth['media']> =>
  (await (await box.get('/healthz')).json()).replication.media;

const upload = async (box: TestService, name: string, body: Buffer | string): Promise<void> => {
  const path = `/api/media/${encodeURIComponent(name)}`;
  const headers = signRequest({ secret, method: 'PUT', url: box.url + path, body });
  const answer = await box.get(path, { method: 'PUT', body: body as BodyInit, headers });
  expect(answer.ok).toBe(true);
};
/** Boxes that compare what they have so seldom that a file arrives by the announcement of it alone. */
const startAnnouncing = () =>
  startSite({
    content: showing('notice.txt'),
    tempo: { ...testTempo, peers: { ...testTempo.peers, gossip: 60_000, scan: 60_000 } },
  });
const served = async (box: TestService, name: string): Promise<string> => {
  const answer = await box.get(`/media/${encodeURIComponent(name)}`);
  return answer.ok ? answer.text() : String(answer.status);
};
const showing = (...names: string[]) =>
  lobbyWith(names.map((name) => ({ kind: 'image', media_url: `/media/${encodeURIComponent(name)}` })));

/** A picture of one colour, as bytes. */
const pictureOf = (colour: Rgb): Buffer => {
  const folder = temporaryFolder();
  putImage(folder, 'picture.png', colour);
  return readFileSync(join(folder, 'uploads', 'picture.png'));
};

itBrowser(
  'a fourth, empty box plays the content of the site with its media',
  { ...walk, timeout: 60_000 },
  async () => {
    const env = { SIGNAGE_SHARED_SECRET: secret };
    const [one, two, three] = await startSite({ env, content: showing('picture.png') }, 1);
    const others = Array.from({ length: 30 }, (_, n) => `file ${n} ä.bin`);
    for (const name of others) await upload(two, name, randomBytes(64 * 1024));
    await upload(one, 'picture.png', pictureOf(red));
    two.writeContent(showing('picture.png', ...others));
    await expect.poll(() => mediaOf(three as TestService), patience).toMatchObject({ named: 31, here: 31 });

    const startedAt = performance.now();
    const dataDir = temporaryFolder();
    const four = await startTestService({ dataDir, env: { ...env, SIGNAGE_PEERS: one.url } });
    const page = await openPlayer(four, 'lobby');
    await waitForColour(page, red);
    const shownAt = performance.now();
    await expect.poll(() => mediaOf(four), patience).toEqual({ named: 31, here: 31, missing: [] });
    const [shown, whole] = [shownAt - startedAt, performance.now() - startedAt].map(Math.round);
    console.log(`an empty box shows the site's picture after ${shown} ms, and has its 2 MiB after ${whole} ms`);
    const [last = ''] = others.slice(-1);
    expect(await served(four, last)).toBe(await served(two, last));
  },
);

test('a medium that is uploaded after it was named reaches every box, wherever it is uploaded', async () => {
  const boxes = await startSite({ content: showing('notice.txt') }, 1);
  await expect
    .poll(() => mediaOf(boxes[1]), patience)
    .toEqual({ named: 1, here: 0, missing: [{ name: 'notice.txt', size: null, reason: 'no box has it' }] });
  const page = await joinScreen(boxes[1], 'lobby');
  await upload(boxes[2] as TestService, 'notice.txt', 'first');
  for (const box of boxes) await expect.poll(() => served(box, 'notice.txt'), patience).toBe('first');
  await page.message(({ type }) => type === 'media');
  expect(page.messages.filter(({ type }) => type === 'command')).toEqual([]);
});

test('bytes that a box once fetched are announced when they are uploaded there again', async () => {
  const boxes = await startAnnouncing();
  const uploads = [
    [boxes[0], 'first'],
    [boxes[0], 'second'],
    [boxes[1], 'first'],
    [boxes[0], 'second'],
  ] as const;
  for (const [at, text] of uploads) {
    await upload(at, 'notice.txt', text);
    for (const box of boxes) await expect.poll(() => served(box, 'notice.txt'), patience).toBe(text);
  }
});

test.each([
  ['first had', 0],
  ['fetched', 1],
])('bytes that a box %s are announced when they are uploaded there while another one deletes them', async (_, at) => {
  const boxes = await startAnnouncing();
  await upload(boxes[0], 'notice.txt', 'first');
  for (const box of boxes) await expect.poll(() => served(box, 'notice.txt'), patience).toBe('first');
  const [keeper, other] = at === 0 ? boxes : [boxes[1], boxes[0]];
  const deleted = await other.get('/api/media/notice.txt', { method: 'DELETE' });
  expect(deleted.status).toBe(204);
  await upload(keeper, 'notice.txt', 'first');
  for (const box of boxes) await expect.poll(() => served(box, 'notice.txt'), patience).toBe('first');
});

itBrowser('a page that waited for a medium shows it when it has come', { timeout: 60_000 }, async () => {
  const [one, other] = await startSite({ content: showing('picture.png') });
  const page = await openPlayer(other, 'lobby');
  await expect.poll(() => other.log(), patience).toContain('picture.png answers 404');
  await upload(one, 'picture.png', pictureOf(green));
  await waitForColour(page, green);
});

test('a later upload replaces one that a wrong clock dated an hour ahead', async () => {
  const folder = temporaryFolder();
  const file = join(folder, 'uploads', 'notice.txt');
  mkdirSync(join(folder, 'uploads'));
  writeFileSync(file, 'first');
  const ahead = new Date(Date.now() + 3_600_000);
  utimesSync(file, ahead, ahead);
  const one = await startTestService({ dataDir: folder, content: showing('notice.txt') });
  const other = await startBox([one], { content: showing('notice.txt') });
  await expect.poll(() => served(other, 'notice.txt'), patience).toBe('first');
  await upload(other, 'notice.txt', 'second');
  for (const box of [one, other]) await expect.poll(() => served(box, 'notice.txt'), patience).toBe('second');
  await upload(one, 'notice.txt', 'third');
  for (const box of [one, other]) await expect.poll(() => served(box, 'notice.txt'), patience).toBe('third');
});

test('of two uploads of one name to separated boxes the newer one is on every box afterwards', async () => {
  const content = showing('notice.txt');
  const [one, other] = [await startBox([], { content }), await startBox([], { content })];
  await upload(one, 'notice.txt', 'older');
  await upload(other, 'notice.txt', 'newer');
  const bridge = await startBox([one, other], { content });
  for (const box of [one, other, bridge]) await expect.poll(() => served(box, 'notice.txt'), patience).toBe('newer');
  expect(existsSync(join(one.dataDir, 'uploads', 'notice.txt'))).toBe(false);
});

test('a file that another box alone has is there for an upload', async () => {
  const [one, other] = await startSite();
  await upload(one, 'notice.txt', 'first');
  const put = async (name: string, headers = {}) =>
    (await other.get(`/api/media/${name}`, { method: 'PUT', body: 'second', headers })).status;
  const onlyNew = { 'If-None-Match': '*' };
  expect(await put('notice.txt', onlyNew)).toBe(412);
  expect(await put('notice.txt')).toBe(200);
  expect(await put('new.txt', onlyNew)).toBe(201);
});

test('an upload evicts copies that the content no longer names, and no files that were put there by hand', async () => {
  const env = { SIGNAGE_MEDIA_QUOTA_BYTES: String(4 * 1024 ** 2) };
  const [one, other] = await startSite({ env, content: showing('old.bin') });
  await upload(one, 'old.bin', randomBytes(2 * 1024 ** 2));
  await expect.poll(() => mediaOf(other), patience).toMatchObject({ here: 1 });
  const byHand = join(other.dataDir, 'media', 'by hand.bin');
  writeFileSync(byHand, randomBytes(1024 ** 2));
  one.writeContent(showing('new.bin'));
  await expect.poll(() => mediaOf(other), patience).toMatchObject({ named: 1, here: 0 });
  const path = '/api/media/new.bin';
  // More than is left, whether or not the file put there by hand was noticed yet.
  const body = randomBytes(2.5 * 1024 ** 2);
  expect((await other.get(path, { method: 'PUT', body })).status).toBe(201);
  expect(existsSync(join(other.dataDir, 'media', 'old.bin'))).toBe(false);
  expect(existsSync(byHand)).toBe(true);
  // The box of the upload still has it.
  expect(existsSync(join(one.dataDir, 'uploads', 'old.bin'))).toBe(true);
});

test('files that were put into the folder by hand are replicated too', async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, 'uploads'));
  writeFileSync(join(folder, 'uploads', 'by hand.txt'), 'by hand');
  const one = await startTestService({ dataDir: folder, content: showing('by hand.txt') });
  const other = await startTestService({ env: { SIGNAGE_PEERS: one.url } });
  await expect.poll(() => served(other, 'by hand.txt'), patience).toBe('by hand');
});
