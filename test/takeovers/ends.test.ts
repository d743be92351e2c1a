/** Takeovers through the front door: what ends, how long an end is remembered, and how many a site takes. */
import { randomUUID } from 'node:crypto';
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { pino } from 'pino';
import { describe, expect, onTestFinished, test } from 'vitest';
import type { ServiceContext } from '../../service/module.ts';
import { openEnds } from '../../service/takeovers/ends.ts';
import { createTakeovers } from '../../service/takeovers/index.ts';
import { lobby } from '../content/samples.ts';
import { emptyPeerState, startSite } from '../peers/support.ts';
import { startHostileBox } from '../support/hostile-box.ts';
import { healthOf, patience, payloadOf } from '../support/observe.ts';
import { createOperator, refusalOf } from '../support/operator.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { walk } from '../support/soak.ts';
import { testTempo } from '../support/tempo.ts';

const HOUR = 3_600_000;
const inMinutes = (minutes: number, from = Date.now()): string => new Date(from + minutes * 60_000).toISOString();
const takeover = (changes: object = {}) => ({
  targets: ['all'],
  level: 'info',
  title: 'Stairs',
  until: inMinutes(60),
  ...changes,
});
const putTo = (service: TestService) => {
  const ask = createOperator(service, null);
  return (id: string, changes?: object) => ask('PUT', `/console/api/takeovers/${id}`, takeover(changes));
};
const end = (service: TestService, id: string) =>
  createOperator(service, null)('DELETE', `/console/api/takeovers/${id}`);
const slidesOf = async (service: TestService) => (await payloadOf(service)).slides.map(({ id }) => id);

/** Takeovers with nothing else of a box. */
const openTakeovers = async () => {
  const keep: ServiceContext['keep'] = (store) => {
    onTestFinished(async () => void (await store.close()));
    return store;
  };
  const clock = { now: Date.now, monotonicNow: () => performance.now() };
  const context = {
    options: { variant: 'extended' },
    dirs: { data: temporaryFolder() },
    log: pino({ level: 'silent' }),
    ...clock,
    tempo: testTempo,
    keep,
  };
  const takeovers = await createTakeovers(context as unknown as ServiceContext);
  const put = (id: string, level: 'info' | 'emergency' = 'info', title = 'Stairs') =>
    takeovers.put({
      id,
      targets: ['all'],
      level,
      title,
      body: null,
      media_url: null,
      from: inMinutes(0),
      until: inMinutes(60),
    });
  return { takeovers, put };
};

describe('a site takes', () => {
  test('an emergency beside 100 open takeovers, and of those 20 open and 20 a minute', async () => {
    const { takeovers, put } = await openTakeovers();
    for (let index = 0; index < 100; index += 1) await put(`t-${index}`);
    await expect(put('one-more')).rejects.toMatchObject({
      code: 'too_many_takeovers',
      message: expect.stringMatching(/100 .*20 .*emergencies/),
    });
    for (let index = 0; index < 20; index += 1) await put(`e-${index}`, 'emergency');
    await expect(put('e-20', 'emergency')).rejects.toMatchObject({ code: 'too_many_takeovers' });
    await takeovers.end('e-3');
    await expect(put('e-20', 'emergency')).rejects.toMatchObject({ code: 'too_many_requests' });
    // One that is open is changed at any time.
    expect((await put('e-4', 'emergency', 'Leave')).isNew).toBe(false);
    await expect(put('t-4', 'emergency')).rejects.toMatchObject({ code: 'too_many_requests' });
  });

  test('600 new ones a minute, of which none keeps an emergency out', async () => {
    const { takeovers, put } = await openTakeovers();
    for (let first = 0; first < 600; first += 50) {
      const ids = Array.from({ length: 50 }, (_, at) => `t-${first + at}`);
      await Promise.all(ids.map((id) => put(id)));
      await Promise.all(ids.map((id) => takeovers.end(id)));
    }
    await expect(put('t-600')).rejects.toMatchObject({
      code: 'too_many_requests',
      headers: { 'Retry-After': expect.stringMatching(/^([1-5]?\d|60)$/) },
    });
    expect((await put('fire', 'emergency')).isNew).toBe(true);
  });

  test('as many at all boxes together, and says so with 429 and Retry-After', async () => {
    const boxes = await startSite();
    const all = (name: string, action: (id: string) => Promise<unknown>) =>
      Promise.all(Array.from({ length: 10 }, (_, index) => action(`${name}-${index}`)));
    for (const [index, box] of boxes.entries()) {
      await all(`e${index}`, (id) => putTo(box)(id, { level: 'emergency' }));
      await all(`e${index}`, (id) => end(box, id));
    }
    for (const box of boxes) {
      const refused = await putTo(box)('fire', { level: 'emergency' });
      expect(Number(refused.headers.get('Retry-After'))).toBeGreaterThan(10);
      expect(await refusalOf(refused)).toEqual([429, 'too_many_requests']);
    }
  });
});

