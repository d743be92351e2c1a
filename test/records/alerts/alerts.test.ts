/** Alerts, from the outage to the receiver. */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { Webhook } from 'standardwebhooks';
import { expect, test } from 'vitest';
import type { Alert } from '../../../service/contract/alerts.ts';
import type { PeerState } from '../../../service/contract/peers.ts';
import { lobby, lobbyWith } from '../../content/samples.ts';
import { peersOf, postTo, startBox, startSite, untilTogether } from '../../peers/support.ts';
import { healthOf, patience } from '../../support/observe.ts';
import { joinScreen } from '../../support/page.ts';
import { startTestService, type TestService, temporaryFolder } from '../../support/service.ts';
import { mountSmallDisk } from '../../support/small-disk.ts';
import { walk } from '../../support/soak.ts';
import { testTempo } from '../../support/tempo.ts';
import { startReceiver } from '../receiver.ts';

const webhookSecret = `whsec_${Buffer.from('a key of twenty-four bytes!').toString('base64')}`;

const startAlerting = async ({
  grace = 1,
  ...more
}: { grace?: number } & Parameters<typeof startTestService>[0] = {}) => {
  const receiver = await startReceiver<Alert>();
  const env = {
    SIGNAGE_ALERT_URL: receiver.url,
    SIGNAGE_ALERT_GRACE_SECONDS: `${grace}`,
    SIGNAGE_WEBHOOK_SECRET: webhookSecret,
    ...more.env,
  };
  const service = await startTestService({ content: lobby, ...more, env });
  const types = () => receiver.received.map(({ body }) => body.type);
  return { receiver, service, types };
};

const bind = (service: Pick<TestService, 'url' | 'post'>, deviceId = 'device-1') =>
  postTo(service, '/api/onboarding', { deviceId, clientName: 'Door', screenSlug: 'lobby' });

test('a device that is away raises one alert, and one when it is back', async () => {
  const { receiver, service, types } = await startAlerting({ env: { SIGNAGE_SITE: 'museum' } });
  await bind(service);
  const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  const leftAt = Date.now();
  page.socket.terminate();
  await expect.poll(types, patience).toEqual(['device.away']);
  const [{ text, headers, body } = {} as never] = receiver.received;
  expect(body).toEqual({
    type: 'device.away',
    at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
    site: 'museum',
    subject: 'device-1',
    message: 'The device "Door" (device-1) of the screen "lobby" is away.',
  });
  expect(Math.abs(Date.parse(body.at) - leftAt)).toBeLessThan(5_000);
  expect(() => new Webhook(webhookSecret).verify(text, headers as Record<string, string>)).not.toThrow();
  await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  await expect.poll(types, patience).toEqual(['device.away', 'device.back']);
  expect(receiver.received[1]?.body.message).toBe('The device "Door" (device-1) of the screen "lobby" is back.');
});

test('a slide that a display passes over is said once, with its reason, and anew after it was shown', async () => {
  const slides = ['a', 'b'].map((id) => ({ kind: 'text', title: `Offer ${id}`, id }));
  const { receiver, service, types } = await startAlerting({ content: lobbyWith(slides) });
  const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  const fail = (slideId: string): void => page.send({ type: 'fault', slideId, reason: 'the film has no picture' });
  fail('a');
  fail('b');
  page.send({ type: 'state', currentSlide: 1, currentSlideId: 'b' });
  await expect.poll(types, patience).toEqual(['slide.failed']);
  expect(receiver.received[0]?.body).toMatchObject({
    subject: 'a',
    message: expect.stringMatching(
      /^The slide "Offer a" cannot be shown on the screen "lobby" by the box .*: the film has no picture\.$/,
    ),
  });
  page.send({ type: 'state', currentSlide: 0, currentSlideId: 'a' });
  await expect.poll(async () => (await healthOf(service)).pages[0]?.lastFault, patience).toBe(null);
  fail('b');
  await expect.poll(types, patience).toEqual(['slide.failed', 'slide.failed']);
  expect(receiver.received[1]?.body.subject).toBe('b');
  fail('a');
  await expect.poll(types, patience).toEqual(['slide.failed', 'slide.failed', 'slide.failed']);
  expect(receiver.received[2]?.body.subject).toBe('a');
});

