/** Delivery of plays to a receiver that is not always there. */
import { hkdfSync } from 'node:crypto';
import { mkdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Play } from '../../../service/contract/plays.ts';
import { pauseAfter } from '../../../service/records/webhook.ts';
import { defaultTempo } from '../../../service/tempo.ts';
import { lobby } from '../../content/samples.ts';
import { healthOf, patience } from '../../support/observe.ts';
import { joinScreen } from '../../support/page.ts';
import { startTestService, temporaryFolder } from '../../support/service.ts';
import { repeats } from '../../support/soak.ts';
import { testTempo } from '../../support/tempo.ts';
import { startReceiver } from '../receiver.ts';
import { idsOf, playAgo, readPlays, report, reportTo } from './pages.ts';

const webhookSecret = `whsec_${Buffer.from('a key of twenty-four bytes!').toString('base64')}`;
const kills = repeats(8, 200, 'SIGNAGE_TEST_RECEIVER_KILLS');

test('plays are posted in batches, signed by Standard Webhooks', async () => {
  const receiver = await startReceiver<Play[]>();
  const service = await startTestService({
    content: lobby,
    env: { SIGNAGE_PLAYS_URL: receiver.url, SIGNAGE_WEBHOOK_SECRET: webhookSecret },
  });
  const plays = [playAgo(20), playAgo(10)];
  await reportTo(service, plays);
  await expect.poll(() => receiver.received.flatMap(({ body }) => idsOf(body)), patience).toEqual(idsOf(plays));
  const [{ headers, text, body } = receiver.received[0] as never] = receiver.received;
  expect(body).toEqual(await readPlays(service));
  expect(headers['content-type']).toBe('application/json');
  expect(() => new Webhook(webhookSecret).verify(text, headers as Record<string, string>)).not.toThrow();
  expect((await healthOf(service)).warnings).toEqual([]);
});

test('without a key of its own the shared secret signs, and with neither nothing does, of which the health warns', async () => {
  const receiver = await startReceiver<Play[]>();
  const secret = 'a secret of 26 characters!';
  const bare = await startTestService({ content: lobby, env: { SIGNAGE_PLAYS_URL: receiver.url } });
  await reportTo(bare, [playAgo(10)]);
  await expect.poll(() => receiver.received.length, patience).toBe(1);
  expect(receiver.received[0]?.headers['webhook-signature']).toBeUndefined();
  expect((await healthOf(bare)).warnings).toEqual([expect.stringMatching(/SIGNAGE_WEBHOOK_SECRET/)]);
  await bare.close();

  const dataDir = temporaryFolder();
  const open = await startTestService({ dataDir, content: lobby });
  await reportTo(open, [playAgo(5)]);
  await open.close();
  // What was kept before there was a receiver is delivered too.
  await startTestService({ dataDir, env: { SIGNAGE_PLAYS_URL: receiver.url, SIGNAGE_SHARED_SECRET: secret } });
  await expect.poll(() => receiver.received.length, patience).toBe(2);
  const key = new Uint8Array(hkdfSync('sha256', secret, '', 'signage-webhook-v1', 32));
  const { text = '', headers = {} } = receiver.received[1] ?? {};
  expect(() => new Webhook(key, { format: 'raw' }).verify(text, headers as Record<string, string>)).not.toThrow();
});

test(`a receiver that is killed ${kills} times gets every play, and each repeat has the id of the first`, {
  timeout: 60_000 + kills * 5_000,
}, async () => {
  const receiver = await startReceiver<Play[]>();
  const service = await startTestService({ content: lobby, env: { SIGNAGE_PLAYS_URL: receiver.url } });
  const page = await joinScreen(service, 'lobby');
  const reported: string[] = [];
  for (let round = 0; round < kills; round += 1) {
    const plays = Array.from({ length: 5 }, () => playAgo(10));
    await report(page, plays);
    reported.push(...idsOf(plays));
    await pause(300 * ((round * 0.618) % 1));
    await receiver.stop();
    await pause(50);
    await receiver.start();
  }
  const received = () => new Set(receiver.received.flatMap(({ body }) => idsOf(body)));
  await expect.poll(() => reported.filter((id) => !received().has(id)), patience).toEqual([]);
  const bodies = new Map<string, string>();
  for (const { headers, text } of receiver.received) {
    const id = String(headers['webhook-id']);
    expect(bodies.get(id) ?? text).toBe(text);
    bodies.set(id, text);
  }
});