test('an emergency that was ended does not come back with a box that was away, whatever has come and gone meanwhile', {
  ...walk,
  timeout: 120_000,
}, async () => {
  const first = await startTestService({ content: lobby });
  const dataDir = temporaryFolder();
  const env = { SIGNAGE_PEERS: first.url };
  const second = await startTestService({ dataDir, env });
  const put = putTo(first);
  // First open for a month, and then for a few minutes.
  await put('fire', { level: 'emergency', until: inMinutes(31 * 24 * 60 - 5) });
  await expect.poll(() => slidesOf(second), patience).toEqual(['takeover-fire', 'welcome-1']);
  await second.close();
  await put('fire', { level: 'emergency', until: inMinutes(5) });
  expect((await end(first, 'fire')).status).toBe(204);
  for (let from = 0; from < 410; from += 82) {
    const ids = Array.from({ length: 82 }, (_, index) => `t-${from + index}`);
    await Promise.all(ids.map((id) => put(id)));
    await Promise.all(ids.map((id) => end(first, id)));
  }
  const [line] = readFileSync(join(first.dataDir, 'takeovers.ends.jsonl'), 'utf8')
    .split('\n')
    .filter((each) => each.includes('"fire"'));
  expect(line).toBeDefined();
  const back = await startTestService({ dataDir, env });
  await expect.poll(() => slidesOf(back), patience).toEqual(['welcome-1']);
  expect(await slidesOf(first)).toEqual(['welcome-1']);
});

const daysAgo = (days: number): string => new Date(Date.now() - days * 24 * HOUR).toISOString();
const endless = {
  ...takeover({ level: 'emergency', until: null }),
  ...{ id: 'fire', body: null, media_url: null, from: daysAgo(40), updatedAt: daysAgo(40), endedAt: null },
};
const endedLongAgo = () => {
  const dataDir = temporaryFolder();
  const end = { id: 'fire', updatedAt: daysAgo(35), until: null };
  writeFileSync(join(dataDir, 'takeovers.ends.jsonl'), `${JSON.stringify(end)}\n`);
  return { content: lobby, dataDir, isSynchronized: () => true };
};

test('an emergency without an end ends at a box that was away for longer than a month, too', async () => {
  const away = await startTestService({ content: lobby, isSynchronized: () => true });
  await expect.poll(async () => (await healthOf(away)).sync.established, patience).toBe(true);
  await away.post('/api/peers/takeovers', { takeovers: [endless] });
  expect(await slidesOf(away)).toEqual(['takeover-fire', 'welcome-1']);
  const first = await startTestService({ ...endedLongAgo(), env: { SIGNAGE_PEERS: away.url } });
  await expect.poll(() => slidesOf(away), patience).toEqual(['welcome-1']);
  expect(await slidesOf(first)).toEqual(['welcome-1']);
});

test('a box that did not take the ends that it lacks is sent them again', async () => {
  const taken: unknown[] = [];
  let refusals = 0;
  const nodeId = randomUUID();
  const away = await startHostileBox(({ method, url }, response, body) => {
    const path = (url ?? '').split('?')[0];
    const isSent = method === 'POST' && path === '/api/peers/takeovers';
    if (isSent && refusals > 0) taken.push(JSON.parse(body));
    if (isSent) refusals += 1;
    const answers: Record<string, unknown> = {
      '/api/peers/state': { ...emptyPeerState, ...{ nodeId, instance: nodeId, serverTime: Date.now() } },
      '/api/peers/takeovers': isSent ? {} : { takeovers: [endless] },
    };
    const status = isSent && refusals === 1 ? 503 : path !== undefined && path in answers ? 200 : 404;
    response.writeHead(status, { 'Content-Type': 'application/json' }).end(JSON.stringify(answers[path ?? ''] ?? {}));
  });
  await startTestService({ ...endedLongAgo(), env: { SIGNAGE_PEERS: away } });
  await expect
    .poll(() => taken[0], patience)
    .toMatchObject({ takeovers: [{ id: 'fire', endedAt: expect.any(String) }] });
});

test('an end whose line a power cut has kept from the file is in it after the next start', async () => {
  const dataDir = temporaryFolder();
  const before = await startTestService({ content: lobby, dataDir });
  await putTo(before)('fire', { level: 'emergency' });
  await end(before, 'fire');
  await before.close();
  const path = join(dataDir, 'takeovers.ends.jsonl');
  const line = readFileSync(path, 'utf8');
  writeFileSync(path, '');
  await startTestService({ dataDir });
  await expect.poll(() => readFileSync(path, 'utf8'), patience).toBe(line);
});

test.each([
  ['an emergency', 'emergency', ['takeover-lift', 'welcome-1']],
  ['another one', 'warning', ['welcome-1']],
])('of a clock that was two hours ahead at the start %s is not over for good', async (_, level, meanwhile) => {
  const dataDir = temporaryFolder();
  const before = await startTestService({ content: lobby, dataDir });
  await putTo(before)('lift', { level });
  await before.close();
  let ahead = 2 * HOUR;
  const service = await startTestService({ dataDir, wall: () => Date.now() + ahead });
  // Longer than a box that is alone waits for the time of others.
  await new Promise((resolve) => setTimeout(resolve, 1_000));
  const { slides } = await payloadOf(service);
  expect(slides.map(({ id }) => id)).toEqual(meanwhile);
  expect(slides[0]?.schedule_end_datetime).toBe(null);
  ahead = 0;
  await expect.poll(() => slidesOf(service), patience).toEqual(['takeover-lift', 'welcome-1']);
  await service.close();
  const again = await startTestService({ dataDir });
  expect(await slidesOf(again)).toEqual(['takeover-lift', 'welcome-1']);
});

