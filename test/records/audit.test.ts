/** The audit of changes. */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate as nextTurn } from 'node:timers/promises';
import { pino } from 'pino';
import { afterEach, describe, expect, test, vi } from 'vitest';
import type { AuditRecord } from '../../service/contract/console/site.ts';
import { CodedError } from '../../service/contract/errors.ts';
import { type Operation, operations } from '../../service/contract/operations/index.ts';
import type { ServiceContext } from '../../service/module.ts';
import { boundedState, createAudit, createAuditLog } from '../../service/records/audit.ts';
import { isAsked, pageOf } from '../../service/records/audit-pages.ts';
import { defaultTempo } from '../../service/tempo.ts';
import { hello, lobby, lobbyWith } from '../content/samples.ts';
import { healthOf, patience, titlesOf } from '../support/observe.ts';
import { createOperator, operatorSecret, secretModes, secretSettings } from '../support/operator.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';

interface Answer {
  records: AuditRecord[];
  degraded: boolean;
}

const auditOf = async (service: TestService, secret: string | null = null): Promise<Answer> =>
  (await (await createOperator(service, secret)('GET', '/console/api/audit')).json()) as Answer;

const binding = (clientName: string) => ({ deviceId: 'device-1', clientName, screenSlug: 'lobby' });

test.each(secretModes)(
  'each change is one record, with the operator, the address, and the state before and after it, %s',
  async (_, secret) => {
    const service = await startTestService({ content: lobby, env: secretSettings(secret) });
    const ask = createOperator(service, secret);
    const operator = { 'x-signage-operator': 'Jörg' };
    await ask('POST', '/api/screens/lobby/commands', { command: 'blackout', blackout: true }, operator);
    await ask('POST', '/api/onboarding', binding('Door'));
    await ask('POST', '/api/onboarding', binding('Window'));
    await ask('PUT', '/api/media/a.txt', 'one');
    await ask('DELETE', '/api/media/a.txt');
    await ask('DELETE', '/console/api/devices/device-1');
    const edited = lobbyWith([{ ...hello, title: 'New' }]);
    const published = await ask('PUT', '/console/api/content', edited, { 'If-Match': '*' });
    const { sha256, changedAt } = (await published.json()) as { sha256: string; changedAt: string };
    const { records, degraded } = await auditOf(service, secret);
    expect(degraded).toBe(false);
    const common = {
      at: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
      node_id: expect.any(String),
      operator: null,
      person: null,
      address: '127.0.0.1',
      result: 'ok',
    };
    const file = { size: 3, sha256: '7692c3ad3540bb803c020b3aee66cd8887123234ea0c6e7143c0add73ff431ed' };
    const [door, window] = ['Door', 'Window'].map((clientName) => ({ clientName, screenSlug: 'lobby' }));
    expect(records.toReversed()).toEqual([
      {
        ...common,
        operator: 'Jörg',
        action: 'screen.command',
        target: 'lobby',
        before: null,
        after: { command: 'blackout', blackout: true },
      },
      { ...common, action: 'device.bind', target: 'device-1', before: null, after: door },
      { ...common, action: 'device.bind', target: 'device-1', before: door, after: window },
      { ...common, action: 'medium.upload', target: 'a.txt', before: null, after: file },
      { ...common, action: 'medium.delete', target: 'a.txt', before: file, after: null },
      { ...common, action: 'device.forget', target: 'device-1', before: window, after: null },
      {
        ...common,
        action: 'content.publish',
        target: null,
        before: { sha256: expect.not.stringMatching(sha256), changedAt: expect.any(String) },
        after: { sha256, changedAt },
      },
    ]);
  },
);

