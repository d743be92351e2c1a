/** Hints by the thousand, most of them forged: what is asked and kept stays bounded, and who is there is found. */
import { randomUUID } from 'node:crypto';
import { pino } from 'pino';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { PeerState } from '../../service/contract/peers.ts';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';

const site = 'default';
const stateOf = (nodeId: string): PeerState => ({
  nodeId,
  instance: nodeId,
  site,
  version: '1.0.0',
  serverTime: 0,
  peers: [],
  content: null,
  bindings: '0'.repeat(64),
  media: '0'.repeat(64),
});

/** A LAN in which some addresses answer at once, and the rest after a second, with nothing; time is the test's own. */
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
  const registry = createRegistry(
    { logs: () => pino({ level: 'silent' }), caller, steady: () => Date.now(), random: () => 0.5 },
    { nodeId: randomUUID(), instance: 'one', site, staticPeers: [] },
  );
  onTestFinished(registry.close);
  registry.start(8080);
  return { lan, registry };
};

test('a thousand announcements of nobody: few are asked at a time, all are forgotten, and a box among them is found', async () => {
  const box = 'http://192.0.2.77:8080';
  const { lan, registry } = createLan(new Map([[box, randomUUID()]]));
  const flood = (): void => {
    for (let n = 0; n < 1000; n++) registry.hint(`http://198.51.100.${n % 250}:${8000 + n}`, 'announced');
  };
  flood();
  registry.hint(box, 'announced');
  for (let minute = 0; minute < 3; minute++) {
    await vi.advanceTimersByTimeAsync(60_000);
    flood();
    registry.hint(box, 'announced');
  }
  expect(registry.alive().map(({ url }) => url)).toEqual([box]);
  expect(registry.all()).toHaveLength(1);
  expect(lan.most).toBeLessThanOrEqual(9);

  await vi.advanceTimersByTimeAsync(600_000);
  const before = lan.asked;
  await vi.advanceTimersByTimeAsync(600_000);
  // The box alone, every half minute.
  expect(lan.asked - before).toBeLessThanOrEqual(20);
});

test('a box that asks us is looked at, however many announced themselves before', async () => {
  const box = 'http://192.0.2.77:8080';
  const nodeId = randomUUID();
  const { registry } = createLan(new Map([[box, nodeId]]));
  for (let n = 0; n < 1000; n++) registry.hint(`http://198.51.100.${n % 250}:${8000 + n}`, 'announced');
  registry.heard(nodeId, '192.0.2.77', 8080, false);
  // Once those that are being asked have had their second.
  await vi.advanceTimersByTimeAsync(1_500);
  expect(registry.alive()).toMatchObject([{ nodeId, url: box }]);
});

test('a peer that was found by itself is forgotten after an hour away, and at once where it said goodbye', async () => {
  const boxes = new Map([
    ['http://192.0.2.1:8080', randomUUID()],
    ['http://192.0.2.2:8080', randomUUID()],
  ]);
  const { registry } = createLan(boxes);
  for (const url of boxes.keys()) registry.hint(url, 'announced');
  await vi.advanceTimersByTimeAsync(1_000);
  expect(registry.alive()).toHaveLength(2);
  boxes.clear();
  registry.goodbye('http://192.0.2.1:8080');
  await vi.advanceTimersByTimeAsync(120_000);
  expect(registry.all()).toMatchObject([{ url: 'http://192.0.2.2:8080', alive: false, reason: 'did not answer' }]);
  await vi.advanceTimersByTimeAsync(3_600_000);
  expect(registry.all()).toEqual([]);
});

test('a goodbye in the name of a box that is there changes nothing', async () => {
  const box = 'http://192.0.2.1:8080';
  const { registry } = createLan(new Map([[box, randomUUID()]]));
  registry.hint(box, 'announced');
  await vi.advanceTimersByTimeAsync(1_000);
  registry.goodbye(box);
  await vi.advanceTimersByTimeAsync(60_000);
  expect(registry.alive()).toMatchObject([{ url: box }]);
});
