/** The content that the fleet wants, taken as an edit; and what is reported of it. */
import { gzipSync } from 'node:zlib';
import { jetstream } from '@nats-io/jetstream';
import { Kvm } from '@nats-io/kv';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../service/auth/sign.ts';
import { pollPause, readWanted } from '../../service/fleet/wanted.ts';
import { untilTogether } from '../peers/support.ts';
import { hasNats, prepareHub, startHub } from '../support/nats.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { healthOf, plays, reports, saying, startMember, want } from './support.ts';

const digestOf = (document: unknown): string => sha256Hex(Buffer.from(JSON.stringify(document)));

const env = { SIGNAGE_SITE: 'Wien' };

test.each<[string, Uint8Array, string]>([
  ['no gzip', Buffer.from(JSON.stringify(saying('Hello'))), 'the value is not gzip'],
  ['gzip that is cut off', gzipSync('{"screens":[]}').subarray(0, 20), 'the value is not gzip'],
  ['an archive that unpacks to 5 MiB', gzipSync(Buffer.alloc(5 * 1024 ** 2, ' ')), 'the document is over 4 MiB'],
  ['1,001 KiB', Buffer.alloc(1001 * 1024), 'the document is over 1000 KiB, gzipped'],
  ['no UTF-8', gzipSync(Buffer.from([0xff, 0xfe])), 'the document is not JSON: '],
  ['no JSON', gzipSync('hello'), 'the document is not JSON: '],
])('%s is refused', async (_, stored, reason) => {
  const wanted = await readWanted(stored);
  expect(wanted).toMatchObject({ errors: [{ path: '', message: expect.stringContaining(reason) }] });
});

test('the wanted content is read again after a quarter of an hour, and a large one more seldom', () => {
  expect(pollPause(0, 0.5)).toBe(900_000);
  expect(pollPause(10_000, 0.5)).toBe(900_000);
  expect(pollPause(1_000_000, 0.5)).toBe(25 * 3_600_000);
});