test('the header of a relay is of no use on paths that boxes do not relay, and hides no change', async () => {
  const service = await startTestService({ content: lobby });
  const ask = createOperator(service, null);
  const relayed = { 'x-signage-relay': 'another-box' };
  expect((await ask('PUT', '/api/media/a.txt', 'one', relayed)).status).toBe(201);
  const published = await ask('PUT', '/console/api/content', lobby, { ...relayed, 'If-Match': '*' });
  expect(published.status).toBe(200);
  // What a box relays is recorded where it was asked for.
  expect((await ask('POST', '/api/screens/lobby/commands', { command: 'next' }, relayed)).status).toBe(200);
  expect((await ask('POST', '/api/onboarding', binding('Door'), relayed)).status).toBe(200);
  const { records } = await auditOf(service);
  expect(records.map(({ action }) => action)).toEqual(['content.publish', 'medium.upload']);
});

const at = (second: number): string => `2026-11-24T08:00:${String(second).padStart(2, '0')}.000Z`;
const recordAt = (second: number, more: Partial<AuditRecord> = {}): AuditRecord => ({
  ...{
    at: at(second),
    node_id: 'n',
    operator: 'Ada',
    person: null,
    address: null,
    action: 'screen.command',
    target: 'lobby',
  },
  ...{ before: null, after: null, result: 'ok', ...more },
});

test('a page ends where its limit is, and leaves none of the same millisecond behind', () => {
  const records = [9, 8, 8, 8, 7].map((second) => recordAt(second));
  const seconds = (limit: number): number[] => pageOf(records, limit).map((each) => new Date(each.at).getSeconds());
  expect([seconds(1), seconds(2), seconds(4), seconds(9)]).toEqual([[9], [9, 8, 8, 8], [9, 8, 8, 8], [9, 8, 8, 8, 7]]);
});

test.each<[string, object, Partial<AuditRecord>, boolean]>([
  ['a time before', { from: at(6) }, {}, false],
  ['the first moment', { from: at(5) }, {}, true],
  ['the end, which is excluded', { to: at(5) }, {}, false],
  ['another person', { operator: 'Boris' }, {}, false],
  ['another kind', { kind: 'takeover' }, {}, false],
  ['a draft that was published', { kind: 'content' }, { action: 'draft.publish' }, true],
  ['its command', { screen: 'lobby' }, {}, true],
  ['a medium of that name', { screen: 'lobby' }, { action: 'medium.delete' }, false],
  ['a takeover of all', { screen: 'bar' }, { action: 'takeover.start', after: { targets: ['all'] } }, true],
  ['a takeover of its tag', { screen: 'bar' }, { action: 'takeover.end', before: { targets: ['tag:late'] } }, true],
  ['a takeover of another', { screen: 'bar' }, { action: 'takeover.end', before: { targets: ['lobby'] } }, false],
  ['a display that left it', { screen: 'bar' }, { action: 'device.forget', before: { screenSlug: 'bar' } }, true],
])('the audit is asked by time, person, kind and screen: %s', (_, query, more, isFound) => {
  const tagsOf = (slug: string): string[] => (slug === 'bar' ? ['late'] : []);
  expect(isAsked({ limit: 10, ...query }, tagsOf)(recordAt(5, more))).toBe(isFound);
});

test('the audit is read in pages, of a person, and refuses what is no time', async () => {
  const service = await startTestService({ content: lobby });
  const ask = createOperator(service, null);
  for (const name of ['Ada', 'Boris', 'Ada'])
    await ask('POST', '/api/screens/lobby/commands', { command: 'next' }, { 'x-signage-operator': name });
  const read = async (query: string): Promise<AuditRecord[]> =>
    ((await (await ask('GET', `/console/api/audit?${query}`)).json()) as Answer).records;
  const all = await read('screen=lobby');
  expect(all.map(({ operator }) => operator)).toEqual(['Ada', 'Boris', 'Ada']);
  expect((await read('operator=Boris')).length).toBe(1);
  const [first] = await read('limit=1');
  expect(first?.at).toBe(all[0]?.at);
  expect((await read(`to=${first?.at}`)).length).toBeLessThan(3);
  expect(await read('from=2000-01-01&to=2000-01-02')).toEqual([]);
  const answer = await ask('GET', '/console/api/audit?from=yesterday');
  expect([answer.status, ((await answer.json()) as { error: object }).error]).toMatchObject([
    400,
    { code: 'invalid_field', field: 'from' },
  ]);
});

