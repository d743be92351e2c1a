import { expect, test } from 'vitest';
import { inSlices, type Steps } from '../../service/platform/slices.ts';

/** Takes longer than a slice. */
function* busy(times: number): Steps<string> {
  for (let n = 0; n < times; n++) {
    const until = performance.now() + 10;
    while (performance.now() < until);
    yield;
  }
  return 'done';
}

test('the event loop has its turn after each slice of a long computation', async () => {
  let turns = 0;
  const counter = setInterval(() => (turns += 1), 1);
  expect(await inSlices(busy(10))).toBe('done');
  clearInterval(counter);
  expect(turns).toBeGreaterThanOrEqual(8);
});

test('an error of a computation is passed on', async () => {
  // biome-ignore lint/correctness/useYield: it fails before its first step
  function* failing(): Steps<never> {
    throw new Error('as it is');
  }
  await expect(inSlices(failing())).rejects.toThrow('as it is');
});