test('invalid content and its repair raise an alert each; a restart in between repeats nothing', async () => {
  const dataDir = temporaryFolder();
  const { receiver, service } = await startAlerting({ dataDir });
  // One whose answer was cut off by the restart is sent once more, with the same id.
  const types = () => [
    ...new Map(receiver.received.map(({ headers, body }) => [headers['webhook-id'], body.type])).values(),
  ];
  service.writeContent('{');
  await expect.poll(types, patience).toEqual(['content.invalid']);
  await service.close();
  const env = { SIGNAGE_ALERT_URL: receiver.url, SIGNAGE_ALERT_GRACE_SECONDS: '0' };
  const second = await startTestService({ dataDir, env });
  await expect.poll(async () => (await healthOf(second)).content.status, patience).toBe('invalid');
  second.writeContent(lobby);
  await expect.poll(types, patience).toEqual(['content.invalid', 'content.valid']);
});

test('a first content.json that is not valid leaves nothing to play, and the message says so', async () => {
  const { receiver, service, types } = await startAlerting({ content: '{' });
  await expect.poll(types, patience).toEqual(['content.invalid']);
  expect(receiver.received[0]?.body.message).toMatch(
    /^content\.json on the box .* is not valid; there is nothing to play\.$/,
  );
  service.writeContent(lobby);
  await expect.poll(types, patience).toEqual(['content.invalid', 'content.valid']);
  service.writeContent('{');
  await expect.poll(types, patience).toEqual(['content.invalid', 'content.valid', 'content.invalid']);
  expect(receiver.received[2]?.body.message).toMatch(/is not valid; the last good content keeps playing\.$/);
});

test('a screen that is closed makes no alert, and makes one once it is open', async () => {
  const closed = {
    ...lobby,
    screens: [{ ...lobby.screens[0], hours: [{ days: [1], open: '00:00', close: '00:01' }] }],
  };
  // A Saturday.
  const began = Date.now();
  const { service, types } = await startAlerting({
    content: closed,
    env: { SIGNAGE_TIME_ZONE: 'UTC' },
    wall: () => Date.UTC(2026, 0, 31, 12) + Date.now() - began,
  });
  await bind(service);
  service.writeContent({ ...closed, playlists: [] });
  await expect.poll(async () => (await healthOf(service)).content.status, patience).toBe('invalid');
  // Nothing is said about a site that is closed, whatever it is; the next alert shows that the time has passed.
  await new Promise((resolve) => setTimeout(resolve, 3_000));
  expect(types()).toEqual([]);
  service.writeContent(lobby);
  await expect.poll(types, patience).toEqual(['device.away']);
});

test('a stream whose source has failed raises an alert', async () => {
  const { receiver, service, types } = await startAlerting();
  const path = `/api/rtmp/session?source=${encodeURIComponent(`rtmp://127.0.0.1:9/live/door?token=${'x'.repeat(2_000)}`)}`;
  const { key } = (await (await service.get(path)).json()) as { key: string };
  await expect
    .poll(async () => {
      await service.get(path);
      return types();
    }, patience)
    .toEqual(['stream.failed']);
  expect(receiver.received[0]?.body).toMatchObject({ subject: key, message: expect.stringContaining('127.0.0.1:9') });
  // The address is longer than what other boxes take.
  expect((await service.get('/api/peers/state')).status).toBe(200);
});

test('a slide whose stream has failed raises no alert of its own', walk, async () => {
  const media_url = 'RTMP://127.0.0.1:9/live/door';
  const content = lobbyWith([
    { kind: 'stream', id: 'door', media_url },
    { kind: 'text', id: 'offer', title: 'Offer' },
  ]);
  const { receiver, service, types } = await startAlerting({ content });
  const path = `/api/rtmp/session?slide=door&source=${encodeURIComponent(media_url)}`;
  const typesNow = async () => {
    await service.get(path);
    return types();
  };
  await expect.poll(typesNow, patience).toEqual(['stream.failed']);
  const page = await joinScreen(service, 'lobby', { deviceId: 'device-1' });
  for (const slideId of ['door', 'offer']) page.send({ type: 'fault', slideId, reason: 'no picture' });
  await expect.poll(async () => (await typesNow()).length, patience).toBeGreaterThan(1);
  expect(receiver.received.slice(1).map(({ body }) => [body.type, body.subject])).toEqual([['slide.failed', 'offer']]);
});

const disk = mountSmallDisk(8);
test.skipIf(disk === null)('a disk that is almost full raises an alert', async () => {
  const folder = disk ?? '';
  writeFileSync(join(folder, 'log'), Buffer.alloc(5 * 1024 ** 2));
  const { receiver, types } = await startAlerting({ dataDir: folder });
  await expect.poll(types, patience).toEqual(['storage.low']);
  expect(receiver.received[0]?.body.message).toMatch(/^The disk of the box .* is almost full\.$/);
});

