import { expect, it } from 'vitest';
import { type Handover, handover, READY_MS } from '../../main/handover.ts';

it.each<[string, { frames: number; ready: boolean }, number, boolean, Handover]>([
  ['a page that has painted its slide is shown', { frames: 2, ready: true }, 300, false, 'reveal'],
  ['a page that paints but has nothing to show waits', { frames: 2, ready: false }, 300, false, 'wait'],
  ['and is shown as it is when that takes too long', { frames: 2, ready: false }, READY_MS + 1, false, 'reveal'],
  ['a page that is not painted under the other is lifted over it', { frames: 0, ready: true }, 3_000, false, 'lift'],
  ['and waits there until it has painted', { frames: 0, ready: true }, 6_000, true, 'wait'],
  ['and is shown then', { frames: 1, ready: true }, 9_000, true, 'reveal'],
  ['a page that never paints is never shown', { frames: 0, ready: true }, READY_MS + 1, true, 'wait'],
])('%s', (_, heartbeat, ms, isLifted, expected) => {
  expect(handover(heartbeat, ms, isLifted)).toBe(expected);
});
