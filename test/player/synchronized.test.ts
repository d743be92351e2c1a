/** Players of a playlist in step: each decides for itself, and all come to the same. */
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import type { PlaylistPayload, Slide } from '../../service/contract/playlist.ts';
import { at, NOON, openScene, payloadOf, type Scene, slide, timesOf, wait, withProgramme } from './scene.ts';

const slides = ['a', 'b', 'c'].map((id) => slide(id, { duration_seconds: 5 }));

beforeEach(() => vi.useFakeTimers({ now: NOON }));
afterEach(() => vi.useRealTimers());

/** The moments at which slides came on by the time of the site, without the first, which comes whenever it is ready. */
const swapsOf = ({ shown, times }: { shown: string[]; times: number[] }, ahead = 0) =>
  shown.map((name, index) => `${name} ${(times[index] ?? 0) + ahead}`).slice(1);

describe('a synchronized player', () => {
  it('two pages show the same at the same time, whenever they were opened', async () => {
    const first = openScene(slides, { isInStep: true });
    await wait(7.3);
    const second = openScene(slides, { isInStep: true });
    await wait(40);
    expect(first.shown.slice(0, 4)).toEqual(['a', 'b', 'c', 'a']);
    expect(swapsOf(first).slice(1)).toEqual(swapsOf(second));
    expect(swapsOf(second)[0]).toBe(`c ${NOON + 10_000}`);
    expect(Math.max(...[...first.skews, ...second.skews].map(Math.abs))).toBeLessThan(2);
    expect(second.skews).toHaveLength(second.shown.length - 1);
  });

  it('the time is that of the site, not of the page', async () => {
    const page = openScene(slides, { isInStep: true, ahead: 3_600_000 + 5_000 });
    await wait(12);
    expect(page.shown).toEqual(['b', 'c', 'a']);
    expect(swapsOf(page, 3_605_000)[0]).toBe(`c ${NOON + 3_610_000}`);
  });

  it('a slide gets its position in its slot', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(7);
    expect(page.paces.get('b')?.position(performance.now())).toBeCloseTo(2_000, 0);
    expect(openScene(slides).paces.get('a')).toBeNull();
  });

  it('a slide that can not be shown leaves its slot to the slide before it', async () => {
    const long = { duration_seconds: 20 };
    const page = openScene([slide('a', long), slide('broken', long), slide('c', long)], { isInStep: true });
    await wait(39);
    expect(page.shown).toEqual(['a']);
    expect(page.faults.length).toBeGreaterThan(0);
    await wait(2);
    expect(page.shown).toEqual(['a', 'c']);
    expect(page.times[1]).toBe(NOON + 40_000);
  });

  it('a slow slide comes late, and the next one in time', async () => {
    const short = { duration_seconds: 3 };
    const page = openScene([slide('a', short), slide('slow', { duration_seconds: 4 }), slide('c', short)], {
      isInStep: true,
    });
    await wait(7.1);
    expect(page.shown).toEqual(['a', 'slow', 'c']);
    expect(page.times[2]).toBe(NOON + 7_000);
  });

  it('a page that was halted joins the others where they are', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(2);
    void page.player.halt(true, false);
    await wait(9);
    expect(page.shown).toEqual(['a']);
    void page.player.halt(false, false);
    await wait(0.5);
    expect(page.shown).toEqual(['a', 'c']);
    await wait(4);
    expect(page.times[2]).toBe(NOON + 15_000);
  });

  it('a step moves the page out of sync, a refresh leaves it there, and a step back ends that', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(2);
    page.player.step(1);
    await wait(0.1);
    expect(page.shown).toEqual(['a', 'b']);
    await wait(5);
    expect(page.shown).toEqual(['a', 'b', 'c']);
    expect(page.times[2]).toBeCloseTo(NOON + 7_000, -1);
    page.player.retry();
    await wait(0.1);
    expect(page.shown).toEqual(['a', 'b', 'c']);
    page.player.step(-1);
    await wait(0.1);
    expect(page.shown).toEqual(['a', 'b', 'c', 'b']);
    page.player.step(-1);
    await wait(0.1);
    expect(page.shown.at(-1)).toBe('a');
  });

  it('two pages go to a slide together, and stay together', async () => {
    const pages = [openScene(slides, { isInStep: true }), openScene(slides, { isInStep: true })];
    await wait(2);
    for (const page of pages) page.player.goTo('c');
    await wait(0.1);
    expect(pages.map(({ shown }) => shown)).toEqual([
      ['a', 'c'],
      ['a', 'c'],
    ]);
    for (const page of pages) page.player.goTo('nowhere');
    await wait(5);
    expect(pages.map(({ shown }) => shown.at(-1))).toEqual(['a', 'a']);
    expect(pages[0]?.times).toEqual(pages[1]?.times);
  });

  it('a step survives new data in slides, but not another order of them', async () => {
    const page = openScene(slides, { isInStep: true });
    await wait(2);
    page.player.step(1);
    await wait(1);
    const [a, b, c] = slides as [Slide, Slide, Slide];
    page.player.load(payloadOf(a, { ...b, body: 'new' }, c), true);
    await wait(1);
    expect(page.shown).toEqual(['a', 'b', 'b']);
    page.player.load(payloadOf(a, c, { ...b, body: 'new' }), true);
    await wait(0.1);
    expect(page.shown.at(-1)).toBe('a');
  });

  it('a step goes past a slide that failed, and can be taken while halted', async () => {
    const long = { duration_seconds: 20 };
    const page = openScene([slide('a', long), slide('broken', long), slide('c', long)], { isInStep: true });
    await wait(6);
    void page.player.halt(true, false);
    page.player.step(1);
    await wait(60);
    expect(page.shown).toEqual(['a', 'c']);
    expect(page.halts.at(-1)).toBe('pause c');
  });

  it('nothing is shown longer than its schedule says, halted or not', async () => {
    const until = { schedule_mode: 'between', schedule_end_datetime: '2026-07-01T12:00:08Z' } as const;
    const page = openScene([slide('a', { duration_seconds: 60, ...until })], { isInStep: true });
    await wait(4);
    void page.player.halt(true, false);
    await wait(60);
    expect(page.shown).toEqual(['a', 'idle']);
  });

  it('a single slide is not begun again', async () => {
    const page = openScene([slide('a')], { isInStep: true });
    await wait(30);
    expect(page.shown).toEqual(['a']);
  });

  it('a slide that no other can follow restarts at its next slot', async () => {
    const long = { duration_seconds: 20 };
    const page = openScene([slide('a', long), slide('broken', long)], { isInStep: true });
    const first = Math.floor(NOON / 40_000) * 40_000 + 40_000 - NOON;
    await wait(first / 1000 - 0.1);
    expect(page.halts).toEqual([]);
    await wait(0.2);
    expect([page.shown, page.halts]).toEqual([['a'], ['restart a']]);
    expect(page.paces.get('a')?.position(performance.now())).toBeCloseTo(100, 0);
  });

  it('a playlist that changes leaves alone what it does not change', async () => {
    const page = openScene([slide('a', { duration_seconds: 600 })], { isInStep: true });
    await wait(1);
    page.player.load(payloadOf(slide('a', { duration_seconds: 600 }), slide('z', { duration_seconds: 1 })), true);
    await wait(1);
    expect(page.shown).toEqual(['a']);
  });

  it('a playlist that changes leaves alone what is being made ready, whatever its place', async () => {
    const [a, broken, slow] = ['a', 'broken', 'slow'].map((id) => slide(id, { duration_seconds: 9 }));
    if (a === undefined || broken === undefined || slow === undefined) throw new Error('there are three');
    const page = openScene([a, broken, slow], { isInStep: true });
    const first = Math.floor(NOON / 27_000) * 27_000 + 27_000 + 18_000 - NOON;
    await wait(first / 1000 + 2);
    page.player.load(payloadOf(a, broken, slow), true);
    await wait(4);
    expect(page.shown.at(-1)).toBe('slow');
  });

  it('a playlist can become synchronized or standalone', async () => {
    const page = openScene(slides);
    await wait(1);
    page.player.load(payloadOf(...slides), true);
    await wait(4.5);
    expect(page.times.at(-1)).toBe(NOON + 5_000);
    page.player.load(payloadOf(...slides));
    await wait(1);
    expect(page.paces.get('b')).toBeNull();
  });
});