test('an error or a redirect is tried again, and nothing is lost meanwhile, a restart included', async () => {
  const receiver = await startReceiver<Play[]>();
  const dataDir = temporaryFolder();
  const env = { SIGNAGE_PLAYS_URL: receiver.url, SIGNAGE_WEBHOOK_SECRET: webhookSecret };
  let asked = 0;
  receiver.refuseWith((_, response) => {
    asked += 1;
    response.writeHead(asked % 2 === 0 ? 500 : 302, { Location: 'http://127.0.0.1:9/' }).end();
  });
  const first = await startTestService({ dataDir, content: lobby, env });
  const play = playAgo(10);
  await reportTo(first, [play]);
  await expect.poll(() => asked, patience).toBeGreaterThanOrEqual(2);
  expect((await healthOf(first)).warnings).toEqual([
    expect.stringMatching(/^Plays cannot be delivered: the receiver answers/),
  ]);
  await first.close();
  receiver.refuseWith(null);
  const second = await startTestService({ dataDir, env });
  await expect.poll(() => receiver.received.map(({ body }) => idsOf(body)), patience).toEqual([[play.play_id]]);
  const saved = () => readFileSync(join(dataDir, 'plays.json'), 'utf8');
  await expect.poll(saved, patience).toMatch(/"delivered":\s*{\s*"webhook":\s*[1-9]/);
  await second.close();
  // What was delivered is not delivered again.
  await startTestService({ dataDir, env });
  await pause(300);
  expect(receiver.received).toHaveLength(1);
});

test('a receiver that takes the plays and never answers gets the same message again', async () => {
  const receiver = await startReceiver<Play[]>();
  let asked: { at: number; id: unknown } | undefined;
  receiver.refuseWith(({ headers }) => {
    asked = { at: performance.now(), id: headers['webhook-id'] };
    receiver.refuseWith(null);
  });
  const service = await startTestService({ content: lobby, env: { SIGNAGE_PLAYS_URL: receiver.url } });
  const play = playAgo(10);
  await reportTo(service, [play]);
  await expect.poll(() => receiver.received.map(({ body }) => idsOf(body)), patience).toEqual([[play.play_id]]);
  expect(performance.now() - (asked?.at ?? 0)).toBeGreaterThan(testTempo.records.answer - 10);
  expect(receiver.received[0]?.headers['webhook-id']).toBe(asked?.id);
}, 60_000);

test('plays that cannot be read for a while are delivered afterwards', async () => {
  const receiver = await startReceiver<Play[]>();
  const env = { SIGNAGE_PLAYS_URL: receiver.url, SIGNAGE_WEBHOOK_SECRET: webhookSecret };
  const service = await startTestService({ content: lobby, env });
  const page = await joinScreen(service, 'lobby');
  const [first, later] = [playAgo(20, { clock: 'untrusted' }), playAgo(10, { clock: 'untrusted' })];
  const received = () => receiver.received.flatMap(({ body }) => idsOf(body));
  const warnings = async () => (await healthOf(service)).warnings;
  await report(page, [first]);
  await expect.poll(received, patience).toEqual([first.play_id]);
  const path = join(service.dataDir, 'plays', 'undated.others.jsonl');
  renameSync(path, `${path}.aside`);
  mkdirSync(path);
  await report(page, [later]);
  const said = 'Plays cannot be delivered: those that are kept cannot be read (EISDIR).';
  await expect.poll(warnings, patience).toEqual([said]);
  rmdirSync(path);
  renameSync(`${path}.aside`, path);
  await expect.poll(received, patience).toEqual(idsOf([first, later]));
  await expect.poll(warnings, patience).toEqual([]);
}, 60_000);

test('more plays than fit are posted in batches of 500, with the user and password of the address', async () => {
  const receiver = await startReceiver<Play[]>();
  const dataDir = temporaryFolder();
  const plays = Array.from({ length: 1_020 }, () => playAgo(10));
  mkdirSync(join(dataDir, 'plays'));
  const lines = plays.map((play) => `${JSON.stringify(play)}\n`).join('');
  writeFileSync(join(dataDir, 'plays', `${plays[0]?.started_at.slice(0, 10)}.jsonl`), lines);
  const url = receiver.url.replace('//', '//plays:p%40ss@');
  await startTestService({ dataDir, env: { SIGNAGE_PLAYS_URL: url } });
  await expect.poll(() => receiver.received.map(({ body }) => body.length), patience).toEqual([500, 500, 20]);
  expect(new Set(receiver.received.flatMap(({ body }) => idsOf(body)))).toEqual(new Set(idsOf(plays)));
  expect(receiver.received[0]?.headers.authorization).toBe(`Basic ${Buffer.from('plays:p@ss').toString('base64')}`);
});

test('a receiver that finds a message too large gets smaller ones', async () => {
  const most = 100 * 1024;
  const receiver = await startReceiver<Play[]>();
  receiver.refuseWith(({ headers }, response) => {
    const isTooLarge = Number(headers['content-length']) > most;
    response.writeHead(isTooLarge ? 413 : 503).end();
    if (!isTooLarge) receiver.refuseWith(null);
  });
  const dataDir = temporaryFolder();
  const plays = Array.from({ length: 1_020 }, () => playAgo(10));
  mkdirSync(join(dataDir, 'plays'));
  const lines = plays.map((play) => `${JSON.stringify(play)}\n`).join('');
  writeFileSync(join(dataDir, 'plays', `${plays[0]?.started_at.slice(0, 10)}.jsonl`), lines);
  await startTestService({ dataDir, env: { SIGNAGE_PLAYS_URL: receiver.url } });
  await expect.poll(() => receiver.received.flatMap(({ body }) => idsOf(body)), patience).toEqual(idsOf(plays));
  expect(receiver.received.filter(({ text }) => text.length > most)).toEqual([]);
});

test('the pauses double from 1 s to 60 s, a fifth more or less', () => {
  expect([1, 2, 3, 7, 100].map((failures) => pauseAfter(defaultTempo.records, failures, 0.5))).toEqual([
    1_000, 2_000, 4_000, 60_000, 60_000,
  ]);
  expect(pauseAfter(defaultTempo.records, 1, 0)).toBe(800);
  expect(pauseAfter(defaultTempo.records, 1, 0.999)).toBeLessThan(1_200);
});
