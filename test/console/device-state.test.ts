import { describe, expect, test } from 'vitest';
import { deviceState, isStuck } from '../../service/console/device-state.ts';

const playing = { isStuck: false };
const stuck = { isStuck: true };

test.each([
  ['connected', [playing], true, true, 'playing'],
  ['stuck on its only page', [stuck], true, true, 'stuck'],
  ['stuck on one page of two', [stuck, playing], true, true, 'playing'],
  ['not connected', [], true, true, 'away'],
  ['never seen', [], false, true, 'never'],
  ['connected outside its hours', [playing], true, false, 'closed'],
  ['stuck outside its hours', [stuck], true, false, 'closed'],
  ['not connected outside its hours', [], true, false, 'closed'],
  ['never seen, outside its hours', [], false, false, 'never'],
] as const)('a device that is %s', (_, connections, wasSeen, isOpen, state) => {
  expect(deviceState({ connections, wasSeen, isOpen })).toBe(state);
});

describe('a page', () => {
  const slide = { kind: 'text', duration_seconds: 5 } as const;
  const page = { slide, sinceMs: 15_001, reportsFaultsAlone: false, slidesOn: 2, isHeld: false };

  test.each([
    ['whose slide is on for more than three of its lengths', {}, true],
    ['whose slide is on for three of its lengths', { sinceMs: 15_000 }, false],
    ['with a slide of the default length, after 30 s', { slide: { ...slide, duration_seconds: null } }, false],
    [
      'with a slide of the default length, later',
      { slide: { ...slide, duration_seconds: null }, sinceMs: 30_001 },
      true,
    ],
    ['with a film of unknown length', { slide: { kind: 'video', duration_seconds: null }, sinceMs: 86_400_000 }, false],
    ['with a film of a given length', { slide: { kind: 'video', duration_seconds: 5 } }, true],
    ['with a single slide on schedule', { slidesOn: 1 }, false],
    ['with a slide that the content no longer has', { slide: null }, false],
    ['that is paused, black, redirected or taken over', { isHeld: true }, false],
    ['that reports faults alone', { slide: null, sinceMs: 0, reportsFaultsAlone: true, slidesOn: 1 }, true],
    ['that reports faults alone while it is paused', { reportsFaultsAlone: true, isHeld: true }, false],
    ['that shows its slides in time', { sinceMs: 4_000 }, false],
  ] as const)('%s', (_, facts, expected) => {
    expect(isStuck({ ...page, ...facts })).toBe(expected);
  });
});
