/** Boxes of one site share the content and the bindings, whichever box was edited and whichever was away. */
import { randomUUID } from 'node:crypto';
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from 'vitest';
import type { ReplicationHealth } from '../../service/contract/health.ts';
import { lobby, lobbyWith } from '../content/samples.ts';
import { openLanding } from '../devices/support.ts';
import { logged, patience, payloadOf, titlesOf } from '../support/observe.ts';
import { startTestService, type TestService, temporaryFolder } from '../support/service.ts';
import { repeats } from '../support/soak.ts';
import { joinLobby, postTo, secretModes, startBox, startSite, untilTogether } from './support.ts';

const saying = (title: string) => lobbyWith([{ kind: 'text', title }]);

const replicationOf = async (box: TestService): Promise<ReplicationHealth> =>
  (await (await box.get('/healthz')).json()).replication;
const revisionOf = async (box: TestService) => (await payloadOf(box)).revision;
const fileOf = ({ dataDir }: TestService) => readFileSync(join(dataDir, 'content.json'), 'utf8');
const lostAt = ({ dataDir }: TestService) =>
  readdirSync(dataDir)
    .filter((name) => name.startsWith('content.json.lost-'))
    .map((name) => readFileSync(join(dataDir, name), 'utf8'));

/** Waits until all boxes show one revision, of a slide with this title. */
const untilAllSay = async (boxes: readonly TestService[], title: string): Promise<void> => {
  for (const box of boxes) await expect.poll(() => titlesOf(box).catch(() => []), patience).toEqual([title]);
  const revisions = async () => new Set(await Promise.all(boxes.map(revisionOf)));
  await expect.poll(async () => (await revisions()).size, patience).toBe(1);
};

const bind = (box: TestService, deviceId: string, screenSlug = 'lobby') =>
  postTo(box, '/api/onboarding', { deviceId, clientName: `Name of ${deviceId}`, screenSlug });
const boundTo = async (box: TestService, deviceId: string): Promise<string | null> =>
  (await (await box.get(`/api/onboarding/status?deviceId=${deviceId}`)).json()).screenSlug;

/** Restarts a box on the same data, with the given peers. */
const comeBack = (box: TestService, peers: readonly Pick<TestService, 'url'>[]) =>
  startTestService({ dataDir: box.dataDir, env: { SIGNAGE_PEERS: peers.map(({ url }) => url).join(',') } });

describe.each(secretModes)('%s', (_, env) => {
  test('an edit on any box is written on every box, plays there, and notifies its pages', async () => {
    const boxes = await startSite({ env }, 1);
    await untilAllSay(boxes, 'Hello');
    const page = await joinLobby(boxes[2] as TestService);
    for (const [at, box] of boxes.entries()) {
      box.writeContent(saying(`edit ${at}`));
      await untilAllSay(boxes, `edit ${at}`);
      for (const each of boxes) {
        await expect.poll(() => fileOf(each), patience).toBe(JSON.stringify(saying(`edit ${at}`)));
      }
    }
    await page.message(({ type }) => type === 'revision');
    expect(boxes.flatMap(lostAt)).toEqual([]);
    expect((await replicationOf(boxes[0])).refused).toEqual([]);
  });
});

test('a new box adopts the content of the site, and the demo content is not replicated', async () => {
  const one = await startBox([], { content: saying('the site’s') });
  const dataDir = temporaryFolder();
  const fresh = await startTestService({ dataDir, env: { SIGNAGE_PEERS: one.url } });
  await untilAllSay([one, fresh], 'the site’s');
  expect((await fresh.get('/api/screens/demo/playlist')).status).toBe(404);
  expect(lostAt(fresh)).toEqual([]);
  expect((await replicationOf(fresh)).content).toEqual((await replicationOf(one)).content);
});

test('a box that was away catches up, also after a restart of both', async () => {
  const [one, other] = await startSite();
  await untilAllSay([one, other], 'Hello');
  await other.close();
  one.writeContent(saying('meanwhile'));
  await untilAllSay([one], 'meanwhile');
  const back = await comeBack(other, [one]);
  await untilAllSay([one, back], 'meanwhile');
  expect(lostAt(back)).toEqual([]);
  await back.close();
  await one.close();
  // Each box still has it without any peer.
  await untilAllSay([await comeBack(other, []), await comeBack(one, [])], 'meanwhile');
});

