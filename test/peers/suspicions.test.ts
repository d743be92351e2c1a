import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSuspicions } from '../../service/peers/suspicions.ts';
import { defaultTempo } from '../../service/tempo.ts';

const box = '00000000-0000-4000-8000-000000000001';
const reason = 'cannot be reached (ECONNREFUSED)';

test('that others reach a box is said for as long as they do', async () => {
  let isThere = true;
  let now = 0;
  const away: string[] = [];
  const suspicions = createSuspicions(
    { monotonicNow: () => now, tempo: defaultTempo },
    {
      isReachedByOthers: async () => isThere,
      isCongested: () => false,
      onAway: (nodeId) => away.push(nodeId),
    },
  );
  suspicions.add(box);
  await pause(0);
  expect(suspicions.isPending(box)).toBe(true);
  now = 5_000;
  suspicions.poll();
  expect(away).toEqual([box]);
  expect(suspicions.explain(box, reason)).toBe(`${reason}, though other boxes reach it`);

  isThere = false;
  suspicions.add(box);
  await pause(0);
  expect(suspicions.explain(box, reason)).toBe(reason);
  expect(away).toEqual([box]);
});

test('of many boxes that do not answer few are asked about, and the rest are away after some seconds', async () => {
  let now = 0;
  let questions = 0;
  const away: string[] = [];
  const suspicions = createSuspicions(
    { monotonicNow: () => now, tempo: defaultTempo },
    {
      isReachedByOthers: async () => {
        questions += 1;
        return false;
      },
      isCongested: () => false,
      onAway: (nodeId) => away.push(nodeId),
    },
  );
  for (let count = 0; count < 50; count++) suspicions.add(`${box}${count}`);
  await pause(0);
  expect(questions).toBe(3);
  expect(away).toHaveLength(3);
  now = 4_999;
  suspicions.poll();
  expect(away).toHaveLength(3);
  now = 5_000;
  suspicions.poll();
  expect(away).toHaveLength(50);
});

test.each([
  ['nobody else was asked yet', null, 0, false],
  ['no other box reaches it', false, 0, true],
  ['others reach it', true, 4_000, false],
  ['others reach it, but this box has not for long', true, 5_000, true],
  ['the others did not answer', null, 5_000, true],
])('a box counts as away or not where %s', async (_, isReachedByOthers, after, expected) => {
  let now = 1_000;
  const away: string[] = [];
  const suspicions = createSuspicions(
    { monotonicNow: () => now, tempo: defaultTempo },
    {
      isReachedByOthers: async () => isReachedByOthers,
      isCongested: () => false,
      onAway: (nodeId) => away.push(nodeId),
    },
  );
  suspicions.add(box);
  now += after;
  await pause(0);
  suspicions.poll();
  expect(away.length === 1).toBe(expected);
});