test('an edit of content.json is a record of the box whose file it is, made while it ran or before its start', async () => {
  const dataDir = temporaryFolder();
  const [one, two, three] = ['One', 'Two', 'Three'].map((title) => lobbyWith([{ ...hello, title }]));
  const first = await startTestService({ dataDir, content: one });
  const second = await startTestService({ env: { SIGNAGE_PEERS: first.url } });
  const titles = () => titlesOf(second).catch(() => null);
  await expect.poll(titles, patience).toEqual(['One']);
  first.writeContent(two);
  await expect.poll(titles, patience).toEqual(['Two']);
  await first.close();
  const again = await startTestService({ dataDir, content: three, env: { SIGNAGE_PEERS: second.url } });
  await expect.poll(titles, patience).toEqual(['Three']);
  await again.post('/api/screens/lobby/commands', { command: 'next' });
  const { sha256, changedAt } = (await (await again.get('/console/api/content')).json()) as Record<string, string>;
  const edit = { operator: null, address: null, action: 'content.publish', target: null, result: 'ok' };
  const { records } = await auditOf(again);
  expect(records).toMatchObject([
    { action: 'screen.command' },
    { ...edit, before: records[2]?.after, after: { sha256, changedAt } },
    { ...edit, before: { sha256: expect.any(String) } },
  ]);
});

test('reading changes nothing, and a request that is refused says why', async () => {
  const service = await startTestService({ content: lobby });
  await service.get('/healthz');
  await service.get('/api/screens/lobby/playlist');
  await service.post('/api/screens/bar/commands', { command: 'next' }, { 'x-signage-operator': 'x'.repeat(65) });
  await service.post('/api/screens/lobby/commands', { command: 'jump' });
  const { records } = await auditOf(service);
  expect(records.toReversed()).toMatchObject([
    { action: 'screen.command', target: 'bar', operator: null, after: { command: 'next' }, result: 'screen_not_found' },
    { action: 'screen.command', target: 'lobby', after: { command: 'jump' }, result: 'unknown_command' },
  ]);
});

test('requests of one address that failed are at most 20 a minute', async () => {
  const service = await startTestService({ content: lobby });
  for (let count = 0; count < 30; count += 1) await service.post('/api/screens/bar/commands', { command: 'next' });
  await service.post('/api/screens/lobby/commands', { command: 'next' });
  expect((await auditOf(service)).records.map(({ result }) => result)).toEqual([
    'ok',
    ...Array(20).fill('screen_not_found'),
  ]);
});

test('with a secret it takes a signed request, and refused credentials are one record a minute and address', async () => {
  const service = await startTestService({ content: lobby, env: secretSettings(operatorSecret) });
  const path = '/console/api/audit';
  expect((await service.get(path)).status).toBe(401);
  for (let count = 0; count < 10; count += 1) {
    expect((await createOperator(service, 'another secret altogether')('GET', path)).status).toBe(401);
  }
  const { records } = await auditOf(service, operatorSecret);
  const refusal = {
    action: 'credentials.refused',
    address: '127.0.0.1',
    operator: null,
    target: null,
    after: { count: 1 },
    result: 'credentials_required',
  };
  expect(records[0]).toMatchObject(refusal);
  // A second one where a minute ended meanwhile.
  expect(records.length).toBeLessThanOrEqual(2);
});

test('it outlives the service, kill -9 included, and a line that was broken off is dropped', async () => {
  const dataDir = temporaryFolder();
  const first = await startTestService({ dataDir, content: lobby });
  await first.post('/api/screens/lobby/commands', { command: 'next' });
  const path = join(dataDir, 'audit.jsonl');
  // On the disk before the answer: nothing else was closed yet.
  const whole = readFileSync(path, 'utf8');
  expect(whole).toMatch(/^\{.*\}\n$/);
  await first.close();
  writeFileSync(path, `${whole}{"at":"2026-`);
  const second = await startTestService({ dataDir });
  await second.post('/api/screens/lobby/commands', { command: 'previous' });
  expect((await auditOf(second)).records.map(({ after }) => after)).toEqual([
    { command: 'previous' },
    { command: 'next' },
  ]);
});