test('an emergency stays where the clock that it was started by is set back, also by a restart', async () => {
  let ahead = 2 * HOUR;
  const wall = (): number => Date.now() + ahead;
  const dataDir = temporaryFolder();
  const before = await startTestService({ content: lobby, wall, dataDir });
  await putTo(before)('fire', { level: 'emergency', until: null });
  await putTo(before)('lift', { until: inMinutes(180) });
  expect(await slidesOf(before)).toEqual(['takeover-fire', 'takeover-lift', 'welcome-1']);
  ahead = 1 * HOUR;
  let service = before;
  const first = async () => (await payloadOf(service)).slides[0];
  await expect.poll(first, patience).toMatchObject({ id: 'takeover-fire', schedule_start_datetime: null });
  await before.close();
  ahead = 0;
  service = await startTestService({ wall, dataDir });
  await expect.poll(first, patience).toMatchObject({ id: 'takeover-fire', schedule_start_datetime: null });
  // A planned emergency is not on, even if the record that it replaces has a later time.
  const from = inMinutes(30);
  await putTo(service)('fire', { level: 'emergency', from, until: null });
  await expect.poll(first, patience).toMatchObject({ id: 'takeover-fire', schedule_start_datetime: from });
});

test('a clock that the system calls synchronized ends it', async () => {
  const dataDir = temporaryFolder();
  const before = await startTestService({ content: lobby, dataDir });
  await putTo(before)('lift', { level: 'emergency' });
  await before.close();
  const service = await startTestService({ dataDir, wall: () => Date.now() + 2 * HOUR, isSynchronized: () => true });
  await expect.poll(() => slidesOf(service), patience).toEqual(['welcome-1']);
  await service.close();
  expect(await slidesOf(await startTestService({ dataDir }))).toEqual(['welcome-1']);
});

describe('what is remembered of ends', () => {
  const open = (data: string) => openEnds({ dirs: { data } as ServiceContext['dirs'], log: pino({ level: 'silent' }) });
  const updatedAt = '2026-06-01T00:00:00.000Z';
  const until = '2026-06-20T00:00:00.000Z';

  test('outlives the box, with the latest time that an id ever had, and a line that was broken off is dropped', async () => {
    const folder = temporaryFolder();
    const ends = await open(folder);
    await ends.note({ id: 'fire', updatedAt, until });
    await ends.note({ id: 'fire', updatedAt: '2026-06-02T00:00:00.000Z', until: '2026-06-02T00:01:00.000Z' });
    await ends.close();
    const path = join(folder, 'takeovers.ends.jsonl');
    writeFileSync(path, `${readFileSync(path, 'utf8')}{"id":"li`);
    const interrupted = `${path}.8c0a2f8e-6b1f-4a8e-9a55-0f9d6f1f2a11.tmp`;
    writeFileSync(interrupted, '{"id":"li');
    const again = await open(folder);
    expect(existsSync(interrupted)).toBe(false);
    expect(again.get('fire')).toEqual({ id: 'fire', updatedAt: '2026-06-02T00:00:00.000Z', until });
    expect(again.get('li')).toBe(undefined);
    await again.note({ id: 'lift', updatedAt, until });
    await again.close();
    expect((await open(folder)).get('lift')).toEqual({ id: 'lift', updatedAt, until });
  });

  test('is forgotten once a clock that can be relied on says that the time has passed, else after 400 days', async () => {
    const ends = await open(temporaryFolder());
    await ends.note({ id: 'fire', updatedAt, until });
    ends.forget(Date.parse(until) - 1, true);
    ends.forget(Date.parse(until) + 300 * 86_400_000, false);
    expect(ends.get('fire')).toBeDefined();
    ends.forget(Date.parse(updatedAt) + 400 * 86_400_000, false);
    expect(ends.get('fire')).toBe(undefined);
    await ends.note({ id: 'fire', updatedAt, until });
    ends.forget(Date.parse(until), true);
    expect(ends.get('fire')).toBe(undefined);
    await ends.close();
  });
});

test('a takeover that ends while it is changed stays over', async () => {
  const { takeovers, put } = await openTakeovers();
  await put('lift');
  const rename = (title: string) => takeovers.rewrite('lift', (current) => ({ ...current, title }));
  expect(await rename('Lift')).toMatchObject({ title: 'Lift', endedAt: null });
  const [ended, rewritten] = await Promise.all([takeovers.end('lift'), rename('Again')]);
  expect([ended.title, rewritten, takeovers.open()]).toEqual(['Lift', undefined, []]);
  expect(await takeovers.rewrite('none', (current) => current)).toBe(undefined);
});
