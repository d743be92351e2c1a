import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from 'vitest';
import { createSuspicions } from '../../service/peers/suspicions.ts';

const box = '00000000-0000-4000-8000-000000000001';
const reason = 'cannot be reached (ECONNREFUSED)';

test('that others reach a box is said for as long as they do', async () => {
  let isThere = true;
  let now = 0;
  const away: string[] = [];
  const suspicions = createSuspicions({
    isReachedByOthers: async () => isThere,
    isCongested: () => false,
    monotonicNow: () => now,
    onAway: (nodeId) => away.push(nodeId),
  });
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
  const suspicions = createSuspicions({
    isReachedByOthers: async () => {
      questions += 1;
      return false;
    },
    isCongested: () => false,
    monotonicNow: () => now,
    onAway: (nodeId) => away.push(nodeId),
  });
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
