import fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  climb,
  createLadder,
  gpuLost,
  type Happening,
  type Ladder,
  limits,
  memoryBudget,
  type Step,
} from '../../main/recovery-policy.ts';
import type { Beat } from '../../main/service-host.ts';

const budget = { soft: 1000, hard: 2000 };
const still: Beat = { frames: 10, ready: true, hidden: false, slide: 'a', video: null };
const film = (time: number, frames: number): Beat => ({ ...still, video: { time, frames } });
const beat = (changed: Partial<Beat> = {}): Happening => ({ type: 'beat', beat: { ...still, ...changed } });
const lost: Happening = { type: 'lost', reason: 'crashed' };
const opened: Happening = { type: 'opened' };

type Story = [seconds: number, happening: Happening][];

/** What is done in the course of a story, looked at once a second; pages open as they are asked for. */
const tell = (story: Story, untilSeconds = 0): [seconds: number, to: Step['to']][] => {
  let ladder: Ladder = createLadder(0);
  const steps: [number, Step['to']][] = [];
  const happen = (seconds: number, happening: Happening): void => {
    const [next, step] = climb(ladder, happening, seconds * 1000, budget);
    ladder = next;
    if (step === null) return;
    steps.push([seconds, step.to]);
    if (step.to === 'recreate' || step.to === 'reload') happen(seconds, opened);
  };
  const end = Math.max(untilSeconds, ...story.map(([seconds]) => seconds));
  for (let second = 0; second <= end; second++) {
    for (const [, happening] of story.filter(([at]) => at === second)) happen(second, happening);
    happen(second, { type: 'look' });
  }
  return steps;
};

/** The same happening every three seconds. */
const steadily = (from: number, to: number, make: (second: number) => Happening): Story =>
  Array.from({ length: Math.floor((to - from) / 3) + 1 }, (_, index) => [from + index * 3, make(from + index * 3)]);

