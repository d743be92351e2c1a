/** What a box says to another one about the members of the site, without requests. */
import { randomUUID } from 'node:crypto';
import { expect, onTestFinished, test } from 'vitest';
import type { GossipAnswer, MemberExchange, MemberRecord } from '../../service/contract/gossip.ts';
import { createGossip } from '../../service/peers/gossip.ts';
import { memberDigests } from '../../service/peers/membership.ts';
import { emptyPeerState, unitContext } from './support.ts';

test('records and members that do not fit into one request follow in the next rounds, and what is wanted is always asked', async () => {
  const ids = Array.from({ length: 60 }, (): string => randomUUID());
  const [huge = '', newer = '', ...others] = ids;
  const own = new Map(ids.map((id) => [id, id === newer ? 1 : 2]));
  const theirs = new Map(ids.map((id) => [id, id === newer ? 2 : 1]));
  const missing = Array.from({ length: 300 }, (): string => randomUUID());
  for (const id of missing) own.set(id, 1);
  const context = unitContext();
  const other = { nodeId: randomUUID(), alive: true };
  const recordOf = (nodeId: string) => {
    const mood = 'x'.repeat(nodeId === huge ? 66_000 : 2_700);
    return { nodeId, seq: own.get(nodeId) ?? 0, media: '', mood } as unknown as MemberRecord;
  };
  const ask = async (_: unknown, operation: string, body: MemberExchange) => {
    if (operation === 'peers.gossip') {
      const entries = [...theirs].map(([id, seq]): [string, string, number] => [id, 'http://192.0.2.1', seq]);
      const members: GossipAnswer['members'] = { digests: memberDigests(theirs), entries };
      return { ok: true, body: { nodeId: other.nodeId, instance: 'a', serverTime: 0, members } };
    }
    expect(Buffer.byteLength(JSON.stringify(body))).toBeLessThan(64 * 1024);
    expect(body.wanted).toEqual([newer]);
    for (const { nodeId, seq } of body.records) theirs.set(nodeId, seq);
    for (const [nodeId, , seq] of body.entries) theirs.set(nodeId, seq);
    return { ok: true, body: { records: [] } };
  };
  const nothing = () => undefined;
  const gossip = createGossip(context, {
    registry: {
      reached: () => new Map(own),
      alive: () => [other],
      entry: (id: string) => [id, `http://192.0.2.1/${'a'.repeat(200)}`, own.get(id)],
      record: recordOf,
      ...{ addReported: nothing, applyRecord: nothing, onGossipAnswer: nothing, onReachabilityChange: nothing },
      verify: async () => true,
    },
    asking: { ask },
    record: { current: () => recordOf(context.ids.nodeId), refute: nothing },
    summary: () => emptyPeerState,
    siteTime: { now: Date.now },
  } as never);
  gossip.start(1);
  onTestFinished(gossip.close);
  for (let round = 0; round < 12; round += 1) await gossip.ask();
  expect([...others, ...missing].filter((id) => theirs.get(id) !== own.get(id))).toEqual([]);
  // That one is for the other box to ask for.
  expect(theirs.get(huge)).toBe(1);
});
