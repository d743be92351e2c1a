/** Plays and alerts on their way to the hub. */
import { describe, expect, test } from 'vitest';
import { lobby } from '../content/samples.ts';
import { idsOf, playAgo, reportTo } from '../records/plays/pages.ts';
import { hasNats, prepareHub, startHub } from '../support/nats.ts';
import { patience } from '../support/observe.ts';
import { startTestService, temporaryFolder } from '../support/service.ts';
import { becomes, readStream, startMember } from './support.ts';

describe.skipIf(!hasNats)('with a real nats-server', () => {
  test('plays go up once each, those of before the fleet and of a time without the hub too', async () => {
    const hub = await startHub();
    const nats = await hub.client();
    await prepareHub(nats);
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
    await startMember(hub, { dataDir, env: { SIGNAGE_SITE: 'Wien' } });
    const all = idsOf([...before, ...during, ...offline]);
    await expect.poll(async () => (await readStream(nats, 'signage-plays')).length, patience).toBe(all.length);
    const stored = await readStream(nats, 'signage-plays');
    expect(stored.map(({ id }) => id).sort()).toEqual(all.toSorted());
    expect(new Set(stored.map(({ subject }) => subject))).toEqual(new Set(['signage.Wien.plays']));
    expect(stored[0]?.body).toMatchObject({
      play_id: stored[0]?.id,
      site: 'Wien',
      result: 'played',
    });
  });

  test('an alert goes up, and one that was due while the hub was away goes up when it is back', async () => {
    const hub = await startHub();
    const nats = await hub.client();
    await prepareHub(nats);
    const service = await startMember(hub, {
      content: lobby,
      env: { SIGNAGE_SITE: 'Wien', SIGNAGE_ALERT_GRACE_SECONDS: '1' },
    });
    service.writeContent('not json');
    const types = async () => (await readStream(nats, 'signage-alerts')).map(({ body }) => body['type']);
    await expect.poll(types, patience).toEqual(['content.invalid']);
    const [alert] = await readStream(nats, 'signage-alerts');
    expect(alert).toMatchObject({ subject: 'signage.Wien.alerts', id: expect.any(String), body: { site: 'Wien' } });
    await hub.kill();
    await becomes(service, { status: 'away' });
    service.writeContent(lobby);
    await hub.start();
    await expect.poll(types, patience).toEqual(['content.invalid', 'content.valid']);
  });
});