test.each(secretModes)(
  'any box answers for the whole site, a relayed change is recorded once, and a box that is away is told, %s',
  async (_, secret) => {
    const env = secretSettings(secret);
    const first = await startTestService({ content: lobby, env });
    const second = await startTestService({ content: lobby, env: { ...env, SIGNAGE_PEERS: first.url } });
    await expect.poll(async () => (await auditOf(second, secret)).degraded, patience).toBe(false);
    const send = (box: TestService, command: string) =>
      createOperator(box, secret)('POST', '/api/screens/lobby/commands', { command });
    await send(first, 'next');
    await send(second, 'previous');
    const commands = async (service: TestService) =>
      (await auditOf(service, secret)).records.map(({ after }) => (after as { command: string }).command);
    expect(await commands(second)).toEqual(['previous', 'next']);
    await expect.poll(() => commands(first), patience).toEqual(['previous', 'next']);
    await first.close();
    expect(await auditOf(second, secret)).toMatchObject({
      degraded: true,
      records: [{ after: { command: 'previous' } }],
    });
  },
);

test('a box answers for another one, however long the records of that one are', async () => {
  const dataDir = temporaryFolder();
  const [at, text] = ['2026-11-01T08:00:00.000Z', 'ä'.repeat(1_900)];
  const common = { at, node_id: 'a', operator: null, address: null, action: 'screen.command', result: 'ok' };
  const line = JSON.stringify({ ...common, target: 'lobby', before: { text }, after: { text } });
  writeFileSync(join(dataDir, 'audit.jsonl'), `${line}\n`.repeat(260));
  const first = await startTestService({ content: lobby, dataDir });
  const second = await startTestService({ content: lobby, env: { SIGNAGE_PEERS: first.url } });
  await expect.poll(async () => (await auditOf(second)).records.length, patience).toBe(260);
  expect((await auditOf(second)).degraded).toBe(false);
});

test('a disk that takes no records fails no request, and they follow once it does', async () => {
  const service = await startTestService({ content: lobby });
  // In the place of the file.
  const path = join(service.dataDir, 'audit.jsonl');
  mkdirSync(path);
  expect((await service.post('/api/screens/lobby/commands', { command: 'next' })).status).toBe(200);
  expect((await healthOf(service)).warnings).toEqual([
    expect.stringMatching(/^The audit cannot be written \(EISDIR\)/),
  ]);
  expect((await auditOf(service)).records).toHaveLength(1);
  rmSync(path, { recursive: true });
  await service.post('/api/screens/lobby/commands', { command: 'previous' });
  expect((await auditOf(service)).records).toHaveLength(2);
  expect((await healthOf(service)).warnings).toEqual([]);
});

const openLog = (folder: string) =>
  createAuditLog({ dirs: { data: folder } as ServiceContext['dirs'], log: pino({ level: 'silent' }) });
const recordOf = (index: number, after = ''): AuditRecord => ({
  at: new Date(index).toISOString(),
  node_id: 'a',
  operator: null,
  person: null,
  address: null,
  action: 'test',
  target: `${index}`,
  before: null,
  after,
  result: 'ok',
});

test('a record that is written while the files are read is told once', async () => {
  const log = openLog(temporaryFolder());
  for (let index = 0; index < 100; index += 1) {
    const written = log.write(recordOf(index));
    // It is on its way to the file, and waits for the disk.
    await nextTurn();
    const targets = (await log.newest(500, () => true)).map(({ target }) => target);
    expect(targets).toEqual([...new Set(targets)]);
    await written;
  }
  await log.close();
});

