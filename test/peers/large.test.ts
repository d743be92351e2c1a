/** A site of 300 boxes: every box knows all others, and tells each that asks of all that it can take. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test, vi } from 'vitest';
import type { PeerState } from '../../service/contract/peers.ts';
import type { Caller } from '../../service/peers/call.ts';
import { createRegistry } from '../../service/peers/registry.ts';
import { emptyPeerState, unitContext } from './support.ts';

const COUNT = 300;
const site = 'default';

/** Boxes that answer at once, of which each tells of all others. */
const createLan = () => {
  vi.useFakeTimers();
  onTestFinished(() => void vi.useRealTimers());
  const boxes = Array.from({ length: COUNT }, (_, index) => ({
    nodeId: randomUUID(),
    url: `http://192.168.${Math.floor(index / 250)}.${(index % 250) + 1}:8080`,
  }));
  const away = new Set<string>();
  const caller = {
    call: async (url: string) => {
      const box = boxes.find((each) => each.url === url);
      if (box === undefined || away.has(url)) {
        return { ok: false as const, status: null, answered: false, code: null, reason: 'did not answer' };
      }
      const { nodeId } = box;
      const body: PeerState = {
        ...emptyPeerState,
        ...{ nodeId, instance: nodeId, site, seq: 1, peers: boxes },
      };
      return { ok: true as const, status: 200, body, address: '' };
    },
    close: () => {},
  } as unknown as Caller;
  const registry = createRegistry(unitContext(), {
    site,
    staticPeers: [boxes[0]?.url ?? ''],
    caller,
    isReachedByOthers: async () => true,
  });
  onTestFinished(registry.close);
  registry.start(8080);
  return { boxes, away, registry };
};

test('one static peer leads to all of 300 boxes, none is forgotten, and each is listed', async () => {
  const { boxes, registry } = createLan();
  await vi.advanceTimersByTimeAsync(60_000);
  const all = boxes.map(({ nodeId }) => nodeId).toSorted();
  expect(registry.alive().map(({ nodeId }) => nodeId)).toHaveLength(COUNT);
  expect(
    registry
      .advertised()
      .map(({ nodeId }) => nodeId)
      .toSorted(),
  ).toEqual(all);
  expect(registry.isFull()).toBe(false);
  await vi.advanceTimersByTimeAsync(2 * 3_600_000);
  expect(registry.alive()).toHaveLength(COUNT);
});

test('what another box says of one that answers does not remove it, and a box that others reach is away after a while', async () => {
  const { boxes, away, registry } = createLan();
  await vi.advanceTimersByTimeAsync(60_000);
  const [box] = boxes.slice(1);
  if (box === undefined) throw new Error('there is no box');
  expect(await registry.verify(box.nodeId)).toBe(true);
  expect(registry.alive()).toHaveLength(COUNT);
  const stateOf = () => registry.health().find(({ nodeId }) => nodeId === box.nodeId);
  away.add(box.url);
  await vi.advanceTimersByTimeAsync(10_000);
  expect(await registry.verify(box.nodeId)).toBe(false);
  expect(stateOf()).toMatchObject({ state: 'alive', reason: null });
  await vi.advanceTimersByTimeAsync(6_000);
  expect(stateOf()).toMatchObject({ state: 'away', reason: 'did not answer, though other boxes reach it' });
  away.clear();
  await vi.advanceTimersByTimeAsync(31_000);
  expect(stateOf()).toMatchObject({ state: 'alive', reason: null });
});
