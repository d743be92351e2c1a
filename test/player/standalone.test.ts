/** What a player does by its own time, decision by decision. */
import { expect, it } from 'vitest';
import type { PlaylistSchedule } from '../../renderer/player/playlist-schedule.ts';
import { type Scene, standaloneMove } from '../../renderer/player/standalone.ts';
import { following } from '../../renderer/player/timeline.ts';
import { slide } from './scene.ts';

const AT = 100_000;
const WALL = Date.parse('2026-07-01T12:00:00Z');
const slides = ['a', 'b', 'c'].map((id) => slide(id));

/** Until when each slide is on, in ms from now; and which of them can be shown. */
const playlistScheduleOf = (ends: Record<string, number>, playable: readonly number[]): PlaylistSchedule => {
  const endOf: PlaylistSchedule['endOf'] = ({ id }) => WALL + (ends[id] ?? Number.POSITIVE_INFINITY);
  const isPlayable: PlaylistSchedule['isPlayable'] = (index, wall) => {
    const one = slides[index];
    return one !== undefined && playable.includes(index) && wall < endOf(one, wall);
  };
  return {
    endOf,
    isPlayable,
    isOn: (one, wall) => wall < endOf(one, wall),
    dueUntil: () => Number.POSITIVE_INFINITY,
    isAvailable: (index) => playable.includes(index),
    next: (from, step, wall) => following(slides.length, from, step, (index) => isPlayable(index, wall)),
    changesAt: () => Number.POSITIVE_INFINITY,
  };
};

/** The first slide is on for so long. */
const on = (left: number, isSpent = false) => ({
  slide: slides[0] ?? null,
  index: 0,
  until: AT + left,
  lead: 0,
  isSpent,
});
const ready = { index: 1, isReady: true, isCalled: false };
const called = { index: 1, isReady: false, isCalled: true };

/** Where nothing failed. */
type Start = Omit<Scene, 'from'>;

interface Case {
  scene: Start;
  from?: number;
  ends?: Record<string, number>;
  playable?: number[];
}

it.each<[string, Case, unknown, boolean]>([
  ['begins', { scene: { shown: null, upcoming: null } }, { prepare: 0 }, false],
  ['looks on from what failed', { scene: { shown: null, upcoming: null }, from: 1 }, { prepare: 2 }, false],
  ['has nothing to begin with', { scene: { shown: null, upcoming: null }, playable: [] }, 'hold', true],
  ['does not make the next ready too early', { scene: { shown: on(15_001), upcoming: null } }, 'hold', false],
  ['makes it ready in time', { scene: { shown: on(15_000), upcoming: null } }, { prepare: 1 }, false],
  ['waits for its slot', { scene: { shown: on(1), upcoming: ready } }, 'hold', false],
  ['swaps it in', { scene: { shown: on(0), upcoming: ready } }, 'swap', false],
  ['waits for what is not ready', { scene: { shown: on(-1), upcoming: { ...ready, isReady: false } } }, 'hold', false],
  [
    'does not wait with what was called',
    { scene: { shown: on(9_000), upcoming: { ...ready, isCalled: true } } },
    'swap',
    false,
  ],
  [
    'drops a slide that is off schedule at its slot',
    { scene: { shown: on(9_000), upcoming: ready }, ends: { b: 9_000 } },
    'drop',
    false,
  ],
  [
    'keeps it where it was called',
    { scene: { shown: on(9_000), upcoming: called }, ends: { b: 9_000 } },
    'hold',
    false,
  ],
  [
    'skips a slide that is off schedule at its slot',
    { scene: { shown: on(9_000), upcoming: null }, ends: { b: 9_000 } },
    { prepare: 2 },
    false,
  ],
  [
    'ends a slot with the schedule',
    { scene: { shown: on(60_000), upcoming: null }, ends: { a: 9_000 } },
    { prepare: 1 },
    false,
  ],
  ['stays alone', { scene: { shown: on(0), upcoming: null }, playable: [0] }, 'stay', false],
  ['stays alone to its end', { scene: { shown: on(1), upcoming: null }, playable: [0] }, 'hold', false],
  ['keeps what broke until it is replaced', { scene: { shown: on(9_000, true), upcoming: called } }, 'hold', false],
  [
    'replaces it, if need be by itself',
    { scene: { shown: on(9_000, true), upcoming: null }, playable: [0] },
    { prepare: 0 },
    false,
  ],
  ['has nothing in its place', { scene: { shown: on(9_000, true), upcoming: null }, playable: [] }, 'hold', true],
  [
    'shows nothing longer than its schedule',
    { scene: { shown: on(9_000), upcoming: null }, ends: { a: 0 } },
    { prepare: 1 },
    true,
  ],
])('a player %s', (_, { scene, from = scene.shown?.index ?? -1, ends = {}, playable = [0, 1, 2] }, action, isIdle) => {
  const move = standaloneMove({ ...scene, from }, { at: AT, wall: WALL }, playlistScheduleOf(ends, playable), 15_000);
  expect(move).toMatchObject({ action, isIdle });
});

it.each<[string, Start, number | null]>([
  ['at the end of a slot', { shown: on(-20), upcoming: ready }, AT - 20],
  ['at once if a command asked for it', { shown: on(-20), upcoming: { ...ready, isCalled: true } }, null],
  ['at once if it replaces a spent slide', { shown: on(-20, true), upcoming: ready }, null],
])('what comes on comes %s', (_, scene, due) => {
  expect(
    standaloneMove({ ...scene, from: 0 }, { at: AT, wall: WALL }, playlistScheduleOf({}, [0, 1, 2]), 15_000),
  ).toMatchObject({
    action: 'swap',
    due,
  });
});
