import { setImmediate as turn } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createRequestQueue } from '../../service/http/pacing.ts';

const command = { party: '192.0.2.1', method: 'POST', url: '/api/screens/lobby/commands', headers: {} };
const relayed = { ...command, headers: { 'x-signage-relay': 'another-box' } };
const partyOf = ({ party }: typeof command): string => party;

test('of a thousand commands four begin a turn, in their order, and those of other boxes at once', async () => {
  const queue = createRequestQueue(partyOf);
  const begun: number[] = [];
  for (let n = 0; n < 1_000; n++) queue.enqueue(command, () => begun.push(n));
  expect(begun).toEqual([0, 1, 2, 3]);
  queue.enqueue(relayed, () => begun.push(-1));
  queue.enqueue({ ...command, method: 'GET' }, () => begun.push(-2));
  expect(begun.splice(4)).toEqual([-1, -2]);
  await turn();
  await turn();
  expect(begun.length).toBeLessThan(20);
  while (begun.length < 1_000) await turn();
  expect(begun).toEqual(Array.from({ length: 1_000 }, (_, n) => n));
  await turn();
  queue.enqueue(command, () => begun.push(1_000));
  expect(begun).toHaveLength(1_001);
});

test('a client does not wait for all requests of another one, and only who has some waiting is refused', async () => {
  const queue = createRequestQueue(partyOf);
  const begun: string[] = [];
  const ask = (party: string) => queue.enqueue({ ...command, party }, () => begun.push(party));
  for (let n = 0; n < 4 + 4_096; n++) ask('flood');
  expect(() => ask('flood')).toThrow(expect.objectContaining({ code: 'busy', headers: { 'Retry-After': '1' } }));
  ask('first');
  expect(() => ask('first')).toThrow();
  ask('second');
  while (begun.length < 9) await turn();
  expect(begun.slice(4)).toEqual(expect.arrayContaining(['first', 'second']));
  while (begun.length < 4 + 4_096 + 2) await turn();
  ask('flood');
  await turn();
  expect(begun).toHaveLength(4 + 4_096 + 3);
});