describe('commands, boundaries and slides that are gone, in step', () => {
  const of20s = (id: string, more: Partial<Slide> = {}) => slide(id, { duration_seconds: 20, ...more });
  const until = (seconds: number) => ({ schedule_mode: 'between', schedule_end_datetime: at(seconds) }) as const;
  const from = (seconds: number) => ({ schedule_mode: 'between', schedule_start_datetime: at(seconds) }) as const;
  const step =
    (by: 1 | -1) =>
    ({ player }: Scene) =>
      player.step(by);
  const goTo =
    (id: string) =>
    ({ player }: Scene) =>
      player.goTo(id);
  const halt =
    (isHalted: boolean) =>
    ({ player }: Scene) =>
      void player.halt(isHalted, false);
  const load =
    (...next: Slide[]) =>
    ({ player }: Scene) =>
      player.load(payloadOf(...next), true);
  /** What plays until 60 s after noon and from then on, both in step unless told otherwise. */
  const dayAndLunch = (day: Slide[], lunch: Slide[], sync = true, noon = 60) =>
    withProgramme({ day: { slides: day, sync: true }, lunch: { slides: lunch, sync } }, [
      [-3_600, 'day'],
      [noon, 'lunch', 'noon'],
    ]);
  const ofDay = [of20s('d1'), of20s('d2')];
  const ofLunch = [of20s('l1'), of20s('l2')];
  const eight = (name: string) => [0, 1, 2, 3, 4, 5, 6, 7].map((index) => of20s(`${name}${index}`));

  // All loops of 20, 40, 60 and 160 s begin at noon.
  it.each<[string, PlaylistPayload, [seconds: number, act: (scene: Scene) => unknown][], number, unknown[]]>([
    [
      'steps do not lead to a slide that is not due yet, and last until that is',
      payloadOf(of20s('x'), of20s('y'), of20s('embargo', from(100))),
      [
        [5, step(1)],
        [6, step(1)],
        [7, step(1)],
        [8, step(-1)],
      ],
      110,
      [
        ['x', 0],
        ['y', 5],
        ['x', 6],
        ['y', 7],
        ['x', 8],
        ['y', 28],
        ['x', 48],
        ['y', 68],
        ['x', 88],
        ['embargo', 100],
      ],
    ],
    [
      'steps back do not lead to a slide that has expired, and do not prolong one',
      payloadOf(of20s('old', until(-10)), of20s('offer', until(60)), of20s('x')),
      [
        [5, step(-1)],
        [6, step(-1)],
        [7, step(-1)],
        [8, step(-1)],
      ],
      130,
      [
        ['offer', 0],
        ['x', 5],
        ['offer', 6],
        ['x', 7],
        ['offer', 8],
        ['x', 28],
        ['offer', 48],
        ['x', 60],
      ],
    ],
    [
      'steps stay within the programme, which ends at its time, and the next one has its own time',
      dayAndLunch(ofDay, ofLunch),
      [
        [5, step(1)],
        [6, step(1)],
        [7, step(1)],
        [8, step(1)],
      ],
      90,
      [
        ['d1', 0],
        ['d2', 5],
        ['d1', 6],
        ['d2', 7],
        ['d1', 8],
        ['d2', 28],
        ['d1', 48],
        ['l2', 60],
        ['l1', 80],
      ],
    ],
    [
      'the next slide of one programme is not one of the next',
      dayAndLunch(eight('d'), eight('l'), true, 25),
      [
        [10, goTo('d3')],
        [15, goTo('d0')],
      ],
      50,
      [
        ['d0', 0],
        ['d3', 10],
        ['d0', 15],
        ['l1', 25],
        ['l2', 40],
      ],
    ],
    [
      'a step goes past slides that can not be shown, in both directions',
      payloadOf(of20s('a'), of20s('broken'), of20s('c')),
      [
        [8, step(1)],
        [9, step(-1)],
        [10, step(-1)],
      ],
      12,
      [
        ['a', 0],
        ['c', 8],
        ['a', 9],
        ['c', 10],
      ],
    ],
    [
      'what is off schedule or failing is not gone to',
      payloadOf(of20s('a'), of20s('broken'), of20s('embargo', from(900))),
      [
        [8, goTo('broken')],
        [9, goTo('embargo')],
      ],
      30,
      [['a', 0]],
    ],
    [
      'a slide that was removed makes way for the idle screen if no other can be shown',
      payloadOf(of20s('offer'), of20s('broken')),
      [[5, load(of20s('broken'))]],
      50,
      [
        ['offer', 0],
        ['idle', 5],
      ],
    ],
    [
      'a programme that is over makes way for the idle screen if nothing of the next one can be shown',
      dayAndLunch(ofDay, [of20s('broken')]),
      [],
      100,
      [
        ['d1', 0],
        ['d2', 20],
        ['d1', 40],
        ['idle', 59.7],
      ],
    ],
    [
      'the first slot of a programme that can not be shown is that of the slide before it',
      dayAndLunch(ofDay, [of20s('l1'), of20s('l2'), of20s('broken')], true, 40),
      [],
      90,
      [
        ['d1', 0],
        ['d2', 20],
        ['l2', expect.closeTo(40, 0)],
        ['l1', 60],
        ['l2', 80],
      ],
    ],
    [
      'what leaves a round in step stays until its successor is ready',
      dayAndLunch(ofDay, [of20s('broken'), of20s('good')], false),
      [],
      70,
      [
        ['d1', 0],
        ['d2', 20],
        ['d1', 40],
        ['good', expect.closeTo(60, 0)],
      ],
    ],
    [
      'what is paused ends with its schedule, to the moment',
      payloadOf(of20s('x', until(65)), of20s('y')),
      [[41, halt(true)]],
      150,
      [
        ['x', 0],
        ['y', 20],
        ['x', 40],
        ['y', 65],
      ],
    ],
    [
      'what is paused ends with its programme, in its frame, and what follows is paused too',
      dayAndLunch(ofDay, ofLunch),
      [[41, halt(true)]],
      150,
      [
        ['d1', 0],
        ['d2', 20],
        ['d1', 40],
        ['l2', 60],
      ],
    ],
    [
      'what is paused while nothing can be shown begins with the first slide that can',
      payloadOf(of20s('broken'), of20s('x', from(100))),
      [[30, halt(true)]],
      150,
      [['x', expect.closeTo(100, 0)]],
    ],
    [
      'steps while paused are steps within what is due',
      dayAndLunch(ofDay, [...ofLunch, of20s('l3')]),
      [
        [41, halt(true)],
        [50, step(1)],
        [70, step(1)],
        [100, step(1)],
        [140, halt(false)],
      ],
      150,
      [
        ['d1', 0],
        ['d2', 20],
        ['d1', 40],
        ['d2', 50],
        ['l1', 60],
        ['l2', 70],
        ['l3', 100],
        ['l2', 140],
      ],
    ],
  ])('%s', async (_, payload, acts, seconds, expected) => {
    const scene = openScene([], { isInStep: true });
    // The idle screen before the first playlist.
    scene.shown.splice(0);
    scene.times.splice(0);
    scene.player.load(payload, true);
    let elapsed = 0;
    for (const [moment, act] of acts) {
      await wait(moment - elapsed);
      elapsed = moment;
      act(scene);
    }
    await wait(seconds - elapsed);
    expect(timesOf(scene)).toEqual(expected);
  });

  it.each([
    ['the end of the day', payloadOf(...ofDay), 43_160],
    ['the next boundary', dayAndLunch(ofDay, ofLunch), 0],
  ])('a page that was loaded again after a step is in step with the others from %s on', async (_, payload, from) => {
    vi.setSystemTime(NOON + from * 1000);
    const open = () => {
      const scene = openScene([], { isInStep: true });
      scene.player.load(payload, true);
      return scene;
    };
    const stepped = open();
    await wait(5);
    stepped.player.step(1);
    await wait(2);
    const loaded = open();
    await wait(1);
    expect([stepped.shown.at(-1), loaded.shown.at(-1)]).toEqual(['d2', 'd1']);
    await wait(52);
    for (const { shown, times } of [stepped, loaded]) {
      shown.splice(0);
      times.splice(0);
    }
    await wait(90);
    expect(stepped.shown.length).toBeGreaterThan(3);
    expect(timesOf(stepped).slice(-3)).toEqual(timesOf(loaded).slice(-3));
  });

  it('a slide that begins within its slot is made ready at the position that it comes on with', async () => {
    const scene = openScene([], { isInStep: true });
    scene.player.load(dayAndLunch(ofDay, ofLunch, true, 50), true);
    const position = () => scene.paces.get('l1')?.position(performance.now());
    await wait(40);
    expect(position()).toBeCloseTo(10_000, 0);
    await wait(11);
    expect(scene.shown.at(-1)).toBe('l1');
    expect(position()).toBeCloseTo(11_000, 0);
  });

  it('how late a slide comes that begins within its slot is measured from the boundary', async () => {
    const scene = openScene([of20s('a')], { isInStep: true });
    await wait(62);
    scene.player.load(dayAndLunch([of20s('a')], [of20s('slow')], true, 70), true);
    await wait(3);
    expect(scene.shown).toEqual(['a']);
    scene.player.load(dayAndLunch([of20s('a')], [of20s('slow')], true, 66), true);
    await wait(5);
    expect(scene.shown).toEqual(['a', 'slow']);
    expect(scene.skews.at(-1)).toBeLessThan(2_000);
  });
});