test('of two concurrent edits one plays on every box; the other is kept and reported on its own box', async () => {
  const [left, right] = await startSite();
  await untilAllSay([left, right], 'Hello');
  await right.close();
  left.writeContent(saying('left'));
  await untilAllSay([left], 'left');
  // Boxes know each other's addresses from before: each edits while the other is off.
  await left.close();
  const alone = await comeBack(right, []);
  alone.writeContent(saying('right'));
  await untilAllSay([alone], 'right');
  await alone.close();
  const one = await comeBack(left, []);
  const back = await comeBack(right, [one]);
  await untilTogether([one, back]);
  await expect.poll(() => [...lostAt(one), ...lostAt(back)].length, patience).toBe(1);
  const isOneTheLoser = lostAt(one).length === 1;
  const [winner, loser] = isOneTheLoser ? [back, one] : [one, back];
  await untilAllSay([one, back], isOneTheLoser ? 'right' : 'left');
  expect(lostAt(loser)).toEqual([JSON.stringify(saying(isOneTheLoser ? 'left' : 'right'))]);
  expect((await replicationOf(loser)).lost).toHaveLength(1);
  expect((await replicationOf(winner)).lost).toEqual([]);
  const warning = 'another edit replaced content.json; the replaced text was saved as a backup beside it';
  expect(logged(loser, warning)).toHaveLength(1);
});

test('an invalid edit is not replicated', async () => {
  const [one, other] = await startSite();
  await untilAllSay([one, other], 'Hello');
  one.writeContent({ screens: [{}] });
  await expect.poll(async () => (await (await one.get('/healthz')).json()).content.status, patience).toBe('invalid');
  // What a box tells of itself has come to the other by then.
  await bind(one, 'd1');
  await expect.poll(() => boundTo(other, 'd1'), patience).toBe('lobby');
  expect((await replicationOf(other)).refused).toEqual([]);
  other.writeContent(saying('from elsewhere'));
  await untilAllSay([one, other], 'from elsewhere');
  expect(lostAt(one)).toEqual([JSON.stringify({ screens: [{}] })]);
  expect(lostAt(other)).toEqual([]);
});

describe('bindings', () => {
  test('reach every box, also one that was away', async () => {
    const [one, other] = await startSite();
    await bind(one, 'd1');
    await expect.poll(() => boundTo(other, 'd1'), patience).toBe('lobby');
    await other.close();
    await bind(one, 'd2');
    const back = await comeBack(other, [one]);
    await expect.poll(() => boundTo(back, 'd2'), patience).toBe('lobby');
  });

  test('made while a box was away reach the pages of the device on that box', async () => {
    const one = await startBox([]);
    const alone = await startBox([], { content: lobby });
    const deviceId = randomUUID();
    const page = await openLanding(alone, deviceId);
    await bind(one, deviceId);
    // A box that receives a request adds its sender as a candidate.
    await startBox([one, alone]);
    const told = await page.message(({ onboarded }) => onboarded === true);
    expect(told).toMatchObject({ screenSlug: 'lobby' });
  });
});

/** Number of boxes on each side of the partition. */
const side = repeats(2, 5, 'SIGNAGE_TEST_PARTITION');

test(`a site that was partitioned into two halves of ${side} converges when one box reaches both`, {
  timeout: 120_000,
}, async () => {
  const half = async () => {
    const first = await startBox([]);
    const others = await Promise.all(Array.from({ length: side - 1 }, () => startBox([first])));
    await untilTogether([first, ...others]);
    return [first, ...others] as [TestService, ...TestService[]];
  };
  const halves = [await half(), await half()] as const;
  for (const [at, boxes] of halves.entries()) {
    boxes[0].writeContent(saying(`half ${at}`));
    await untilAllSay(boxes, `half ${at}`);
    for (const [n, box] of boxes.entries()) await bind(box, `device-${at}-${n}`);
  }
  // A second edit on one side: the side with more edits wins.
  halves[1][0].writeContent(saying('half 1, again'));
  await untilAllSay(halves[1], 'half 1, again');

  const all = halves.flat();
  const startedAt = performance.now();
  const bridge = await startBox([halves[0][0], halves[1][0]], { content: undefined });
  await untilAllSay([...all, bridge], 'half 1, again');
  const devices = halves.flatMap((boxes, at) => boxes.map((_, n) => `device-${at}-${n}`));
  for (const box of [...all, bridge]) {
    for (const device of devices) await expect.poll(() => boundTo(box, device), patience).toBe('lobby');
  }
  console.log(`${2 * side} boxes are one again after ${Math.round(performance.now() - startedAt)} ms`);
  for (const box of halves[0]) expect(lostAt(box)).toEqual([JSON.stringify(saying('half 0'))]);
  for (const box of halves[1]) expect(lostAt(box)).toEqual([]);
});