describe.skipIf(!hasNats)('with a real nats-server', () => {
  const setUp = async () => {
    const hub = await startHub();
    const nats = await hub.client();
    return { hub, nats, ...(await prepareHub(nats)) };
  };

  test('wanted content plays, is reported and audited, and an edit at the site stays', async () => {
    const { hub, content, status } = await setUp();
    const dataDir = temporaryFolder();
    const service = await startMember(hub, { dataDir, content: saying('Old'), env });
    await reports(status, 'Wien', { state: 'none', wanted: null, diverged: false });
    const first = saying('First');
    await want(content, 'Wien', first);
    await plays(service, 'First');
    const { sha256 } = await reports(status, 'Wien', { state: 'applied', wanted: digestOf(first), operator: 'fleet' });
    const playing = (await (await service.get('/console/api/content')).json()) as { sha256: string };
    expect(sha256).toBe(playing.sha256);
    const audited = async () =>
      ((await (await service.get('/console/api/audit')).json()) as { records: object[] }).records;
    const record = { action: 'content.publish', operator: 'fleet', result: 'ok' };
    await expect.poll(audited, patience).toEqual([expect.objectContaining(record)]);

    service.writeContent(saying('Ours'));
    await plays(service, 'Ours');
    await reports(status, 'Wien', { state: 'diverged', diverged: true, wanted: digestOf(first) });
    // The same again, as from a hub that was restored, and after a restart of the box.
    await want(content, 'Wien', first);
    await service.close();
    const again = await startMember(hub, { dataDir, env });
    await reports(status, 'Wien', { state: 'diverged' });
    expect(await titlesOf(again)).toEqual(['Ours']);
    expect((await healthOf(again)).fleet?.content).toMatchObject({ state: 'diverged', diverged: true, errors: [] });

    const second = saying('Second');
    await want(content, 'Wien', second);
    await plays(again, 'Second');
    // What was taken once is old, even if the hub wants it.
    await want(content, 'Wien', first);
    await reports(status, 'Wien', { state: 'diverged', wanted: digestOf(first) });
    expect(await titlesOf(again)).toEqual(['Second']);
  });

  test('content that plays already is taken without a change, so that an edit after it stays', async () => {
    const { hub, content, status } = await setUp();
    const text = `${JSON.stringify(saying('Same'), null, 2)}\n`;
    const service = await startMember(hub, { content: text, env });
    await want(content, 'Wien', text);
    await reports(status, 'Wien', { state: 'applied' });
    service.writeContent(saying('Ours'));
    await plays(service, 'Ours');
    await reports(status, 'Wien', { state: 'diverged' });
    expect(await titlesOf(service)).toEqual(['Ours']);
  });

  test('a document that is not valid, or of a newer format, is refused and reported, and the site plays on', async () => {
    const { hub, content, status } = await setUp();
    const service = await startMember(hub, { content: saying('Old'), env });
    await want(content, 'Wien', { ...saying('New'), holograms: [] });
    const { errors } = await reports(status, 'Wien', { state: 'refused', diverged: false });
    expect(errors).toEqual([{ path: '', message: '"holograms" is not known here' }]);
    const { warnings, status: state } = await healthOf(service);
    expect(warnings.join()).toContain('The content that the fleet wants does not play: "holograms" is not known here.');
    expect(state).toBe('ok');
    await content.put('Wien', 'nonsense');
    await reports(status, 'Wien', { state: 'refused', errors: [{ path: '', message: 'the value is not gzip' }] });
    expect(await titlesOf(service)).toEqual(['Old']);
    await want(content, 'Wien', saying('Repaired'));
    await plays(service, 'Repaired');
    await content.delete('Wien');
    await reports(status, 'Wien', { state: 'none', wanted: null });
    expect(await titlesOf(service)).toEqual(['Repaired']);
  });

  test('a site that was cut off takes what is wanted when it is back, even from a hub that lost its disk', async () => {
    const { hub, content } = await setUp();
    const service = await startMember(hub, { content: saying('Old'), env });
    await want(content, 'Wien', saying('First'));
    await plays(service, 'First');
    await hub.kill();
    service.writeContent(saying('Meanwhile'));
    await plays(service, 'Meanwhile');
    await hub.start(temporaryFolder());
    const fresh = await prepareHub(await hub.client());
    await want(fresh.content, 'Wien', saying('Second'));
    await plays(service, 'Second');
  });

  test('of two boxes one takes it, and both play it; an edit that replicates stays at both', async () => {
    const { hub, content, status } = await setUp();
    const first = await startMember(hub, { content: saying('Old'), env });
    const second = await startMember(hub, { env: { ...env, SIGNAGE_PEERS: first.url } });
    await untilTogether([first, second]);
    await plays(second, 'Old');
    await want(content, 'Wien', saying('New'));
    for (const service of [first, second]) await plays(service, 'New');
    await reports(status, 'Wien', { state: 'applied' });
    const versions = async (service: TestService) =>
      ((await (await service.get('/console/api/content/versions')).json()) as { versions: { operator: string }[] })
        .versions;
    expect((await versions(first)).filter(({ operator }) => operator === 'fleet')).toHaveLength(1);
    first.writeContent(saying('Ours'));
    for (const service of [first, second]) await plays(service, 'Ours');
    await second.close();
    await reports(status, 'Wien', { state: 'diverged' });
  });

  test('a bucket that was made without direct reads is read as well', async () => {
    const hub = await startHub();
    const buckets = new Kvm(jetstream(await hub.client()));
    const content = await buckets.create('signage-content', { allow_direct: false });
    await buckets.create('signage-status', { allow_direct: false });
    const box = await startMember(hub, { content: saying('Old'), env });
    await want(content, 'Wien', saying('New'));
    await plays(box, 'New');
  });
});
