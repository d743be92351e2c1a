/** A page that switches by its programme, by itself. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlaylistPayload } from '../../service/contract/playlist.ts';
import { at, NOON, openScene, type Scene, type Spans, slide, timesOf, wait, withProgramme } from './scene.ts';

const long = (id: string, seconds = 100) => slide(id, { duration_seconds: seconds });
const open = (payload: PlaylistPayload, ahead = 0): Scene => {
  const scene = openScene([], { ahead });
  // The idle screen before the first playlist.
  scene.shown.splice(0);
  scene.times.splice(0);
  scene.player.load(payload);
  return scene;
};

describe('a page with a programme', () => {
  beforeEach(() => {
    vi.useFakeTimers({ now: NOON });
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it('fetches ahead what is due before what was due at midnight', async () => {
    const picture = (id: string) => slide(id, { kind: 'image', media_url: `/media/${id}.jpg` });
    const { player, asked } = openScene([]);
    player.load(
      withProgramme(
        {
          night: { slides: [picture('n1'), picture('n2')] },
          day: { slides: [picture('d1'), picture('d2')] },
          evening: { slides: [picture('e1')] },
        },
        [
          [-43_200, 'night'],
          [-3_600, 'day'],
          [3_600, 'evening'],
        ],
      ),
    );
    await wait(0.1);
    const order = ['d1', 'd2', 'e1', 'n1', 'n2'];
    expect([...new Set(asked)]).toEqual(order.map((id) => `/media/${id}.jpg`));
  });

  it('cuts the slide that is on at the boundary, and begins with the first one that is due', async () => {
    const off = slide('off', { schedule_mode: 'between', schedule_end_datetime: at(-1) });
    const lists = { day: { slides: [long('day')] }, lunch: { slides: [off, long('soup', 4), long('pasta', 4)] } };
    const scene = open(
      withProgramme(lists, [
        [-100, 'day'],
        [20, 'lunch', 'noon'],
        [30, 'day'],
      ]),
    );
    await wait(40);
    expect(timesOf(scene)).toEqual([
      ['day', 0],
      ['soup', 20],
      ['pasta', 24],
      ['soup', 28],
      ['day', 30],
    ]);
  });

  it('keeps what is on until its successor is ready, so that nothing is dark', async () => {
    const lists = { day: { slides: [long('day')] }, lunch: { slides: [long('slow')] } };
    const scene = open(
      withProgramme(lists, [
        [-100, 'day'],
        [2, 'lunch'],
      ]),
    );
    await wait(10);
    expect(timesOf(scene)).toEqual([
      ['day', 0],
      ['slow', expect.closeTo(5, 0)],
    ]);
  });

  it('goes on with the next slide where two programmes play one playlist', async () => {
    const lists = { day: { slides: [long('one', 6), long('two', 6)] } };
    const scene = open(
      withProgramme(lists, [
        [-100, 'day', 'morning'],
        [3, 'day', 'noon'],
      ]),
    );
    await wait(10);
    expect(scene.shown).toEqual(['one', 'two']);
  });

  it('stays with a step within what is due', async () => {
    const lists = { day: { slides: [long('one'), long('two')] }, lunch: { slides: [long('soup')] } };
    const scene = open(
      withProgramme(lists, [
        [-100, 'day'],
        [1_000, 'lunch'],
      ]),
    );
    await wait(1);
    for (const by of [1, 1, -1] as const) {
      scene.player.step(by);
      await wait(1);
    }
    expect(scene.shown).toEqual(['one', 'two', 'one', 'two']);
  });

  it('keeps its slide and its place where the same plan is delivered again, one that stands twice too', async () => {
    const lists = { day: { slides: [long('one', 3), long('two', 3), long('one', 3), long('three', 3)] } };
    const scene = open(withProgramme(lists, [[-100, 'day', 'noon']]));
    await wait(7);
    scene.player.load(
      withProgramme(lists, [
        [-100, 'day', 'noon'],
        [900, 'day'],
      ]),
    );
    await wait(3);
    expect(scene.shown).toEqual(['one', 'two', 'one', 'three']);
  });

  it('switches at a boundary that lies a second after another one, and shows nothing of what is over', async () => {
    const lists = { a: { slides: [long('a')] }, b: { slides: [long('b')] }, c: { slides: [long('c')] } };
    const scene = open(
      withProgramme(lists, [
        [-100, 'a'],
        [20, 'b'],
        [21, 'c'],
        [22, 'a'],
      ]),
    );
    await wait(30);
    expect(timesOf(scene)).toEqual([
      ['a', 0],
      ['b', 20],
      ['c', 21],
      ['a', 22],
    ]);
  });

  it('enters a synchronized round at its place, in the frame of the boundary, and leaves it likewise', async () => {
    const round = { slides: [long('x', 7), long('y', 5)], sync: true };
    const lists = { day: { slides: [long('day')] }, round };
    const spans: Spans = [
      [-100, 'day'],
      [20, 'round'],
      [40, 'day'],
    ];
    // 12 s a round, since the epoch.
    const place: number = (NOON / 1000 + 20) % 12;
    const first = place < 7 ? 'x' : 'y';
    const scene = open(withProgramme(lists, spans), 0);
    const positionOf = (id: string) => scene.paces.get(id)?.position(performance.now());
    const entered = place < 7 ? place : place - 7;
    await wait(10);
    // Made ready at the place at which it is to come on.
    expect(positionOf(first)).toBeCloseTo(entered * 1000, 0);
    await wait(10.5);
    expect(positionOf(first)).toBeCloseTo((entered + 0.5) * 1000, 0);
    await wait(29.5);
    expect(scene.paces.get('day')).toBeNull();
    const times = timesOf(scene);
    expect(times[0]).toEqual(['day', 0]);
    expect(times[1]).toEqual([first, expect.closeTo(20, 1)]);
    expect(times[2]?.[1]).toBeCloseTo(20 + (first === 'x' ? 7 - place : 12 - place), 1);
    expect(times.at(-1)).toEqual(['day', expect.closeTo(40, 1)]);
  });

  it('switches by the time of the site, and again if that is set back over a boundary', async () => {
    const lists = { day: { slides: [long('day')] }, lunch: { slides: [long('soup')] } };
    const scene = open(
      withProgramme(lists, [
        [-100, 'day'],
        [20, 'lunch'],
      ]),
      10_000,
    );
    await wait(12);
    expect(timesOf(scene)).toEqual([
      ['day', 0],
      ['soup', 10],
    ]);
    vi.setSystemTime(NOON);
    scene.player.onClockSet();
    await wait(1);
    expect(scene.shown.at(-1)).toBe('day');
  });
});
