/** Plays and alerts on their way to the hub. */
import { cpSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { jetstream, jetstreamManager } from '@nats-io/jetstream';
import { describe, expect, test } from 'vitest';
import { openHub } from '../../service/cli/fleet/hub.ts';
import { seal } from '../../service/platform/store/adapter.ts';
import { lobby } from '../content/samples.ts';
import { idsOf, playAgo, reportTo } from '../records/plays/pages.ts';
import { startReceiver } from '../records/receiver.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { becomes, healthOf, readStream, startMember } from './support.ts';

describe.skipIf(!hasNats)('with a real nats-server', () => {
  test('plays go up once each, those of before the fleet and of a time without the hub too', async () => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    const dataDir = temporaryFolder();
    const alone = await startTestService({ dataDir, content: lobby, env: { SIGNAGE_SITE: 'Wien' } });
    const before = [playAgo(60), playAgo(50)];
    await reportTo(alone, before);
    await alone.close();

    const service = await startMember(hub, { dataDir, env: { SIGNAGE_SITE: 'Wien' } });
    const during = [playAgo(40)];
    await reportTo(service, during);
    await expect.poll(async () => (await readStream(nats, 'signage-plays')).length, patience).toBe(3);
    await hub.kill();
    await becomes(service, { status: 'away' });
    const offline = Array.from({ length: 50 }, () => playAgo(30));
    await reportTo(service, offline);
    await service.close();
    await hub.start();
    const { nodeId } = await healthOf(await startMember(hub, { dataDir, env: { SIGNAGE_SITE: 'Wien' } }));
    const all = idsOf([...before, ...during, ...offline]);
    await expect.poll(async () => (await readStream(nats, 'signage-plays')).length, patience).toBe(all.length);
    const stored = await readStream(nats, 'signage-plays');
    expect(stored.map(({ id }) => id).sort()).toEqual(all.map((id) => `Wien:${id}`).sort());
    expect(new Set(stored.map(({ subject }) => subject))).toEqual(new Set([`signage.Wien.plays.${nodeId}`]));
    expect(stored[0]?.body).toMatchObject({
      play_id: stored[0]?.id?.slice('Wien:'.length),
      site: 'Wien',
      result: 'played',
    });
  });

  test(
    'an alert goes up, and those that a webhook got while the hub was away go up when it is back',
    walk,
    async () => {
      const hub = await startHub();
      const nats = await hub.headOffice();
      const receiver = await startReceiver<{ type: string }>();
      const told = () => receiver.received.map(({ body }) => body.type);
      const service = await startMember(hub, {
        content: lobby,
        env: { SIGNAGE_SITE: 'Wien', SIGNAGE_ALERT_GRACE_SECONDS: '1', SIGNAGE_ALERT_URL: receiver.url },
      });
      service.writeContent('not json');
      const types = async () => (await readStream(nats, 'signage-alerts')).map(({ body }) => body['type']);
      await expect.poll(types, patience).toEqual(['content.invalid']);
      const [alert] = await readStream(nats, 'signage-alerts');
      expect(alert).toMatchObject({
        subject: expect.stringMatching(/^signage\.Wien\.alerts\./),
        id: expect.stringMatching(/^Wien:/),
        body: { site: 'Wien' },
      });
      await hub.kill();
      await becomes(service, { status: 'away' });
      service.writeContent(lobby);
      await expect.poll(told, patience).toEqual(['content.invalid', 'content.valid']);
      service.writeContent('not json');
      const all = ['content.invalid', 'content.valid', 'content.invalid'];
      await expect.poll(told, patience).toEqual(all);
      await hub.start();
      await expect.poll(types, patience).toEqual(all);
    },
  );

  test(
    'what the hub has lost comes again, once it is noticed: emptied, restored from a backup, or its stream made anew',
    walk,
    async () => {
      const hub = await startHub();
      const nats = await hub.headOffice();
      const service = await startMember(hub, {
        content: lobby,
        env: { SIGNAGE_SITE: 'Wien', SIGNAGE_ALERT_GRACE_SECONDS: '1' },
      });
      const ids = async () =>
        [...new Set((await readStream(nats, 'signage-plays').catch(() => [])).map(({ id }) => id))].sort();
      const alerts = async () =>
        (await readStream(nats, 'signage-alerts').catch(() => [])).map(({ body }) => body['type']);
      const all: string[] = [];
      const report = async (plays: ReturnType<typeof playAgo>[]): Promise<void> => {
        all.push(...idsOf(plays).map((id) => `Wien:${id}`));
        await reportTo(service, plays);
      };
      const hasAll = () => expect.poll(ids, patience).toEqual(all.toSorted());
      service.writeContent('not json');
      // Of today, then one of yesterday that came late, then of today again.
      await report([playAgo(300), playAgo(200)]);
      await hasAll();
      await expect.poll(alerts, patience).toEqual(['content.invalid']);
      await nats.drain();
      await hub.kill();
      cpSync(join(hub.folder, 'store'), join(hub.folder, 'backup'), { recursive: true });
      await hub.start();
      const again = await hub.headOffice();
      nats.close().catch(() => undefined);
      const later = async () =>
        [...new Set((await readStream(again, 'signage-plays').catch(() => [])).map(({ id }) => id))].sort();
      const hasAllLater = () => expect.poll(later, patience).toEqual(all.toSorted());
      await becomes(service, { status: 'connected' });
      await report([playAgo(25 * 3_600)]);
      await hasAllLater();
      await report([playAgo(100)]);
      await hasAllLater();

      await hub.kill();
      rmSync(join(hub.folder, 'store'), { recursive: true });
      cpSync(join(hub.folder, 'backup'), join(hub.folder, 'store'), { recursive: true });
      await hub.start();
      await hasAllLater();

      // A stream that another site has filled meanwhile, while the box is connected.
      const open = await jetstreamManager(again, { checkAPI: false });
      const { config } = await open.streams.info('signage-plays');
      await open.streams.delete('signage-plays');
      await open.streams.add(config);
      for (let n = 0; n < 20; n += 1) await jetstream(again).publish('signage.Graz.plays.node', '{}');
      await report([playAgo(90)]);
      const own = async () => (await later()).filter((id) => id !== undefined && id !== '');
      await expect.poll(own, patience).toEqual(all.toSorted());
    },
  );

  test('a record that is too large for the hub is left out and counted, and holds up none behind it', async () => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    const service = await startMember(hub, { content: lobby, env: { SIGNAGE_SITE: 'Wien' } });
    await (await jetstreamManager(nats)).streams.update('signage-plays', { max_msg_size: 3_000 });
    const large = { media_url: `/media/${'x'.repeat(4_000)}.png` };
    const stored = async () => (await readStream(nats, 'signage-plays')).map(({ id }) => id).sort();
    const [first, second] = [playAgo(50), playAgo(30)];
    await reportTo(service, [playAgo(60, large), first, playAgo(40, large)]);
    await expect.poll(stored, patience).toEqual(idsOf([first]).map((id) => `Wien:${id}`));
    // What was left out is not tried again with the next ones.
    await reportTo(service, [second]);
    const taken = idsOf([first, second]).map((id) => `Wien:${id}`);
    await expect.poll(stored, patience).toEqual(taken.sort());
    const { status, warnings } = await healthOf(service);
    expect(warnings).toContain('Since the start 2 plays were left out: they are too large for the hub.');
    expect(status).toBe('ok');
  });

  test('a hub that is full, or has no stream, is told with its reason, and nothing is lost by it', async () => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    const manager = await jetstreamManager(nats, { checkAPI: false });
    const service = await startMember(hub, { content: lobby, env: { SIGNAGE_SITE: 'Wien' } });
    const { config } = await manager.streams.info('signage-plays');
    await manager.streams.update('signage-plays', { ...config, max_bytes: 100 });
    const plays = [playAgo(20)];
    await reportTo(service, plays);
    await expect
      .poll(async () => (await healthOf(service)).warnings.join(), patience)
      .toContain('does not take plays: "maximum bytes exceeded"');
    // While it is tried again, too.
    for (const until = performance.now() + 2_000; performance.now() < until; ) {
      expect((await healthOf(service)).status).toBe('degraded');
    }
    await manager.streams.delete('signage-plays');
    await expect
      .poll(async () => (await healthOf(service)).warnings.join(), patience)
      .toContain('nothing answers for it');
    await openHub(nats).init(null);
    const stored = async () => (await readStream(nats, 'signage-plays')).map(({ id }) => id);
    await expect
      .poll(async () => [...new Set(await stored())], patience)
      .toEqual(idsOf(plays).map((id) => `Wien:${id}`));
    await expect.poll(async () => (await healthOf(service)).status, patience).toBe('ok');
  });

  test('room at a full hub, less than a batch needs, is filled with plays that it does not have yet', async () => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    const { streams } = await jetstreamManager(nats, { checkAPI: false });
    const setRoom = async (bytes: number) =>
      streams.update('signage-plays', { max_bytes: (await streams.info('signage-plays')).state.bytes + bytes });
    const service = await startMember(hub, { content: lobby, env: { SIGNAGE_SITE: 'Wien' } });
    await setRoom(10);
    const plays = Array.from({ length: 100 }, (_, n) => playAgo(200 - n));
    for (const part of [plays.slice(50), plays.slice(0, 50)]) await reportTo(service, part);
    const stored = async () =>
      new Set((await readStream(nats, 'signage-plays').catch(() => [])).map(({ id }) => id)).size;
    for (let step = 0; step < 4; step += 1) {
      const before = await stored();
      await setRoom(12_000);
      await expect.poll(stored, patience).toBeGreaterThan(before + 5);
    }
    await setRoom(1_000_000);
    await expect.poll(stored, patience).toBe(plays.length);
    const { state } = await streams.info('signage-plays');
    expect(state.messages).toBeLessThan(plays.length + 50);
  });

  test.each([
    ['not sent again', '91 days', ['Wien:89 days']],
    ['sent if the hub never took them', null, ['Wien:91 days', 'Wien:89 days']],
  ])('alerts that are older than the stream keeps them are %s', async (_, taken, expected) => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    const dataDir = temporaryFolder();
    const sent = [91, 89].map((days) => ({
      id: `${days} days`,
      body: { at: new Date(Date.now() - days * 86_400_000).toISOString() },
    }));
    writeFileSync(join(dataDir, 'fleet-alerts.json'), seal({ sent, taken }, 1, Date.now()));
    await startMember(hub, { dataDir, content: lobby, env: { SIGNAGE_SITE: 'Wien' } });
    const stored = async () => (await readStream(nats, 'signage-alerts')).map(({ id }) => id);
    await expect.poll(stored, patience).toEqual(expected);
  });

  test('an alert that a nearly full hub refuses goes up before shorter ones that would fit', async () => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    const { streams } = await jetstreamManager(nats, { checkAPI: false });
    await streams.update('signage-alerts', { max_bytes: 5_000 });
    const dataDir = temporaryFolder();
    const sent = ['short', 'long', 'last'].map((id) => ({
      id,
      body: { message: 'x'.repeat(id === 'long' ? 20_000 : 10) },
    }));
    writeFileSync(join(dataDir, 'fleet-alerts.json'), seal({ sent }, 1, Date.now()));
    const service = await startMember(hub, { dataDir, content: lobby, env: { SIGNAGE_SITE: 'Wien' } });
    const stored = async () => (await readStream(nats, 'signage-alerts')).map(({ id }) => id);
    await expect
      .poll(async () => (await healthOf(service)).warnings.join(), patience)
      .toContain('does not take alerts: "maximum bytes exceeded"');
    await streams.update('signage-alerts', { max_bytes: 100_000 });
    await expect.poll(stored, patience).toEqual(['Wien:short', 'Wien:long', 'Wien:last']);
  });
});