test('its files are bounded, and the newest records stay', async () => {
  const folder = temporaryFolder();
  const log = openLog(folder);
  for (let index = 0; index < 300; index += 1) await log.write(recordOf(index, 'x'.repeat(50_000)));
  await log.close();
  const sizes = readdirSync(folder).map((name) => statSync(join(folder, name)).size);
  expect(sizes).toHaveLength(5);
  expect(Math.max(...sizes)).toBeLessThan(2.2 * 1024 ** 2);
  const newest = await openLog(folder).newest(100, () => true);
  expect(newest.map(({ target }) => target)).toEqual(Array.from({ length: 100 }, (_, index) => `${299 - index}`));
  expect(existsSync(join(folder, 'audit.jsonl.5'))).toBe(false);
});

test('records from before a clock was set are on the page of their time, and equal times keep their order', async () => {
  const log = openLog(temporaryFolder());
  for (const [index, target] of ['b', 'd', 'a', 'c', 'e'].entries()) {
    await log.write({ ...recordOf([2, 3, 1, 3, 3][index] ?? 0), target });
  }
  const pageBefore = async (at: number): Promise<string> =>
    (await log.newest(1, (record) => record.at < new Date(at).toISOString())).map(({ target }) => target).join('');
  expect([await pageBefore(9), await pageBefore(3), await pageBefore(2)]).toEqual(['ecd', 'b', 'a']);
  await log.close();
});

test('a state is cut to what a line of a log can hold', () => {
  expect(boundedState({ title: 'x'.repeat(300), level: 'info' })).toEqual({
    title: `${'x'.repeat(200)}…`,
    level: 'info',
  });
  expect(boundedState(Array(5_000).fill(1))).toEqual({ omitted: '10001 characters' });
  expect(boundedState(undefined)).toBe(null);
});

