/** Thousands of candidates, most of them forged: probes and stored addresses stay bounded, and real boxes are found. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { PeerState } from '../../service/contract/peers.ts';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { emptyPeerState, unitContext } from './support.ts';

const site = 'default';
const stateOf = (nodeId: string): PeerState => ({ ...emptyPeerState, nodeId, instance: nodeId, site });

/** A LAN in which some addresses answer at once and calls to the rest fail after a second, with fake timers. */
const createLan = (boxes: ReadonlyMap<string, string>) => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const lan = { underWay: 0, most: 0, asked: 0 };
  const caller = {
    call: async (url: string) => {
      lan.asked += 1;
      lan.underWay += 1;
      lan.most = Math.max(lan.most, lan.underWay);
      const nodeId = boxes.get(url);
      if (nodeId === undefined) await new Promise((resolve) => setTimeout(resolve, 1_000));
      lan.underWay -= 1;
      return nodeId === undefined
        ? { ok: false as const, status: null, code: null, reason: 'did not answer' }
        : { ok: true as const, status: 200, body: stateOf(nodeId), address: '' };
    },
    close: () => {},
  } as unknown as Caller;
  const registry = createRegistry({ ...unitContext(), random: () => 0.5 }, { site, staticPeers: [], caller });
  onTestFinished(registry.close);
  registry.start(8080);
  return { lan, registry };
};

test('of a thousand forged announcements few are probed at a time, all are removed, and a real box among them is found', async () => {
  const box = 'http://192.0.2.77:8080';
  const { lan, registry } = createLan(new Map([[box, randomUUID()]]));
  const flood = (): void => {
    for (let n = 0; n < 1000; n++) registry.addCandidate(`http://198.51.100.${n % 250}:${8000 + n}`, 'discovered');
  };
  flood();
  registry.addCandidate(box, 'discovered');
  for (let minute = 0; minute < 3; minute++) {
    await vi.advanceTimersByTimeAsync(60_000);
    flood();
    registry.addCandidate(box, 'discovered');
  }
  expect(registry.alive().map(({ url }) => url)).toEqual([box]);
  expect(registry.all()).toHaveLength(1);
  expect(lan.most).toBeLessThanOrEqual(9);

  await vi.advanceTimersByTimeAsync(600_000);
  const before = lan.asked;
  await vi.advanceTimersByTimeAsync(600_000);
  // Only the box is probed, every half minute.
  expect(lan.asked - before).toBeLessThanOrEqual(20);
});

test('a box that makes contact is probed even after a flood of announcements', async () => {
  const box = 'http://192.0.2.77:8080';
  const nodeId = randomUUID();
  const { registry } = createLan(new Map([[box, nodeId]]));
  for (let n = 0; n < 1000; n++) registry.addCandidate(`http://198.51.100.${n % 250}:${8000 + n}`, 'discovered');
  registry.onContact(nodeId, '192.0.2.77', 8080, false);
  // After the probes in progress have failed.
  await vi.advanceTimersByTimeAsync(1_500);
  expect(registry.alive()).toMatchObject([{ nodeId, url: box }]);
});

test('a discovered peer is removed after more than a day away, and at once after its goodbye', async () => {
  const boxes = new Map([
    ['http://192.0.2.1:8080', randomUUID()],
    ['http://192.0.2.2:8080', randomUUID()],
  ]);
  const { registry } = createLan(boxes);
  for (const url of boxes.keys()) registry.addCandidate(url, 'discovered');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(registry.alive()).toHaveLength(2);
  await vi.advanceTimersByTimeAsync(10_000);
  const known = [...boxes.values()];
  boxes.clear();
  registry.goodbye('http://192.0.2.1:8080');
  // Another box that checks it reports this.
  for (const nodeId of known) void registry.verify(nodeId);
  await vi.advanceTimersByTimeAsync(120_000);
  expect(registry.all()).toMatchObject([{ url: 'http://192.0.2.2:8080', alive: false, reason: 'did not answer' }]);
  // The longest grace of alerts.
  await vi.advanceTimersByTimeAsync(86_400_000);
  expect(registry.all()).toHaveLength(1);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(registry.all()).toEqual([]);
});

test('a forged goodbye of a box that still answers changes nothing', async () => {
  const box = 'http://192.0.2.1:8080';
  const { registry } = createLan(new Map([[box, randomUUID()]]));
  registry.addCandidate(box, 'discovered');
  await vi.advanceTimersByTimeAsync(1_000);
  registry.goodbye(box);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(registry.alive()).toMatchObject([{ url: box }]);
});

test('after a partition an old goodbye does not keep a box away, neither before nor after its return', async () => {
  const url = 'http://192.0.2.1:8080';
  const other = 'http://192.0.2.2:8080';
  const [nodeId, otherId] = [randomUUID(), randomUUID()];
  const boxes = new Map([
    [url, nodeId],
    [other, otherId],
  ]);
  const { registry } = createLan(boxes);
  for (const each of boxes.keys()) registry.addCandidate(each, 'discovered');
  await vi.advanceTimersByTimeAsync(1_000);
  boxes.delete(url);
  registry.goodbye(url);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(registry.alive()).toMatchObject([{ url: other }]);

  boxes.set(url, nodeId);
  registry.onContact(nodeId, '192.0.2.1', 8080, false);
  await vi.advanceTimersByTimeAsync(1_000);
  registry.goodbye(url);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(
    registry
      .alive()
      .map((peer) => peer.url)
      .toSorted(),
  ).toEqual([url, other]);
});
