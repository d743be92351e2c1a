import { describe, expect, test } from 'vitest';
import { countDisplays, deviceState, isStuck, siteScreens } from '../../service/console/overview.ts';
import type { TakeoverRecord } from '../../service/contract/peers.ts';

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

test('a display that somebody has switched off is told, and shows no takeover', () => {
  const slots = ['a', 'b'].map((deviceId, index) => ({
    ...{
      id: `c${index}`,
      deviceId,
      currentSlideId: 'takeover-fire',
      lastSeenAt: '',
      connectedAt: '',
      clientName: null,
    },
  }));
  const site = { displays: ['a', 'b'], off: ['a'], screens: [{ slug: 'lobby', connections: slots }] };
  const facts = {
    screens: [{ screen: { slug: 'lobby' }, tags: [], isOpen: true }],
    bindings: [],
    parts: [{ nodeId: 'n', site }],
    sightingOf: () => undefined,
  };
  const screens = siteScreens(facts as unknown as Parameters<typeof siteScreens>[0]);
  expect(screens[0]?.devices.map(({ deviceId, state, off }) => [deviceId, state, off])).toEqual([
    ['a', 'playing', true],
    ['b', 'playing', undefined],
  ]);
  const fire = { id: 'fire', targets: ['all'] } as unknown as TakeoverRecord;
  expect(countDisplays(fire, screens)).toMatchObject({ shown: 1, expected: 2 });
});

describe('a page', () => {
  const slide = { kind: 'text', duration_seconds: 5 } as const;
  const usual = { kind: 'text', duration_seconds: null } as const;
  const film = { kind: 'video', duration_seconds: null } as const;
  const page = { slide, unchangedMs: 15_001, reportsFaultsAlone: false, isHeld: false, hasSuccessor: () => true };

  test.each([
    ['whose slide is on for more than three of its lengths', {}, true],
    ['whose slide is on for three of its lengths', { unchangedMs: 15_000 }, false],
    ['with a slide of the usual 10 s, after 30 s', { slide: usual, unchangedMs: 30_000 }, false],
    ['with a slide of the usual 10 s, later', { slide: usual, unchangedMs: 30_001 }, true],
    ['with a film of unknown length', { slide: film, unchangedMs: 86_400_000 }, false],
    ['with a film of a given length', { slide: { ...film, duration_seconds: 5 } }, true],
    ['with a slide that is alone on schedule', { hasSuccessor: () => false }, false],
    ['with a slide that the content no longer has', { slide: null }, false],
    ['that is paused, black, redirected or taken over', { isHeld: true }, false],
    ['that reports faults alone', { slide: null, unchangedMs: 0, reportsFaultsAlone: true }, true],
    ['that reports faults alone while it is paused', { reportsFaultsAlone: true, isHeld: true }, false],
    ['that shows its slides in time', { unchangedMs: 4_000 }, false],
  ])('%s', (_, facts, expected) => {
    expect(isStuck({ ...page, ...facts })).toBe(expected);
  });

  test('has a successor only if another slide was on schedule for three lengths', () => {
    const asked: number[] = [];
    const hasSuccessor = (ms: number): boolean => asked.push(ms) > 9;
    expect(isStuck({ ...page, hasSuccessor })).toBe(false);
    expect(asked).toEqual([15_000]);
  });
});
