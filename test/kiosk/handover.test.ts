import { expect, it } from 'vitest';
import { type Handover, handover, READY_MS } from '../../main/windows/handover.ts';

it.each<[string, { frames: number; ready: boolean }, number, 'below' | 'lifted' | 'covered', Handover]>([
  ['a page that has painted its slide is shown', { frames: 2, ready: true }, 300, 'below', 'reveal'],
  ['a page that paints but has nothing to show waits', { frames: 2, ready: false }, 300, 'below', 'wait'],
  ['and is shown as it is when that takes too long', { frames: 2, ready: false }, READY_MS + 1, 'below', 'reveal'],
  ['a page that is not painted under the other is lifted over it', { frames: 0, ready: true }, 3_000, 'below', 'lift'],
  ['and waits there until it has painted', { frames: 0, ready: true }, 6_000, 'lifted', 'wait'],
  ['and is shown then', { frames: 1, ready: true }, 9_000, 'lifted', 'reveal'],
  ['a page that never paints is never shown', { frames: 0, ready: true }, READY_MS + 1, 'lifted', 'wait'],
  ['unless another view covers it', { frames: 0, ready: true }, 6_000, 'covered', 'reveal'],
  ['once it has something to show', { frames: 0, ready: false }, 6_000, 'covered', 'wait'],
])('%s', (_, heartbeat, ms, place, expected) => {
  const state = { isLifted: place !== 'below', isCovered: place === 'covered' };
  expect(handover(heartbeat, ms, state)).toBe(expected);
});