describe('what is counted', () => {
  afterEach(() => vi.useRealTimers());

  const start = () => {
    vi.useFakeTimers({ toFake: ['setInterval', 'clearInterval', 'Date', 'performance'] });
    const written: AuditRecord[] = [];
    const write = async (record: AuditRecord): Promise<void> => void written.push(record);
    const audit = createAudit(
      {
        ids: { nodeId: 'a', instance: 'b' },
        now: Date.now,
        monotonicNow: () => performance.now(),
        tempo: defaultTempo,
      },
      { log: { write, note: write }, states: () => ({}) },
    );
    audit.start();
    const counts = () =>
      written.flatMap(({ action, address, after }) =>
        action === 'credentials.refused' ? [[address, (after as { count: number }).count]] : [],
      );
    return { audit, written, counts, results: () => written.map(({ result }) => result) };
  };

  test('are changes that a leaked token makes over and over, so that they displace no others', async () => {
    const { audit, written } = start();
    const fired = { operator: null, address: '10.0.0.1', action: 'trigger.fire', target: 'f0', before: null };
    const rule = { action: 'screen.command', subject: 'screen', id: 'slug', fields: ['command'] } as const;
    const asked = { params: { slug: 'lobby' }, operator: 'mqtt', address: null, source: 'device-1' };
    for (let second = 0; second < 3_600; second += 1) {
      await audit.record({ ...fired, after: { name: 'Bell' }, result: 'ok' }, 'f0');
      await audit.during(rule, asked, (onBody) => onBody({ command: 'next' }));
      vi.advanceTimersByTime(1_000);
    }
    await audit.record({ ...fired, after: { name: 'Bell' }, result: 'message_not_found' }, 'f0');
    await audit.record({ ...fired, target: 'f1', after: null, result: 'ok' }, 'f1');
    expect(written.slice(-2).map(({ target, result }) => [target, result])).toEqual([
      ['f0', 'message_not_found'],
      ['f1', 'ok'],
    ]);
    audit.close();
    for (const action of ['trigger.fire', 'screen.command']) {
      const own = written.filter((each) => each.action === action && each.target !== 'f1' && each.result === 'ok');
      expect(own.length).toBeLessThan(70);
      expect(own.slice(0, 10).map(({ after }) => after)).toEqual(Array(10).fill(own[0]?.after));
      const counts = own.map(({ after }) => (after as { count?: number }).count ?? 1);
      expect(counts.reduce((sum, count) => sum + count, 0)).toBe(3_600);
    }
  });

  test('are refused credentials, which are told at once, and then for a minute', () => {
    const { audit, counts } = start();
    for (let count = 0; count < 50; count += 1) audit.onRefused('10.0.0.1', 'signature_invalid');
    audit.onRefused('10.0.0.2', 'page_token_expired');
    expect(counts()).toEqual([
      ['10.0.0.1', 1],
      ['10.0.0.2', 1],
    ]);
    vi.advanceTimersByTime(59_000);
    expect(counts()).toHaveLength(2);
    vi.advanceTimersByTime(2_000);
    expect(counts().slice(2)).toEqual([['10.0.0.1', 49]]);
    vi.advanceTimersByTime(120_000);
    expect(counts()).toHaveLength(3);
    audit.close();
  });

  test('are credentials that somebody shows who has neither a key nor the secret, too, by the network of an address', async () => {
    const { audit, counts, results } = start();
    const rule = { action: 'device.bind', subject: 'device', id: 'deviceId' } as const;
    const wrong = new CodedError('claim_invalid');
    const errors = [wrong, new CodedError('claim_required'), new CodedError('too_many_requests', '', { cause: wrong })];
    const fail = async (address: string, error: CodedError, person: AuditRecord['person'] = null): Promise<void> => {
      const asked = { params: { deviceId: 'door' }, operator: null, person, address };
      await expect(audit.during(rule, asked, () => Promise.reject(error))).rejects.toBe(error);
    };
    for (let host = 1; host <= 30; host += 1)
      for (const error of errors) await fail(`2001:db8::${host.toString(16)}`, error);
    expect(counts()).toEqual([['2001:db8::1', 1]]);
    // What else fails is a record of its own, by the same network.
    for (let host = 1; host <= 30; host += 1) await fail(`2001:db8::${host}`, new CodedError('too_many_requests'));
    await fail('10.0.0.1', new CodedError('invitation_invalid'), { id: 'eve', name: 'Eve' });
    audit.close();
    expect(results()).toEqual([
      'claim_invalid',
      ...Array(20).fill('too_many_requests'),
      'invitation_invalid',
      'too_many_requests',
    ]);
    expect(counts().at(-1)).toEqual(['2001:db8::1e', 89]);
  });

  test('are refused credentials of very many addresses, which share one record, so that they displace no changes', () => {
    const { audit, counts } = start();
    for (let address = 0; address < 5_000; address += 1) audit.onRefused(`10.0.${address >> 8}.${address & 255}`, 'x');
    expect(counts()).toHaveLength(20);
    audit.close();
    expect(counts().length).toBeLessThan(50);
    expect(counts().reduce((sum, [, count]) => sum + Number(count), 0)).toBe(5_000);
  });
});

test('every operation that changes something is audited', () => {
  // What boxes tell each other was audited by the box that an operator asked.
  const isExempt = (name: string): boolean =>
    // A draft is saved a second after each change.
    // A sign-in is audited once the person has signed in.
    // What a trigger does is audited as its effect; trying it shows nothing.
    [
      ...['POST /api/auth/page', 'POST /console/api/content/check', 'PUT /console/api/drafts/:id'],
      ...['POST /api/triggers/:token', 'POST /console/api/triggers/:id/try'],
      'POST /console/api/oidc',
    ].includes(name) || name.includes(' /api/peers/');
  const unaudited = (Object.entries(operations) as [string, Operation][])
    .filter(([name, { audit }]) => !/^GET /.test(name) && audit === undefined)
    .map(([name]) => name);
  expect(unaudited.filter((name) => !isExempt(name))).toEqual([]);
});