describe('the ladder', () => {
  it.each<[string, Story, number, [number, string][]]>([
    ['nothing, for a page that paints', [[0, opened], ...steadily(1, 120, () => beat())], 120, []],
    [
      'a new page where one crashed',
      [[0, opened], [1, beat()], [2, lost], ...steadily(3, 30, () => beat())],
      30,
      [[2, 'recreate']],
    ],
    ['a new page where one never came up', [[0, opened]], 40, [[31, 'recreate']]],
    [
      'a new page where one fell silent: three beats are missing',
      [
        [0, opened],
        [3, beat()],
      ],
      20,
      [[16, 'recreate']],
    ],
    [
      'a new page where no frame was painted for 20 s',
      [[0, opened], [1, beat()], ...steadily(3, 40, () => beat({ frames: 0 }))],
      24,
      [[22, 'recreate']],
    ],
    [
      'nothing, where the page is hidden',
      [[0, opened], ...steadily(1, 60, () => beat({ frames: 0, hidden: true }))],
      60,
      [],
    ],
    ['nothing, where a film runs', [[0, opened], ...steadily(1, 60, (second) => beat(film(second, 10)))], 60, []],
    [
      'a new page where a film stands still',
      [[0, opened], ...steadily(1, 25, () => beat(film(7, 0)))],
      25,
      [[22, 'recreate']],
    ],
    [
      'a new page where a film runs unseen',
      [[0, opened], ...steadily(1, 25, (second) => beat(film(second, 0)))],
      25,
      [[22, 'recreate']],
    ],
    [
      'nothing, where each film is another',
      [[0, opened], ...steadily(1, 60, (second) => beat({ ...film(0, 0), slide: `${second}` }))],
      60,
      [],
    ],
    [
      'the local page at the third fault in a minute, and back after 10 s',
      [
        [0, opened],
        [1, beat()],
        [2, lost],
        [20, beat()],
        [25, lost],
        [26, beat()],
        [27, lost],
        ...steadily(38, 50, () => beat()),
      ],
      50,
      [
        [2, 'recreate'],
        [25, 'recreate'],
        [27, 'fallback'],
        [37, 'recreate'],
      ],
    ],
    [
      'a new page each time, where faults are more than a minute apart',
      [
        [0, opened],
        ...[0, 70, 140, 210].flatMap(
          (from): Story => [
            ...steadily(from + 1, from + 58, () => beat()),
            [from + 60, lost],
            ...steadily(from + 61, from + 70, () => beat()),
          ],
        ),
      ],
      279,
      [
        [60, 'recreate'],
        [130, 'recreate'],
        [200, 'recreate'],
        [270, 'recreate'],
      ],
    ],
  ])('does %s', (_, story, until, steps) => {
    expect(tell(story, until)).toEqual(steps);
  });

  it('waits longer on each local page, and starts the app anew at the fifth in an hour', () => {
    let ladder = createLadder(0);
    const waits: number[] = [];
    let now = 0;
    for (;;) {
      const [failed, step] = climb(ladder, lost, now, budget);
      ladder = failed;
      if (step?.to === 'relaunch') break;
      if (step?.to === 'fallback') {
        waits.push(step.ms / 1000);
        now += step.ms;
        ladder = { ...ladder, lookedAt: now - 1000 };
        const [back, again] = climb(ladder, { type: 'look' }, now, budget);
        expect(again?.to).toBe('recreate');
        ladder = back;
      } else now += 1000;
    }
    expect(waits).toEqual([10, 30, 90, 270]);
  });

  it('forgets local pages after an hour', () => {
    const ladder = { ...createLadder(0), fallbacks: [0, 0, 0, 0], failures: [3_600_000, 3_600_000] };
    expect(climb(ladder, lost, 3_600_001, budget)[1]).toMatchObject({ to: 'fallback', ms: 10_000 });
  });

  it('takes a machine that slept for neither silence nor a frozen picture', () => {
    const [awake] = climb(createLadder(0), beat(), 1000, budget);
    const slept = climb(awake, { type: 'look' }, 3_600_000, budget);
    expect(slept[1]).toBeNull();
    expect(climb(slept[0], { type: 'look' }, 3_601_000, budget)[1]).toBeNull();
  });

  it('reloads a heavy page between two slides, or after five minutes, and a very heavy one at once', () => {
    const [first] = climb(createLadder(0), beat(), 0, budget);
    const [heavy, none] = climb(first, { type: 'memory', bytes: 1500 }, 1000, budget);
    expect(none).toBeNull();
    expect(climb(heavy, beat(), 2000, budget)[1]).toBeNull();
    expect(climb(heavy, beat({ slide: 'b' }), 2000, budget)[1]).toMatchObject({ to: 'reload' });
    const beating = { ...heavy, beatAt: 301_500, movedAt: 301_500, lookedAt: 301_000 };
    expect(climb(beating, { type: 'look' }, 302_000, budget)[1]).toMatchObject({ to: 'reload' });
    const [light] = climb(heavy, { type: 'memory', bytes: 500 }, 3000, budget);
    expect(climb(light, beat({ slide: 'b' }), 4000, budget)[1]).toBeNull();
    expect(climb(first, { type: 'memory', bytes: 2500 }, 1000, budget)[1]).toMatchObject({ to: 'recreate' });
  });

  it('never recovers a page that beats and paints, whatever else there is', () => {
    fc.assert(
      fc.property(fc.array(fc.integer({ min: 0, max: limits.beatMs }), { maxLength: 60 }), (gaps) => {
        let [ladder] = climb(createLadder(0), opened, 0, budget);
        let now = 0;
        for (const gap of gaps) {
          now += gap;
          for (const happening of [{ type: 'look' } as const, beat()]) {
            const [next, step] = climb(ladder, happening, now, budget);
            expect(step).toBeNull();
            ladder = next;
          }
        }
      }),
    );
  });

  it('does not climb on while the local page is on, whatever happens to it', () => {
    let ladder: Ladder = { ...createLadder(0), fallbackUntil: 10_000 };
    for (const happening of [lost, beat({ frames: 0 }), { type: 'memory', bytes: 9999 } as const]) {
      const [next, step] = climb(ladder, happening, 5000, budget);
      expect(step).toBeNull();
      ladder = next;
    }
  });
});

it('the GPU is given up when it was lost three times in ten minutes', () => {
  const minute = 60_000;
  const unfit = (...minutes: number[]): boolean[] => {
    let losses: readonly number[] = [];
    return minutes.map((at) => {
      const judged = gpuLost(losses, at * minute);
      losses = judged.losses;
      return judged.isUnfit;
    });
  };
  expect(unfit(0, 3, 9)).toEqual([false, false, true]);
  expect(unfit(0, 3, 11)).toEqual([false, false, false]);
  expect(unfit(0, 6, 11, 12)).toEqual([false, false, false, true]);
});

it('a page may take a quarter of a small machine, a gibibyte of a large one', () => {
  expect(memoryBudget(2 * 1024 ** 3).soft).toBe(512 * 1024 ** 2);
  expect(memoryBudget(64 * 1024 ** 3).soft).toBe(1024 ** 3);
  const { soft, hard } = memoryBudget(8 * 1024 ** 3);
  expect(hard).toBeGreaterThan(soft);
});
