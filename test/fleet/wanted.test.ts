/** The content that the fleet wants, taken as an edit; and what is reported of it. */
import { mkdirSync, rmdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from 'vitest';
import { sha256Hex } from '../../service/auth/sign.ts';
import { openHub } from '../../service/cli/fleet/hub.ts';
import { isNewer, pollPause, pushOf, readWanted } from '../../service/fleet/wanted.ts';
import { lobbyWith } from '../content/samples.ts';
import { untilTogether } from '../peers/support.ts';
import { hasNats, startHub } from '../support/nats.ts';
import { patience, titlesOf } from '../support/observe.ts';
import { createOperator, operatorSecret, secretSettings } from '../support/operator.ts';
import { localHeaders } from '../support/people.ts';
import { type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';
import { becomes, healthOf, plays, reports, saying, startMember, startSlowLine, statusOf, want } from './support.ts';

const digestOf = (document: unknown): string => sha256Hex(Buffer.from(JSON.stringify(document)));

const env = { SIGNAGE_SITE: 'Wien' };

test.each<[string, Uint8Array, string]>([
  ['no gzip', Buffer.from(JSON.stringify(saying('Hello'))), 'the value is not gzip'],
  ['gzip that is cut off', gzipSync('{"screens":[]}').subarray(0, 20), 'the value is not gzip'],
  ['an archive that unpacks to 5 MiB', gzipSync(Buffer.alloc(5 * 1024 ** 2, ' ')), 'the document is over 4 MiB'],
  ['1,001 KiB', Buffer.alloc(1001 * 1024), 'the document is over 1000 KiB, gzipped'],
  ['no UTF-8', gzipSync(Buffer.from([0xff, 0xfe])), 'the document is not JSON: '],
  [
    'more mistakes than can be counted',
    gzipSync(`{"screens":[],"playlists":[{"id":"a","slides":[${'1,'.repeat(1e6)}1]}]}`),
    'more mistakes than can be',
  ],
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

test('a push is taken once, and never after a later one, however many lie between', () => {
  const at = (second: number, id = `push-${second}`) => ({
    id,
    at: new Date(second * 1_000).toISOString(),
    sha256: 'x',
    site: 'Wien',
  });
  const now = 200_000;
  expect(isNewer(at(1), undefined, now)).toBe(true);
  expect(isNewer(at(1), at(1), now)).toBe(false);
  expect(isNewer(at(1, 'other'), at(1), now)).toBe(true);
  expect(isNewer(at(100), at(1), now)).toBe(true);
  expect(isNewer(at(1), at(100), now)).toBe(false);
  // The clock of the hub was ahead when the last one was pushed, and has been set.
  expect(isNewer(at(200), at(500), now)).toBe(false);
  expect(isNewer(at(200), at(501), now)).toBe(true);
  expect(isNewer(at(501), at(501), now)).toBe(false);
});

test.each([
  ['the same site', 'Wien', 'Wien', false],
  ['a different site', 'Wien', 'Graz', true],
])('a push after a later one of %s: to %s after %s, taken: %s', (_, site, before, isTaken) => {
  const push = (time: string, name: string) => ({ id: time, at: time, sha256: 'x', site: name });
  const [march, april] = ['2026-03-01T00:00:00.000Z', '2026-04-01T00:00:00.000Z'] as const;
  expect(isNewer(push(march, site), push(april, before), Date.parse(april))).toBe(isTaken);
});

test('a push that is dated in the future counts as of when the hub stored it, so that later ones are taken', () => {
  const stored = new Date('2026-01-01T00:00:00.000Z');
  const given = (values: Record<string, string>) =>
    pushOf({ get: (name) => values[name] ?? '' }, stored, { sha256: '0'.repeat(64), site: 'Wien' });
  const id = { 'Signage-Push': 'a' };
  expect(given({ ...id, 'Signage-Pushed-At': '2036-01-01T00:00:00.000Z' })?.at).toBe('2026-01-01T00:00:00.000Z');
  expect(given({ ...id, 'Signage-Pushed-At': '2025-12-31T00:00:00Z' })?.at).toBe('2025-12-31T00:00:00.000Z');
  expect(given({ ...id, 'Signage-Pushed-At': 'soon' })).toBeNull();
  expect(given(id)).toBeNull();
  expect(given({ 'Signage-Pushed-At': '2025-12-31T00:00:00Z' })).toBeNull();
});

describe.skipIf(!hasNats)('with a real nats-server', () => {
  const setUp = async () => {
    const hub = await startHub();
    const nats = await hub.headOffice();
    return { hub, nats, status: await statusOf(nats) };
  };

  test('wanted content plays, is reported and audited, and an edit at the site stays', async () => {
    const { hub, nats, status } = await setUp();
    const dataDir = temporaryFolder();
    const service = await startMember(hub, { dataDir, content: saying('Old'), env });
    await reports(status, 'Wien', { state: 'none', wanted: null, diverged: false });
    const first = saying('First');
    const push = { id: 'push-1', at: new Date() };
    await want(nats, 'Wien', first, push);
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
    // The same push again, as from a hub that was restored, and after a restart of the box.
    await want(nats, 'Wien', first, push);
    await service.close();
    const again = await startMember(hub, { dataDir, env });
    await reports(status, 'Wien', { state: 'diverged', push: { id: push.id } });
    expect(await titlesOf(again)).toEqual(['Ours']);
    expect((await healthOf(again)).fleet?.content).toMatchObject({ state: 'diverged', diverged: true, errors: [] });

    const second = await want(nats, 'Wien', saying('Second'));
    await plays(again, 'Second');
    // An older push is old, whatever the hub wants.
    await want(nats, 'Wien', first, { at: new Date(push.at.getTime() + 1) });
    await reports(status, 'Wien', { state: 'diverged', wanted: digestOf(first), push: { id: second } });
    expect(await titlesOf(again)).toEqual(['Second']);
    // A document that the site had before is taken when it is pushed again.
    const third = await want(nats, 'Wien', first);
    await plays(again, 'First');
    await reports(status, 'Wien', { state: 'applied', wantedPush: third, push: { id: third } });
  });

  test('content that plays already is taken without a change, so that an edit after it stays', async () => {
    const { hub, nats, status } = await setUp();
    const text = `${JSON.stringify(saying('Same'), null, 2)}\n`;
    const service = await startMember(hub, { content: text, env });
    await want(nats, 'Wien', text);
    await reports(status, 'Wien', { state: 'applied' });
    service.writeContent(saying('Ours'));
    await plays(service, 'Ours');
    await reports(status, 'Wien', { state: 'diverged' });
    expect(await titlesOf(service)).toEqual(['Ours']);
  });

  test('a document that is not valid, or of a newer format, is refused and reported, and the site plays on', async () => {
    const { hub, nats, status } = await setUp();
    const service = await startMember(hub, { content: saying('Old'), env });
    await want(nats, 'Wien', { ...saying('New'), holograms: [] });
    const { errors } = await reports(status, 'Wien', { state: 'refused', diverged: false });
    expect(errors).toEqual([{ path: '', message: '"holograms" is not known here' }]);
    const { warnings, status: state } = await healthOf(service);
    expect(warnings.join()).toContain('The content that the fleet wants does not play: "holograms" is not known here.');
    expect(state).toBe('ok');
    await want(nats, 'Wien', Buffer.from('nonsense'));
    await reports(status, 'Wien', { state: 'refused', errors: [{ path: '', message: 'the value is not gzip' }] });
    expect(await titlesOf(service)).toEqual(['Old']);
    await want(nats, 'Wien', saying('Repaired'));
    await plays(service, 'Repaired');
    // Without a push nobody could tell whether it is old.
    nats.publish('$KV.signage-content.Wien', gzipSync(JSON.stringify(saying('Unnamed'))));
    await reports(status, 'Wien', { state: 'refused', wantedPush: null });
    expect(await titlesOf(service)).toEqual(['Repaired']);
  });

  test('a site that was cut off takes what is wanted when it is back, even from a hub that lost its disk', async () => {
    const { hub, nats } = await setUp();
    const service = await startMember(hub, { content: saying('Old'), env });
    await want(nats, 'Wien', saying('First'));
    await plays(service, 'First');
    await hub.kill();
    service.writeContent(saying('Meanwhile'));
    await plays(service, 'Meanwhile');
    rmSync(join(hub.folder, 'store'), { recursive: true });
    await hub.start();
    const fresh = await hub.headOffice();
    await openHub(fresh).init(null);
    await want(fresh, 'Wien', saying('Second'));
    await plays(service, 'Second');
  });

  test('of two boxes one takes it, and both play it; an edit that replicates stays at both', async () => {
    const { hub, nats, status } = await setUp();
    const first = await startMember(hub, { content: saying('Old'), env });
    const second = await startMember(hub, { env: { ...env, SIGNAGE_PEERS: first.url } });
    await untilTogether([first, second]);
    await plays(second, 'Old');
    await want(nats, 'Wien', saying('New'));
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

  test('a box that comes from a different site plays what the fleet wants here, though it was pushed earlier', async () => {
    const { hub, nats, status } = await setUp();
    const dataDir = temporaryFolder();
    const spare = await startMember(hub, { dataDir, content: saying('Old'), env: { SIGNAGE_SITE: 'Graz' } });
    const id = await want(nats, 'Wien', saying('Wien'), { at: new Date(Date.now() - 3_600_000) });
    await want(nats, 'Graz', saying('Graz'));
    await plays(spare, 'Graz');
    await spare.close();
    const moved = await startMember(hub, { dataDir, env });
    await plays(moved, 'Wien');
    await reports(status, 'Wien', { state: 'applied', push: { id, site: 'Wien' } });
    moved.writeContent(saying('Ours'));
    await plays(moved, 'Ours');
    await reports(status, 'Wien', { state: 'diverged' });
  });

  test('content that is refused for a secret of pages plays once the secret is set for its address', async () => {
    const { hub, nats } = await setUp();
    const settings = { ...env, ...secretSettings(operatorSecret) };
    const service = await startMember(hub, { content: saying('Old'), env: settings });
    const setFor = (origin: string) => {
      const body = { origins: [origin], headers: { Authorization: 'Bearer 5ecret' } };
      const ask = createOperator(service, operatorSecret);
      return ask('PUT', '/console/api/secrets/dash', body, localHeaders(service));
    };
    await setFor('https://old.example.com');
    const slide = {
      kind: 'web',
      title: 'Wall',
      media_url: 'https://dash.example.com/',
      content: { web: { headers: 'dash' } },
    };
    await want(nats, 'Wien', lobbyWith([slide]));
    await becomes(service, { content: { state: 'refused' } });
    await setFor('https://dash.example.com');
    await becomes(service, { content: { state: 'applied', errors: [] } });
  });

  /** 600 KiB as stored. */
  const long = (title: string) => gzipSync(JSON.stringify(saying(title)) + ' '.repeat(600 * 1024), { level: 0 });
  const late = 'The hub of the fleet does not take requests for the wanted content: it does not answer in time.';

  test('a long document plays, though the line needs longer for it than for any other answer', walk, async () => {
    const { hub, nats } = await setUp();
    const line = await startSlowLine(hub, 100_000);
    const service = await startMember({ credentials: hub.credentials, url: line.url }, { content: saying('Old'), env });
    const before = line.asked.length;
    await want(nats, 'Wien', long('New'));
    await plays(service, 'New');
    expect(line.asked.length).toBe(before + 1);
  });

  test('a document that arrives too late is told, and asked for after pauses that grow', async () => {
    const { hub, nats } = await setUp();
    const line = await startSlowLine(hub, 100_000);
    const tempo = { ...testTempo, fleet: { ...testTempo.fleet, content: 100 } };
    const member = { credentials: hub.credentials, url: line.url };
    const service = await startMember(member, { content: saying('Old'), env, tempo });
    const before = line.asked.length;
    await want(nats, 'Wien', long('New'));
    await expect.poll(async () => (await healthOf(service)).warnings, patience).toContain(late);
    expect((await healthOf(service)).status).toBe('degraded');
    await expect.poll(() => line.asked.length - before, patience).toBeGreaterThan(4);
    const [fourth = 0, fifth = 0] = line.asked.slice(before + 3);
    expect(fifth - fourth).toBeGreaterThan(tempo.fleet.retry * 8);
  });

  test('content that cannot be written is not read from the hub again, and plays once it can', async () => {
    const { hub, nats } = await setUp();
    const line = await startSlowLine(hub, 10_000_000);
    const service = await startMember({ credentials: hub.credentials, url: line.url }, { content: saying('Old'), env });
    const file = join(service.dataDir, 'content.json');
    rmSync(file);
    mkdirSync(file);
    const before = line.asked.length;
    await want(nats, 'Wien', saying('New'));
    const message = expect.stringContaining('content.json could not be written');
    await becomes(service, { content: { state: 'pending', errors: [{ path: '', message }] } });
    await pause(1_500);
    rmdirSync(file);
    await plays(service, 'New');
    expect(line.asked.length).toBe(before + 1);
  });
});