test('a receiver that is away gets the message when it is there, and the health says so meanwhile', walk, async () => {
  const { receiver, service, types } = await startAlerting({ grace: 0 });
  await receiver.stop();
  service.writeContent('{');
  await expect
    .poll(async () => (await healthOf(service)).warnings, patience)
    .toContainEqual(expect.stringMatching(/^Alerts cannot be delivered: the receiver cannot be reached/));
  await receiver.start();
  await expect.poll(types, patience).toEqual(['content.invalid']);
  // What it does not take holds up no others.
  const attempts: string[] = [];
  receiver.onMessage(({ text }) => {
    attempts.push(text);
    return !text.includes('content.valid');
  });
  service.writeContent(lobby);
  await expect.poll(() => attempts.length, patience).toBeGreaterThan(0);
  await bind(service);
  await expect.poll(types, patience).toEqual(['content.invalid', 'device.away']);
  receiver.onMessage(() => true);
  await expect.poll(types, patience).toEqual(['content.invalid', 'device.away', 'content.valid']);
  // Nor do as many as are tried in one round.
  receiver.onMessage(({ text }) => !text.includes('refused-'));
  for (const deviceId of ['refused-1', 'refused-2', 'refused-3', 'taken']) await bind(service, deviceId);
  await expect.poll(() => receiver.received.at(-1)?.body.subject, patience).toBe('taken');
});

test('a box that could not deliver does not count as unable for ever', async () => {
  const records = Object.assign({}, testTempo.records, { forgive: 3_600_000 });
  const tempo = Object.assign({}, testTempo, { records });
  const start = async (peers: readonly TestService[]) => {
    const receiver = await startReceiver<Alert>();
    const env = { SIGNAGE_ALERT_URL: receiver.url, SIGNAGE_ALERT_GRACE_SECONDS: '0' };
    const service = await startBox(peers, { env, tempo });
    return { receiver, service, types: () => receiver.received.map(({ body }) => body.type) };
  };
  const first = await start([]);
  const boxes = [first, await start([first.service])];
  await untilTogether(boxes.map(({ service }) => service));
  const [lower, higher] = boxes.toSorted((a, b) => (a.service.nodeId < b.service.nodeId ? -1 : 1)) as [
    typeof first,
    typeof first,
  ];
  const undelivered = async ({ service }: typeof first) =>
    (await healthOf(service)).warnings.filter((each) => each.startsWith('Alerts cannot be delivered'));
  await lower.receiver.stop();
  await bind(higher.service);
  await expect.poll(higher.types, patience).toEqual(['device.away']);
  // The other one has delivered what it could not.
  await expect.poll(() => undelivered(lower), patience).toEqual([]);
  await higher.receiver.stop();
  await joinScreen(higher.service, 'lobby', { deviceId: 'device-1' });
  for (const { service } of boxes) {
    const receiver = async () => ((await (await service.get('/api/peers/state')).json()) as PeerState).alerts?.receiver;
    await expect.poll(receiver, patience).toBe('failing');
  }
  await higher.receiver.start();
  records.forgive = 1_000;
  await expect.poll(higher.types, patience).toEqual(['device.away', 'device.back']);
  for (const box of boxes) await expect.poll(() => undelivered(box), patience).toEqual([]);
}, 60_000);

test.each([
  ['a box whose version is being replaced is not told of', 600_000, ['content.invalid']],
  ['one that said so by a clock years ahead is', 2 * 365 * 86_400_000, ['box.away', 'content.invalid']],
])(
  '%s',
  async (_, ahead, told) => {
    const receiver = await startReceiver<Alert>();
    const env = { SIGNAGE_ALERT_URL: receiver.url, SIGNAGE_ALERT_GRACE_SECONDS: '1' };
    const [stays, leaves] = await startSite({ env });
    const { nodeId } = (await (await leaves.get('/healthz')).json()) as { nodeId: string };
    const at = new Date(Date.now() + ahead).toISOString();
    const records = [{ kind: 'update', subject: nodeId, isFailing: false, at, message: '', isSent: true }];
    expect((await postTo(stays, '/api/peers/alerts', { records })).status).toBe(200);
    await leaves.close();
    // Asks the other box, which does not answer.
    await stays.get('/api/screens/lobby/connections');
    await expect.poll(async () => (await peersOf(stays))[0]?.state, { ...patience, timeout: 60_000 }).toBe('away');
    stays.writeContent('{');
    const types = (): string[] => receiver.received.map(({ body }) => body.type).toSorted();
    await expect.poll(types, { ...patience, timeout: 60_000 }).toEqual(told);
  },
  120_000,
);
